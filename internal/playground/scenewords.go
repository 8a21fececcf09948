package playground

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/parleybot/parley/internal/discordsim"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

// settings writes what held in the turn and is not so in an empty guild.
func (w *sceneWriter) settings(s script) {
	if s.plan == nil {
		return
	}
	for _, tool := range s.plan.Off {
		w.put("setting tool:" + tool + " off")
	}
	if !s.plan.Deliberate || s.calls() == 0 {
		return
	}
	w.put("setting deliberate_tool_mode on")
	triggers := map[string][]string{}
	for _, a := range s.plan.Allowed {
		if a.Source == viaWindow || a.Source == viaCustom || a.Source == viaFollowUp {
			triggers[a.Tool] = []string{"^"}
		}
	}
	if len(triggers) > 0 {
		w.put("# offered then by a window or a trigger of the server:")
		w.put("setting deliberate_tool_triggers " + quote(string(encode(triggers))))
	}
}

// put adds a line to the set, once.
func (w *sceneWriter) put(line string) {
	if !slices.Contains(w.set, line) {
		w.set = append(w.set, line)
	}
}

// person is somebody's name; the first time it makes them known to the scene.
func (w *sceneWriter) person(id discordsim.ID) string {
	for _, r := range w.p.town.people {
		if r.ID != id {
			continue
		}
		if !w.people[id] {
			w.people[id] = true
			line := "person " + r.Name
			if c, ok := w.general(); ok && w.v.Permissions(c, id).Has(discordsim.PermManageMessages) {
				line += " may manage messages"
			}
			w.put(line)
		}
		return r.Name
	}
	return w.p.town.people[0].Name
}

// general is the channel that every scene has.
func (w *sceneWriter) general() (discordsim.ID, bool) {
	for _, g := range w.v.Guilds() {
		for _, c := range g.Channels {
			if c.Name == "general" {
				return c.ID, true
			}
		}
	}
	return "", false
}

// placeOf is the clause for a channel, empty where the step before it was there too; the first time it makes the channel.
func (w *sceneWriter) placeOf(id, who discordsim.ID) string {
	place := "in DM"
	if c, ok := w.v.Channel(id); ok && c.Kind != discordsim.ChannelDM {
		name := "#" + slug.ReplaceAllString(c.Name, "-")
		place = "in " + name
		thread := c.Kind == discordsim.ThreadPublic || c.Kind == discordsim.ThreadPrivate
		switch {
		case w.places[id] || name == "#general":
		case thread:
			w.step("%s opens thread %s in #general", w.person(who), name)
		default:
			w.put("channel " + name)
		}
		w.places[id] = true
	}
	if place == w.place || w.place == "" && place == "in #general" {
		w.place = place
		return ""
	}
	w.place = place
	return " " + place
}

var (
	slug      = regexp.MustCompile(`[^\pL\pN_-]+`)
	bareWord  = regexp.MustCompile(`^[\w-]+$`)
	mentionOf = regexp.MustCompile(`<(@!?|#)(\d+)>`)
)

// names turns Discord's mentions into names.
func (w *sceneWriter) names(text string) string {
	return mentionOf.ReplaceAllStringFunc(text, func(found string) string {
		m := mentionOf.FindStringSubmatch(found)
		id := discordsim.ID(m[2])
		if m[1] == "#" {
			if c, ok := w.v.Channel(id); ok {
				return "#" + c.Name
			}
			return found
		}
		if id == w.bot {
			return "@Parley"
		}
		for _, r := range w.p.town.people {
			if r.ID == id {
				return "@" + w.person(id)
			}
		}
		return found
	})
}

func (w *sceneWriter) content(message string) string {
	m, _ := w.v.Message(discordsim.ID(message))
	return m.Content
}

// excerptRunes is how much of a text a step looks for.
const excerptRunes = 60

// excerpt is the beginning of a text's first line that says something.
func (*sceneWriter) excerpt(text string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "```") {
			continue
		}
		if runes := []rune(line); len(runes) > excerptRunes {
			line = strings.TrimSpace(string(runes[:excerptRunes]))
		}
		return line
	}
	return strings.TrimSpace(text)
}

// see writes that the text of a round is to be seen, when it was: in a message of its own after those before it. It
// reports whether it did.
func (w *sceneWriter) see(s script, text string) bool {
	want := w.excerpt(w.names(text))
	if want == "" || w.brief {
		return false
	}
	for _, m := range w.v.MessagesBy(discordsim.ID(s.channel), w.bot) {
		fresh := w.seen == "" || len(m.ID) > len(w.seen) || len(m.ID) == len(w.seen) && m.ID > w.seen
		if fresh && !m.Created.Before(s.started) && strings.Contains(w.names(m.Content), want) {
			w.seen = m.ID
			w.step("see containing %s%s", quote(want), w.patience())
			return true
		}
	}
	return false
}

// word writes a name as a word where it is one.
func word(name string) string {
	if bareWord.MatchString(name) {
		return name
	}
	return strconv.Quote(name)
}

// quote writes a text as scenes take it: raw where that reads better.
func quote(text string) string {
	if strings.Contains(text, `"`) && strconv.CanBackquote(text) {
		return "`" + text + "`"
	}
	return strconv.Quote(text)
}

// arguments are a call's arguments as a scene writes them. Of those that were cut nothing is kept, so others stand in.
func arguments(c *turn.CallInfo) string {
	if c.Reason == store.CallReasonTruncated {
		return "`{\"cut`"
	}
	var compact bytes.Buffer
	if strings.HasPrefix(strings.TrimSpace(c.Arguments), "{") && json.Compact(&compact, []byte(c.Arguments)) == nil {
		return compact.String()
	}
	return quote(c.Arguments)
}
