package store

import (
	"context"
	"encoding/json"
	"time"
)

// Kind names a kind of record where people are told how many there are.
type Kind string

// The kinds of records.
const (
	KindMemories Kind = "memories"
	KindTurns    Kind = "turns"
	KindCalls    Kind = "tool calls"
	KindWaiting  Kind = "waiting messages"
	KindSettings Kind = "settings"
	KindWindows  Kind = "affordance windows"
	KindRates    Kind = "counters"

	KindShortTerm Kind = "short-term memories"
	KindApprovals Kind = "approval cards"
	// KindUsage and KindAudit are entries that stay without the member's name.
	KindUsage Kind = "usage entries"
	KindAudit Kind = "audit entries"
)

// Erased is what was removed, by kind; a kind of which there was nothing is absent.
type Erased map[Kind]int

// Add counts n more of a kind.
func (e Erased) Add(kind Kind, n int) {
	if n > 0 {
		e[kind] += n
	}
}

// Members answers for everything that is kept about one member.
type Members interface {
	// EraseMember removes, in one transaction, every memory about the member or written by them, what channels in which
	// they talked have in mind, their turns with journal and transcripts, their approval cards, what waits for them, and
	// their settings except those named in keep, such as one that says to leave them alone. What they cost and what they
	// decided or had done to them stays in ledger and audit log, without their name and without the detail. It returns
	// what was removed and the member's DM channels, in which nobody else has a part. The caller ends the member's turns
	// first: one that still runs would be written whole at its end. ErrInvalid without a member.
	EraseMember(ctx context.Context, memberID string, keep ...string) (Erased, []string, error)
	// ExportMember returns the memories, turns, waiting messages and settings that EraseMember would remove.
	ExportMember(ctx context.Context, memberID string) (Export, error)
}

// FleetingMembers is Members for what is fleeting.
type FleetingMembers interface {
	// EraseFleeting removes what counts the member's events, and the windows of the member's DM channels.
	EraseFleeting(ctx context.Context, memberID string, channelIDs []string) (Erased, error)
}

// ExportVersion is the version of the form of an Export.
const ExportVersion = 1

// ExportMaxTurns bounds the turns in an Export, newest first.
const ExportMaxTurns = 10_000

// Export is what a member is given when they ask what is kept about them: one JSON document, described in docs/privacy.md.
type Export struct {
	Version  int               `json:"version"`
	MemberID string            `json:"member_id"`
	Memories []ExportedMemory  `json:"memories"`
	Turns    []ExportedTurn    `json:"turns"`
	Waiting  []ExportedWaiting `json:"waiting"`
	Settings map[string]string `json:"settings"`
	// Truncated is true when there are older turns than ExportMaxTurns.
	Truncated bool `json:"truncated,omitempty"`
}

// ExportedMemory is one long-term fact.
type ExportedMemory struct {
	ID        int64       `json:"id"`
	Scope     MemoryScope `json:"scope"`
	GuildID   string      `json:"guild_id,omitempty"`
	MemberID  string      `json:"member_id,omitempty"`
	Content   string      `json:"content"`
	Private   bool        `json:"private"`
	AuthorID  string      `json:"author_id,omitempty"`
	TurnID    string      `json:"turn_id,omitempty"`
	MessageID string      `json:"message_id,omitempty"`
	CreatedAt time.Time   `json:"created_at"`
	UpdatedAt time.Time   `json:"updated_at"`
}

// ExportedTurn is one turn with its journal.
type ExportedTurn struct {
	ID         string         `json:"id"`
	ChannelID  string         `json:"channel_id"`
	GuildID    string         `json:"guild_id,omitempty"`
	TriggerID  string         `json:"trigger_id,omitempty"`
	Status     TurnStatus     `json:"status"`
	Prompt     string         `json:"prompt"`
	Answer     string         `json:"answer"`
	Thinking   string         `json:"thinking,omitempty"`
	Model      string         `json:"model,omitempty"`
	Usage      Usage          `json:"usage"`
	AnswerIDs  []string       `json:"answer_ids,omitempty"`
	Transcript Document       `json:"transcript,omitempty"`
	Error      string         `json:"error,omitempty"`
	StartedAt  time.Time      `json:"started_at"`
	FinishedAt time.Time      `json:"finished_at,omitzero"`
	Calls      []ExportedCall `json:"calls,omitempty"`
}

// ExportedCall is one tool call of a turn.
type ExportedCall struct {
	Tool       string     `json:"tool"`
	Arguments  string     `json:"arguments"`
	Status     CallStatus `json:"status"`
	Reason     CallReason `json:"reason,omitempty"`
	Result     string     `json:"result"`
	StartedAt  time.Time  `json:"started_at"`
	FinishedAt time.Time  `json:"finished_at,omitzero"`
}

// ExportedWaiting is one message that waits to be answered.
type ExportedWaiting struct {
	MessageID string    `json:"message_id"`
	ChannelID string    `json:"channel_id"`
	GuildID   string    `json:"guild_id,omitempty"`
	Payload   Document  `json:"payload"`
	QueuedAt  time.Time `json:"queued_at"`
}

// Document is a stored JSON document inside another. One that is no JSON is given as the text it is, so that a damaged
// record does not keep a member from the rest.
type Document []byte

// MarshalJSON implements json.Marshaler.
func (d Document) MarshalJSON() ([]byte, error) {
	if json.Valid(d) {
		return d, nil
	}
	return json.Marshal(string(d))
}

// Fill puts the records that an engine has read into the form of an Export.
func (e *Export) Fill(memories []Memory, turns []Turn, calls []Call, waiting []Waiting) {
	e.Memories, e.Turns, e.Waiting = []ExportedMemory{}, []ExportedTurn{}, []ExportedWaiting{}
	for _, m := range memories {
		e.Memories = append(e.Memories, ExportedMemory(m))
	}
	of := make(map[string][]ExportedCall)
	for _, c := range calls {
		of[c.TurnID] = append(of[c.TurnID], ExportedCall{
			Tool: c.Tool, Arguments: c.Arguments, Status: c.Status, Reason: c.Reason, Result: c.Result,
			StartedAt: c.StartedAt, FinishedAt: c.FinishedAt,
		})
	}
	for _, t := range turns {
		e.Turns = append(e.Turns, ExportedTurn{
			ID: t.ID, ChannelID: t.ChannelID, GuildID: t.GuildID, TriggerID: t.TriggerID, Status: t.Status, Prompt: t.Prompt,
			Answer: t.Answer, Thinking: t.Thinking, Model: t.Model, Usage: t.Usage, AnswerIDs: t.AnswerIDs,
			Transcript: Document(t.Transcript), Error: t.Error, StartedAt: t.StartedAt, FinishedAt: t.FinishedAt, Calls: of[t.ID],
		})
	}
	for _, w := range waiting {
		e.Waiting = append(e.Waiting, ExportedWaiting{
			MessageID: w.MessageID, ChannelID: w.ChannelID, GuildID: w.GuildID, Payload: Document(w.Payload), QueuedAt: w.QueuedAt,
		})
	}
}
