package turn

import "strings"

// Surroundings are what a model is told of where it talks. All of it is text that people chose, and untrusted.
type Surroundings struct {
	// Guild and Channel are names; both are empty in a direct message.
	Guild   string
	Channel string
	// Parent is the name of the channel a thread belongs to; empty elsewhere.
	Parent string
	Topic  string
}

// topicRunes bounds a channel's topic, placeRunes the names of channels and guilds.
const (
	topicRunes = 300
	placeRunes = 100
)

// text is one line about the place. It is the same for every turn there, as long as nobody renames anything.
func (s Surroundings) text(private bool) string {
	if private {
		return remark("this is a direct message: nobody else reads it")
	}
	if s.Channel == "" && s.Guild == "" {
		return ""
	}
	name := func(text string, limit int) string {
		return "\"" + strings.ReplaceAll(oneLine(text, limit), `"`, "'") + "\""
	}
	text := "this is the channel " + name(s.Channel, placeRunes)
	if s.Parent != "" {
		text = "this is the thread " + name(s.Channel, placeRunes) + " in the channel " + name(s.Parent, placeRunes)
	}
	if s.Guild != "" {
		text += " on the server " + name(s.Guild, placeRunes)
	}
	if s.Topic != "" {
		text += ", about " + name(s.Topic, topicRunes)
	}
	return remark(text)
}
