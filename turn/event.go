package turn

import (
	"time"

	"github.com/parleybot/parley/store"
)

// EventKind says what an event tells.
type EventKind string

// The event kinds. A turn's events come in order; EventDone is the last and comes once, after the channel is free.
const (
	EventAdmission    EventKind = "admission"
	EventStarted      EventKind = "started"
	EventDelta        EventKind = "delta"
	EventThinking     EventKind = "thinking"
	EventUsage        EventKind = "usage"
	EventToolCall     EventKind = "tool_call"
	EventToolResult   EventKind = "tool_result"
	EventContextAdded EventKind = "context_added"
	EventHidden       EventKind = "hidden_notice"
	EventDone         EventKind = "done"
)

// DoneReason says in the chat driver's words how a turn ended.
type DoneReason string

// The done reasons. A denied turn ends with DoneEndTurn.
const (
	DoneEndTurn       DoneReason = "end_turn"
	DoneStopped       DoneReason = "stopped"
	DoneError         DoneReason = "error"
	DoneMaxIterations DoneReason = "max_iterations"
)

// Event is one thing that happened to an inbound or a turn. Only the fields that its kind needs are set.
type Event struct {
	Kind      EventKind `json:"kind"`
	At        time.Time `json:"at"`
	Seq       int       `json:"seq"`
	TurnID    ID        `json:"turn_id,omitempty"`
	ChannelID string    `json:"channel_id"`
	GuildID   string    `json:"guild_id,omitempty"`
	MessageID string    `json:"message_id,omitempty"`
	OwnerID   string    `json:"owner_id,omitempty"`
	// Iteration is the round trip the event belongs to, from 0.
	Iteration int `json:"iteration,omitempty"`
	// Text is a delta, a thought, an admission's reason code, a notice's text.
	Text  string       `json:"text,omitempty"`
	Call  *CallInfo    `json:"call,omitempty"`
	Usage *store.Usage `json:"usage,omitempty"`
	// Model and Provider are set on started and usage events.
	Model    string           `json:"model,omitempty"`
	Provider string           `json:"provider,omitempty"`
	Status   store.TurnStatus `json:"status,omitempty"`
	Done     DoneReason       `json:"done,omitempty"`
}

// CallInfo is one tool call as events show it.
type CallInfo struct {
	Key       string           `json:"key"`
	Tool      string           `json:"tool"`
	Iteration int              `json:"iteration"`
	Arguments string           `json:"arguments,omitempty"`
	Status    store.CallStatus `json:"status"`
	Reason    store.CallReason `json:"reason,omitempty"`
	Result    string           `json:"result,omitempty"`
	// Duration is how long the call took; 0 while it runs.
	Duration time.Duration `json:"duration_ns,omitempty"`
	// Card is true when the event repeats a call because an approval card was shown for it.
	Card bool `json:"card,omitempty"`
}

// Observer is told every event. It must not block; a panic in it is swallowed.
type Observer interface{ Observe(Event) }
