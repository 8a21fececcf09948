package turn

import (
	"time"

	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
)

// EventKind says what an event tells.
type EventKind string

// The event kinds. A turn's events come in order; EventDone is the last and comes once, after the channel is free.
const (
	EventAdmission    EventKind = "admission"
	EventStarted      EventKind = "started"
	EventPlanned      EventKind = "planned"
	EventAttempt      EventKind = "attempt"
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
	// Text is a delta, a thought, an admission's reason code, a notice's text, for an attempt why the one before failed.
	Text  string       `json:"text,omitempty"`
	Call  *CallInfo    `json:"call,omitempty"`
	Usage *store.Usage `json:"usage,omitempty"`
	// Finish is how an answer ended, on usage events. Their Usage is nil where the provider did not tell it.
	Finish string `json:"finish,omitempty"`
	// Plan is set on planned events.
	Plan *PlanInfo `json:"plan,omitempty"`
	// Error is the kind of what went wrong, on done events; the details are in the log.
	Error string `json:"error,omitempty"`
	// Model and Provider are set on attempt and usage events.
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
	// Gates are the checks that an ended call met, in order.
	Gates []GateInfo `json:"gates,omitempty"`
	// Approval is set on an ended call about which a person was asked.
	Approval *ApprovalInfo `json:"approval,omitempty"`
	// ReadOnly is true on an ended call of a tool that changes nothing.
	ReadOnly bool `json:"read_only,omitempty"`
	// Window is for how many further turns the tool stays offered because of this call.
	Window int `json:"window,omitempty"`
}

// GateInfo is one check that a call met, by its name in package toolloop. Note says why it refused, or what let the call
// through where that is no matter of course.
type GateInfo struct {
	Gate   string `json:"gate"`
	Passed bool   `json:"passed"`
	Note   string `json:"note,omitempty"`
}

// ApprovalInfo is how a person was asked about a call. State is approved, denied, expired, stopped or failed.
type ApprovalInfo struct {
	Approver registry.Approver `json:"approver"`
	Asked    time.Time         `json:"asked"`
	Decided  time.Time         `json:"decided"`
	State    string            `json:"state"`
	By       string            `json:"by,omitempty"`
	Reason   string            `json:"reason,omitempty"`
}

// PlanInfo is what a turn may use.
type PlanInfo struct {
	// Deliberate: tools are offered only when asked for, and Allowed are those that are; otherwise Allowed is empty.
	Deliberate bool          `json:"deliberate"`
	Allowed    []AllowedTool `json:"allowed,omitempty"`
	// Windows are the tools whose affordance window was open when the turn began.
	Windows []string `json:"windows,omitempty"`
	// Off are the tools that a moderator's switch takes away.
	Off []string `json:"off,omitempty"`
}

// AllowedTool is a tool that deliberate mode offers, and what put it on the list.
type AllowedTool struct {
	Tool    string          `json:"tool"`
	Source  registry.Source `json:"source"`
	Trigger string          `json:"trigger,omitempty"`
}

// Observer is told every event. It must not block; a panic in it is swallowed.
type Observer interface{ Observe(Event) }
