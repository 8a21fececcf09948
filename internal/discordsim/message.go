package discordsim

import (
	"encoding/json"
	"slices"
	"time"
)

// Message is one message with all that happened to it.
type Message struct {
	ID, Channel, Author ID
	// Guild is empty in a DM.
	Guild      ID
	AuthorName string
	Bot        bool
	Content    string
	Created    time.Time
	// Edited is zero while the message is as it was sent, and Earlier are the contents it had before, oldest first.
	Edited  time.Time
	Earlier []Revision
	// Deleted is zero while the message is there.
	Deleted time.Time
	// ReplyTo is the message it answers with a reply marker.
	ReplyTo     ID
	Pings       Pings
	Attachments []Attachment
	Reactions   []Reaction
	Stickers    []ID
	// Embeds and Components are Discord's JSON lists, nil for none.
	Embeds, Components json.RawMessage
	Flags              int
	// Interaction is the command, click or modal that it answers.
	Interaction ID
	// VisibleTo is the only person who sees an ephemeral message.
	VisibleTo ID
	Nonce     string
}

// Revision is what a message said until it was edited.
type Revision struct {
	Until   time.Time
	Content string
}

// Pings says whom a message notified when it was sent.
type Pings struct {
	Everyone, Here bool
	Users, Roles   []ID
}

// None reports that nobody was notified.
func (p Pings) None() bool {
	return !p.Everyone && !p.Here && len(p.Users) == 0 && len(p.Roles) == 0
}

// Attachment is a file on a message.
type Attachment struct {
	ID          ID
	Name        string
	ContentType string
	Size        int
	// Width and Height are an image's, else 0.
	Width, Height int
	Description   string
	// URL is where the simulator serves it.
	URL string
}

// Reaction is one emoji under a message and who put it there, in order.
type Reaction struct {
	// Emoji is the character, or name:id for a custom one.
	Emoji string
	Users []ID
}

// Message flags that the simulator acts on.
const (
	FlagSuppressEmbeds        = 1 << 2
	FlagEphemeral             = 1 << 6
	FlagLoading               = 1 << 7
	FlagSuppressNotifications = 1 << 12
	FlagComponentsV2          = 1 << 15
)

const (
	typeDefault = 0
	typeReply   = 19
	typeCommand = 20
)

// message is a Message with what only rendering needs.
type message struct {
	Message
	kind     int
	tts      bool
	mentions mentions
	// refChannel says where ReplyTo is.
	refChannel ID
	thread     ID
}

func (m *message) copy() Message {
	c := m.Message
	c.Earlier = slices.Clone(c.Earlier)
	c.Pings.Users, c.Pings.Roles = slices.Clone(c.Pings.Users), slices.Clone(c.Pings.Roles)
	c.Attachments = slices.Clone(c.Attachments)
	c.Stickers = slices.Clone(c.Stickers)
	c.Reactions = slices.Clone(c.Reactions)
	for i := range c.Reactions {
		c.Reactions[i].Users = slices.Clone(c.Reactions[i].Users)
	}
	c.Embeds, c.Components = slices.Clone(c.Embeds), slices.Clone(c.Components)
	return c
}

// draft is a checked message about to be posted.
type draft struct {
	channel            *channel
	author             ID
	content            string
	embeds, components json.RawMessage
	files              []File
	stickers           []ID
	flags              int
	tts                bool
	replyTo            *message
	allowed            allowedMentions
	nonce              string
	interaction        *interaction
	visibleTo          ID
}

// post puts a message into its channel and tells everybody.
func (w *World) post(d draft) *message {
	u := w.users[d.author]
	m := &message{
		Message: Message{
			ID: w.newID(), Channel: d.channel.id, Guild: d.channel.guild, Author: d.author, AuthorName: u.name, Bot: u.bot,
			Content: d.content, Created: w.now(), Embeds: d.embeds, Components: d.components, Stickers: d.stickers,
			Flags: d.flags, VisibleTo: d.visibleTo, Nonce: d.nonce,
		},
		tts: d.tts,
	}
	if d.replyTo != nil {
		m.kind, m.ReplyTo, m.refChannel = typeReply, d.replyTo.ID, d.replyTo.Channel
	}
	if d.interaction != nil {
		m.Interaction = d.interaction.id
		if d.interaction.kind == InteractionCommand {
			m.kind = typeCommand
		}
	}
	for _, f := range d.files {
		m.Attachments = append(m.Attachments, w.store(d.channel.id, f))
	}
	m.mentions = w.parseMentions(d.channel, d.author, d.content, d.replyTo, d.allowed)
	if d.flags&(FlagSuppressNotifications|FlagLoading) == 0 {
		m.Pings = m.mentions.pings()
	}
	w.messages[m.ID] = m
	d.channel.messages = append(d.channel.messages, m.ID)
	w.trimHistory(d.channel)
	if m.VisibleTo == "" {
		d.channel.last = m.ID
	}
	w.record(MessageCreated{m.copy()})
	w.dispatchMessage("MESSAGE_CREATE", m)
	return m
}

// trimHistory forgets a channel's oldest messages, half of what is kept at a time so that it costs little per message.
func (w *World) trimHistory(c *channel) {
	if len(c.messages) < 2*w.history {
		return
	}
	for _, id := range c.messages[:w.history] {
		for _, a := range w.messages[id].Attachments {
			delete(w.files, a.ID)
		}
		delete(w.messages, id)
	}
	c.messages = slices.Clone(c.messages[w.history:])
}

// change is an edit; nil fields stay as they are.
type change struct {
	content            *string
	embeds, components *json.RawMessage
	flags              *int
	allowed            allowedMentions
	keep               *[]ID // attachments
	files              []File
}

// edit changes a message and tells everybody. Pings are never sent again.
func (w *World) edit(m *message, ch change) {
	now := w.now()
	if ch.content != nil && *ch.content != m.Content {
		m.Earlier = append(m.Earlier, Revision{Until: now, Content: m.Content})
		m.Content = *ch.content
		m.mentions = w.parseMentions(w.channels[m.Channel], m.Author, m.Content, w.messages[m.ReplyTo], ch.allowed)
	}
	if ch.embeds != nil {
		m.Embeds = *ch.embeds
	}
	if ch.components != nil {
		m.Components = *ch.components
	}
	if ch.flags != nil {
		m.Flags = *ch.flags
	}
	if ch.keep != nil {
		m.Attachments = slices.DeleteFunc(m.Attachments, func(a Attachment) bool { return !slices.Contains(*ch.keep, a.ID) })
	}
	for _, f := range ch.files {
		m.Attachments = append(m.Attachments, w.store(m.Channel, f))
	}
	m.Edited = now
	w.record(MessageEdited{m.copy()})
	w.dispatchMessage("MESSAGE_UPDATE", m)
}

// remove deletes a message and tells everybody.
func (w *World) remove(m *message, by ID) {
	m.Deleted = w.now()
	w.record(MessageDeleted{Message: m.ID, Channel: m.Channel, By: by})
	if m.VisibleTo != "" {
		return
	}
	c := w.channels[m.Channel]
	w.dispatch(dispatch{
		name: "MESSAGE_DELETE", intents: messageIntents(c), channel: c,
		body: wireMessageDelete{ID: m.ID, ChannelID: c.id, GuildID: c.guild},
	})
}

// dispatchMessage sends a message event, with its content withheld from sessions that may not see it. Ephemeral messages
// are nobody's event.
func (w *World) dispatchMessage(name string, m *message) {
	c := w.channels[m.Channel]
	if m.VisibleTo != "" || c == nil {
		return
	}
	w.dispatch(dispatch{
		name: name, intents: messageIntents(c), channel: c, body: w.wireMessageEvent(m, true),
		// Without the intent even the message replied to is withheld, so both forms are needed for any guild message.
		redacted: func() any { return w.wireMessageEvent(m, false) },
	})
}

// withholdable reports whether the bot needs the message content intent to read m.
func (w *World) withholdable(m *message) bool {
	return m.Guild != "" && m.Author != w.app.bot && !slices.Contains(m.mentions.users, w.app.bot)
}

func messageIntents(c *channel) Intents {
	if c.kind == ChannelDM {
		return IntentDirectMessages
	}
	return IntentGuildMessages
}

// react adds (or takes away) a reaction and reports whether that changed anything.
func (w *World) react(m *message, who ID, emoji string, add bool) bool {
	at := slices.IndexFunc(m.Reactions, func(r Reaction) bool { return r.Emoji == emoji })
	has := at >= 0 && slices.Contains(m.Reactions[at].Users, who)
	if add == has {
		return false
	}
	name := "MESSAGE_REACTION_ADD"
	switch {
	case add && at < 0:
		m.Reactions = append(m.Reactions, Reaction{Emoji: emoji, Users: []ID{who}})
	case add:
		m.Reactions[at].Users = append(m.Reactions[at].Users, who)
	default:
		name = "MESSAGE_REACTION_REMOVE"
		m.Reactions[at].Users = slices.DeleteFunc(m.Reactions[at].Users, func(u ID) bool { return u == who })
		if len(m.Reactions[at].Users) == 0 {
			m.Reactions = slices.Delete(m.Reactions, at, at+1)
		}
	}
	if add {
		w.record(ReactionAdded{Message: m.ID, Channel: m.Channel, User: who, Emoji: emoji})
	} else {
		w.record(ReactionRemoved{Message: m.ID, Channel: m.Channel, User: who, Emoji: emoji})
	}
	c := w.channels[m.Channel]
	intents := IntentGuildMessageReactions
	if c.kind == ChannelDM {
		intents = IntentDirectMessageReactions
	}
	w.dispatch(dispatch{name: name, intents: intents, channel: c, body: w.wireReaction(m, who, emoji, add)})
	return true
}

// typing tells that somebody types.
func (w *World) typing(c *channel, who ID) {
	w.record(TypingStarted{Channel: c.id, User: who})
	intents := IntentGuildMessageTyping
	if c.kind == ChannelDM {
		intents = IntentDirectMessageTyping
	}
	body := wireTyping{ChannelID: c.id, GuildID: c.guild, UserID: who, Timestamp: w.now().Unix()}
	if g := w.guildOf(c); g != nil && g.members[who] != nil {
		body.Member = new(w.wireMemberWithUser(g, who))
	}
	w.dispatch(dispatch{name: "TYPING_START", intents: intents, channel: c, body: body})
}
