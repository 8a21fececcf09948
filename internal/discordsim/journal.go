package discordsim

import (
	"net/http"
	"time"
)

// Entry is one line of a world's journal.
type Entry struct {
	// Seq counts from 1 without gaps.
	Seq   int
	At    time.Time
	Event Event
}

// Event is what an [Entry] tells: one of the types below, and no other.
type Event interface{ event() }

// MessageCreated tells of a new message, as it was at that moment.
type MessageCreated struct{ Message Message }

// MessageEdited tells of a change, with the message as it is afterwards.
type MessageEdited struct{ Message Message }

// MessageDeleted tells of a message that is gone.
type MessageDeleted struct{ Message, Channel, By ID }

// TypingStarted tells that somebody types.
type TypingStarted struct{ Channel, User ID }

// ReactionAdded tells of a new reaction.
type ReactionAdded struct {
	Message, Channel, User ID
	Emoji                  string
}

// ReactionRemoved tells of a reaction taken back.
type ReactionRemoved struct {
	Message, Channel, User ID
	Emoji                  string
}

// ChannelCreated tells of a new channel or thread.
type ChannelCreated struct{ Channel ID }

// ChannelUpdated tells of a channel or thread whose name, topic, state or permissions changed.
type ChannelUpdated struct{ Channel ID }

// ChannelDeleted tells of a channel or thread that is gone.
type ChannelDeleted struct{ Channel ID }

// InteractionSent tells of a slash command, click, modal or autocomplete that went to the bot.
type InteractionSent struct{ Interaction InteractionState }

// InteractionAnswered tells of the bot's first answer to one.
type InteractionAnswered struct{ Interaction InteractionState }

// CommandsRegistered tells that the bot wrote its commands; Guild is empty for the global ones.
type CommandsRegistered struct {
	Guild ID
	Names []string
}

// RequestServed tells of one REST request and its answer.
type RequestServed struct{ Request Request }

// FaultMet tells that an injected fault has met a request, before its delay.
type FaultMet struct {
	Route string
	Kind  FaultKind
}

// GatewayOpened tells of a new WebSocket connection.
type GatewayOpened struct{ Conn int }

// GatewayIdentified tells of a new gateway session.
type GatewayIdentified struct {
	Conn    int
	Session string
	Intents Intents
	Shard   [2]int
}

// GatewayResumed tells of a session taken up again, and of how many events were sent again.
type GatewayResumed struct {
	Conn     int
	Session  string
	Replayed int
}

// GatewayRefused tells of an identify or resume that was not accepted: Code is the close code, 0 for op 9.
type GatewayRefused struct {
	Conn   int
	Code   int
	Reason string
}

// GatewayClosed tells of a connection's end. Code is the close code of the side that ended it, 1006 for none.
type GatewayClosed struct {
	Conn     int
	Session  string
	Code     int
	ByServer bool
}

// PresenceUpdated tells of the status the bot set for itself, as the raw payload.
type PresenceUpdated struct{ Payload string }

func (MessageCreated) event()      {}
func (MessageEdited) event()       {}
func (MessageDeleted) event()      {}
func (TypingStarted) event()       {}
func (ReactionAdded) event()       {}
func (ReactionRemoved) event()     {}
func (ChannelCreated) event()      {}
func (ChannelUpdated) event()      {}
func (ChannelDeleted) event()      {}
func (InteractionSent) event()     {}
func (InteractionAnswered) event() {}
func (CommandsRegistered) event()  {}
func (RequestServed) event()       {}
func (FaultMet) event()            {}
func (GatewayOpened) event()       {}
func (GatewayIdentified) event()   {}
func (GatewayResumed) event()      {}
func (GatewayRefused) event()      {}
func (GatewayClosed) event()       {}
func (PresenceUpdated) event()     {}

// Request is one REST request of the bot and what it was answered.
type Request struct {
	// Route is method and template, such as "POST /channels/{channel_id}/messages"; the template is empty when the
	// simulator has no such route.
	Route  string
	Method string
	// Path is what came after /api/vN, with its query.
	Path string
	// Header has no Authorization.
	Header http.Header
	// Body is the JSON sent, also of a multipart request.
	Body []byte
	// Files are the names of the files sent.
	Files []string
	// Status is 0 when the connection was cut instead of an answer.
	Status   int
	Response []byte
	// Fault says that an injected fault or the rate limiter made the answer (for a lost answer: hid it).
	Fault bool
	// Violation is what the Config's Validator had against the exchange, or that there is no such route; empty for nothing.
	Violation string
	Took      time.Duration
}

// journal keeps the newest entries.
type journal struct {
	limit   int
	entries []Entry
	seq     int
}

func (j *journal) add(at time.Time, e Event) {
	j.seq++
	// Cutting half at once keeps the cost of a full journal constant per entry.
	if len(j.entries) >= 2*j.limit {
		j.entries = append(j.entries[:0], j.entries[len(j.entries)-j.limit:]...)
	}
	j.entries = append(j.entries, Entry{Seq: j.seq, At: at, Event: e})
}

// after are the kept entries with a higher number. Callers copy before they unlock.
func (j *journal) after(seq int) []Entry {
	first := j.seq - len(j.entries)
	return j.entries[min(max(seq-first, 0), len(j.entries)):]
}
