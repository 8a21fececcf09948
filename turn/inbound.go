// Package turn decides which messages start a turn, runs one turn at a time in each channel and says how each ended. It
// declares what it needs from the place it talks in (Edge, Surface) and every type those ports carry, so that the edge
// needs nothing below this package. It knows neither Discord's library nor SQL.
package turn

import "time"

// ID names a turn. Stops, kills and follow-ups are addressed to it, so a late one can never reach the next turn.
type ID string

// InboundKind says what started an inbound.
type InboundKind string

// The inbound kinds.
const (
	KindMessage  InboundKind = "message"
	KindCommand  InboundKind = "command"
	KindReminder InboundKind = "reminder"
)

// Inbound is one thing that happened in a channel and may start a turn. The edge fills it in from a gateway event. It
// is stored while it waits, so everything that changes what will be said is part of it.
type Inbound struct {
	Kind      InboundKind `json:"kind"`
	MessageID string      `json:"message_id"`
	ChannelID string      `json:"channel_id"`
	// ParentID is the channel a thread belongs to; empty elsewhere.
	ParentID string `json:"parent_id,omitempty"`
	// GuildID is empty in direct messages.
	GuildID string `json:"guild_id,omitempty"`
	// Private: a direct message.
	Private bool   `json:"private,omitempty"`
	Author  Person `json:"author"`
	// Content is the text with mentions still in Discord's form (<@id>), free of NUL.
	Content string `json:"content"`
	// MentionsBot: the bot's account or its managed role is mentioned by name. MentionsEveryone is @everyone or @here,
	// which addresses nobody in particular.
	MentionsBot      bool `json:"mentions_bot,omitempty"`
	MentionsEveryone bool `json:"mentions_everyone,omitempty"`
	// Names maps the ids mentioned in Content to display names.
	Names map[string]string `json:"names,omitempty"`
	// ReplyTo is the message this one replies to, nil when it is no reply.
	ReplyTo *Quote `json:"reply_to,omitempty"`
	// Forwarded are the snapshots of forwarded messages.
	Forwarded   []Quote      `json:"forwarded,omitempty"`
	Attachments []Attachment `json:"attachments,omitempty"`
	// Stickers and Poll describe what Discord carries outside the text.
	Stickers []string `json:"stickers,omitempty"`
	Poll     string   `json:"poll,omitempty"`
	Locale   string   `json:"locale,omitempty"`
	// Quiet inbounds show no errors, however they address the bot.
	Quiet bool `json:"quiet,omitempty"`
	// CanReply is false when the bot may not send in the channel.
	CanReply   bool      `json:"can_reply"`
	SentAt     time.Time `json:"sent_at"`
	ReceivedAt time.Time `json:"received_at"`
}

// Person is who wrote something.
type Person struct {
	ID string `json:"id"`
	// Name is the display name in this guild: untrusted text.
	Name string `json:"name"`
	// Self is this bot, Bot another application, Webhook a webhook.
	Self    bool `json:"self,omitempty"`
	Bot     bool `json:"bot,omitempty"`
	Webhook bool `json:"webhook,omitempty"`
	// ManageMessages and ManageGuild are the author's rights where it was written, as far as the edge knows them; false
	// when it does not.
	ManageMessages bool `json:"manage_messages,omitempty"`
	ManageGuild    bool `json:"manage_guild,omitempty"`
}

// Quote is a message that another one refers to.
type Quote struct {
	MessageID string `json:"message_id,omitempty"`
	Author    Person `json:"author"`
	Content   string `json:"content"`
	// Attachments are the files beside it.
	Attachments []Attachment `json:"attachments,omitempty"`
}

// Attachment is a file beside a message. Its name and type are untrusted.
type Attachment struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	ContentType string `json:"content_type,omitempty"`
	Size        int    `json:"size"`
	URL         string `json:"url"`
}

// Message is one entry of a channel's dialogue as context building sees it.
type Message struct {
	ID      string
	Author  Person
	Content string
	// Extra describes what is not text: attachments, stickers, forwards, one line.
	Extra string
	// ReplyToID is the id of the message it replies to, empty otherwise. Quote is that message on one line, as far as it
	// is known; see quote.
	ReplyToID string
	Quote     string
	// quoted is who wrote that message, as far as it is known.
	quoted string
	SentAt time.Time
	// ref is the number under which the model may name the message.
	ref int
}

// Actor is a person who asks for something that needs rights, as Discord reported those rights with the request.
type Actor struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
	// ManageMessages and ManageGuild are the actor's rights where the request was made (administrators have both).
	ManageMessages bool `json:"manage_messages,omitempty"`
	ManageGuild    bool `json:"manage_guild,omitempty"`
}
