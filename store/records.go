// Package store holds the records that Parley keeps and the small repositories behind which they live. It names no
// driver: store/sqlite, store/postgres and store/redis implement it, and store/storetest holds them all to one contract.
// All times are UTC. Ids that come from Discord are strings.
package store

import (
	"encoding/json"
	"time"
)

// MemoryScope says whom a memory is about.
type MemoryScope string

// The memory scopes.
const (
	ScopeMember MemoryScope = "member"
	ScopeGuild  MemoryScope = "guild"
)

// Memory is one long-term fact.
type Memory struct {
	// ID is the number that people and models name the memory by; unique in the store.
	ID    int64
	Scope MemoryScope
	// GuildID is the guild in which the fact may be recalled; empty for what a member told in a DM.
	GuildID string
	// MemberID is whom a member-scoped fact is about; empty in guild scope.
	MemberID string
	Content  string
	// Private facts were told in a DM and are recalled only there.
	Private bool
	// AuthorID, TurnID and MessageID say where the fact came from.
	AuthorID  string
	TurnID    string
	MessageID string
	CreatedAt time.Time
	UpdatedAt time.Time
}

// MemoryQuery selects the memories that may be seen by one member in one place.
type MemoryQuery struct {
	GuildID  string
	MemberID string
	// Private is true in a DM: private facts of the member are visible there and nowhere else.
	Private bool
	// OtherGuilds lets the member's own facts be seen outside the guild in which they were told: in their other guilds and
	// in a DM. It wants the member's consent. What was told in a DM stays there all the same, and so do the facts of guilds.
	OtherGuilds bool
	// Text ranks the result by relevance; empty means newest first.
	Text string
	// Limit bounds the result; 0 means 100.
	Limit int
	// MaxBytes bounds the contents of the result together, when above 0: the most relevant facts that fit are returned. The
	// first one is returned in any case.
	MaxBytes int
}

// Fit returns the beginning of memories whose contents are at most MaxBytes together, and at least one.
func (q MemoryQuery) Fit(memories []Memory) []Memory {
	if q.MaxBytes <= 0 {
		return memories
	}
	left := q.MaxBytes
	for i, m := range memories {
		if left -= len(m.Content); left < 0 && i > 0 {
			return memories[:i]
		}
	}
	return memories
}

// TurnStatus says how a turn ended. It is declared here since it is stored; package turn decides it.
type TurnStatus string

// The statuses. TurnRunning is the only one that is not final.
const (
	TurnRunning           TurnStatus = "running"
	TurnCompleted         TurnStatus = "completed"
	TurnEmptyResponse     TurnStatus = "empty_response"
	TurnError             TurnStatus = "error"
	TurnTimeout           TurnStatus = "timeout"
	TurnStoppedByUser     TurnStatus = "stopped_by_user"
	TurnFollowUpInterrupt TurnStatus = "follow_up_interrupt"
	TurnDenied            TurnStatus = "denied"
	TurnMaxIterations     TurnStatus = "max_iterations"
	TurnInterrupted       TurnStatus = "interrupted"
	TurnSkipped           TurnStatus = "skipped"
)

// Turn is the record of one answer to one trigger.
type Turn struct {
	ID        string
	ChannelID string
	GuildID   string
	OwnerID   string
	// TriggerID is the id of the message (or interaction) that started the turn.
	TriggerID string
	Status    TurnStatus
	// Prompt is the trigger's text, Answer what was shown in reply.
	Prompt   string
	Answer   string
	Thinking string
	Model    string
	Usage    Usage
	// AnswerIDs are the ids of the messages that were sent.
	AnswerIDs []string
	// Transcript is the versioned JSON of the turn's tool history; see Decode.
	Transcript json.RawMessage
	// Error is the operator's text of what went wrong, empty otherwise.
	Error      string
	StartedAt  time.Time
	FinishedAt time.Time
}

// Usage is what a turn cost in tokens and in money. Cache reads and writes are parts of Input, Reasoning is a part of
// Output.
type Usage struct {
	Input      int `json:"input_tokens"`
	Output     int `json:"output_tokens"`
	CacheRead  int `json:"cache_read_tokens,omitempty"`
	CacheWrite int `json:"cache_write_tokens,omitempty"`
	Reasoning  int `json:"reasoning_tokens,omitempty"`
	// CostNanos is the price in billionths of a US dollar. With Unpriced set it is a lower bound: the price of some of it
	// is not known.
	CostNanos int64 `json:"cost_nanos,omitempty"`
	Unpriced  bool  `json:"unpriced,omitempty"`
}

// Add returns the sum of two.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input: u.Input + v.Input, Output: u.Output + v.Output, CacheRead: u.CacheRead + v.CacheRead,
		CacheWrite: u.CacheWrite + v.CacheWrite, Reasoning: u.Reasoning + v.Reasoning,
		CostNanos: u.CostNanos + v.CostNanos, Unpriced: u.Unpriced || v.Unpriced,
	}
}

// CallStatus is the state of one tool call in the journal.
type CallStatus string

// The call statuses.
const (
	CallRunning CallStatus = "running"
	CallDone    CallStatus = "done"
	CallError   CallStatus = "error"
)

// CallReason says why a call ended as it did. CallReasonNone goes with running and done.
type CallReason string

// The call reasons.
const (
	CallReasonNone        CallReason = ""
	CallReasonFailed      CallReason = "failed"
	CallReasonDenied      CallReason = "denied"
	CallReasonNotRun      CallReason = "not_run"
	CallReasonStopped     CallReason = "stopped"
	CallReasonInterrupted CallReason = "interrupted"
	CallReasonTruncated   CallReason = "truncated"
	CallReasonMalformed   CallReason = "malformed"
	CallReasonBlocked     CallReason = "blocked"
	CallReasonRejected    CallReason = "rejected"
	CallReasonUnavailable CallReason = "unavailable"
	CallReasonTimedOut    CallReason = "timed_out"
	CallReasonPanicked    CallReason = "panicked"
	CallReasonAbandoned   CallReason = "abandoned"
)

// Call is one row of the tool journal.
type Call struct {
	TurnID string
	// Key is unique within the turn.
	Key       string
	Iteration int
	Tool      string
	// Arguments is the raw text the model sent, {} when it was refused as truncated.
	Arguments string
	Status    CallStatus
	Reason    CallReason
	// Result is the text the model was given (or would have been), capped.
	Result     string
	StartedAt  time.Time
	FinishedAt time.Time
}

// Waiting is a trigger that waits for its channel to be free.
type Waiting struct {
	MessageID string
	ChannelID string
	GuildID   string
	OwnerID   string
	// Payload is the whole inbound as package turn encodes it: whatever changes what will be said survives a restart.
	Payload  json.RawMessage
	QueuedAt time.Time
}

// SettingScope says whose setting it is.
type SettingScope string

// The setting scopes.
const (
	SettingGuild   SettingScope = "guild"
	SettingChannel SettingScope = "channel"
	SettingMember  SettingScope = "member"
)

// Setting is one named value.
type Setting struct {
	Scope SettingScope
	// ID is the guild's, channel's or member's id.
	ID    string
	Name  string
	Value string
}
