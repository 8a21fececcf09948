package playground

import (
	"encoding/json"
	"net/url"
	"time"

	"github.com/parleybot/parley/internal/discordsim"
)

// message is a message as pages get it.
type message struct {
	ID      discordsim.ID `json:"id"`
	Channel discordsim.ID `json:"channel"`
	Author  discordsim.ID `json:"author"`
	Content string        `json:"content"`
	Created time.Time     `json:"created"`
	Edited  bool          `json:"edited,omitempty"`
	ReplyTo *reference    `json:"reply_to,omitempty"`
	// Pings are whom it notified, and PingRoles whose members; PingAll says that it was everybody.
	Pings       []discordsim.ID `json:"pings,omitempty"`
	PingRoles   []discordsim.ID `json:"ping_roles,omitempty"`
	PingAll     bool            `json:"ping_all,omitempty"`
	Stickers    []string        `json:"stickers,omitempty"`
	Attachments []attachment    `json:"attachments,omitempty"`
	Reactions   []reaction      `json:"reactions,omitempty"`
	Embeds      json.RawMessage `json:"embeds,omitempty"`
	Components  json.RawMessage `json:"components,omitempty"`
	// Ephemeral messages are for one person; Loading ones are still being thought about.
	Ephemeral bool `json:"ephemeral,omitempty"`
	Loading   bool `json:"loading,omitempty"`
	// Command is the slash command that it answers.
	Command *usedCommand `json:"command,omitempty"`
}

// reference is the message that another one replies to, as far as the reply shows it.
type reference struct {
	ID      discordsim.ID `json:"id"`
	Author  discordsim.ID `json:"author,omitempty"`
	Content string        `json:"content,omitempty"`
	Deleted bool          `json:"deleted,omitempty"`
}

type attachment struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Size   int    `json:"size"`
	Width  int    `json:"width,omitempty"`
	Height int    `json:"height,omitempty"`
	URL    string `json:"url"`
}

type reaction struct {
	Emoji string          `json:"emoji"`
	Users []discordsim.ID `json:"users"`
}

type usedCommand struct {
	Name string        `json:"name"`
	User discordsim.ID `json:"user"`
}

// excerptKept is how much of a message a reply to it shows.
const excerptKept = 200

func messageOf(v discordsim.View, m discordsim.Message) message {
	out := message{
		ID: m.ID, Channel: m.Channel, Author: m.Author, Content: m.Content, Created: m.Created, Edited: !m.Edited.IsZero(),
		Embeds: m.Embeds, Components: m.Components, Ephemeral: m.VisibleTo != "", Loading: m.Flags&discordsim.FlagLoading != 0,
		Pings: m.Pings.Users, PingRoles: m.Pings.Roles, PingAll: m.Pings.Everyone || m.Pings.Here,
	}
	if m.Flags&discordsim.FlagSuppressEmbeds != 0 {
		out.Embeds = nil
	}
	for _, id := range m.Stickers {
		sticker, ok := v.Sticker(id)
		if !ok {
			sticker.Name = "sticker"
		}
		out.Stickers = append(out.Stickers, sticker.Name)
	}
	if m.ReplyTo != "" {
		out.ReplyTo = &reference{ID: m.ReplyTo, Deleted: true}
		if to, ok := v.Message(m.ReplyTo); ok && to.Deleted.IsZero() {
			text := []rune(to.Content)
			*out.ReplyTo = reference{ID: to.ID, Author: to.Author, Content: string(text[:min(len(text), excerptKept)])}
		}
	}
	for _, a := range m.Attachments {
		out.Attachments = append(out.Attachments, attachment{
			Name: a.Name, Type: a.ContentType, Size: a.Size, Width: a.Width, Height: a.Height,
			URL: "/files/" + string(m.ID) + "/" + string(a.ID) + "/" + url.PathEscape(a.Name),
		})
	}
	for _, r := range m.Reactions {
		out.Reactions = append(out.Reactions, reaction{Emoji: r.Emoji, Users: r.Users})
	}
	if i, ok := v.Interaction(m.Interaction); ok && i.Kind == discordsim.InteractionCommand {
		out.Command = &usedCommand{Name: i.Name, User: i.User}
	}
	return out
}

// noteOf is what pages are told of a line of the world's journal. ok is false for what they don't show.
func noteOf(v discordsim.View, e discordsim.Entry) (n note, ok bool) {
	n.world = e.Seq
	switch e := e.Event.(type) {
	case discordsim.MessageCreated:
		return n.message(v, e.Message), true
	case discordsim.MessageEdited:
		return n.message(v, e.Message), true
	case discordsim.ReactionAdded:
		return n.current(v, e.Message)
	case discordsim.ReactionRemoved:
		return n.current(v, e.Message)
	case discordsim.MessageDeleted:
		return n.with(v, noteDelete, e.Channel, map[string]any{"id": e.Message, "channel": e.Channel}), true
	case discordsim.TypingStarted:
		return n.with(v, noteTyping, e.Channel, map[string]any{"channel": e.Channel, "user": e.User}), true
	case discordsim.CommandsRegistered:
		return n.with(v, noteCommands, "", struct{}{}), true
	case discordsim.GatewayIdentified, discordsim.GatewayResumed, discordsim.GatewayClosed:
		return n.with(v, noteLink, "", map[string]any{"connected": v.Connected()}), true
	case discordsim.ChannelCreated, discordsim.ChannelUpdated, discordsim.ChannelDeleted:
		return n.with(v, noteChannels, "", struct{}{}), true
	}
	return note{}, false
}

// current tells of a message as it is now, when all that is known is that it changed.
func (n note) current(v discordsim.View, id discordsim.ID) (note, bool) {
	m, ok := v.Message(id)
	if !ok || !m.Deleted.IsZero() {
		return note{}, false
	}
	return n.message(v, m), true
}

func (n note) message(v discordsim.View, m discordsim.Message) note {
	n = n.with(v, noteMessage, m.Channel, messageOf(v, m))
	if m.VisibleTo != "" {
		n.only = m.VisibleTo
	}
	return n
}

// with fills a note in; what happens in a DM is for its person only.
func (n note) with(v discordsim.View, kind noteKind, channel discordsim.ID, body any) note {
	n.kind, n.data = kind, encode(body)
	if c, ok := v.Channel(channel); ok {
		n.only = c.Recipient
	}
	return n
}

// encode makes JSON of this package's own values, which cannot fail; what the simulator holds as raw JSON was checked
// when it came.
func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}
