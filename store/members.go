package store

import (
	"context"
	"encoding/json"
	"slices"
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

// SettingErasedBefore is the member's setting that says until when they had everything erased, as an id that Discord counts
// up with time.
const SettingErasedBefore = "erased_before"

// Erasure says what is erased.
type Erasure struct {
	MemberID string
	// Before is the value of SettingErasedBefore from now on, unless what is set is newer. What came about up to it is not
	// written any more, whoever tries. Empty leaves that as it is.
	Before string
	// ChannelIDs are private chats of the member that the store may not know of.
	ChannelIDs []string
	// KeepSettings names settings of the member that stay, such as one that says to leave them alone.
	KeepSettings []string
}

// Keeps lists the settings that stay.
func (e Erasure) Keeps() []string {
	kept := append([]string{}, e.KeepSettings...)
	if e.Before != "" {
		kept = append(kept, SettingErasedBefore)
	}
	return kept
}

// Members answers for everything that is kept about one member.
type Members interface {
	// EraseMember removes, in one transaction, every memory about the member or written by them, what channels in which
	// they talked have in mind, their turns with journal and transcripts, their approval cards, what waits for them, the
	// settings of their private chats, and their own settings except those to keep. What they cost and what they decided or
	// had done to them stays in ledger and audit log, without their name, their private chat and the detail. It returns what
	// was removed and the member's private chats, in which nobody else has a part. ErrInvalid without a member; ErrBusy when
	// others went on writing until ctx ended: nothing was removed then, but what comes too late is left out already.
	//
	// What comes too late, from this process or another, is left out as Before says: a turn, what was remembered or noted in
	// it, its cards, a waiting message (ErrErased, FinishTurn nil), and the name of who paid, acted or decided. What stems from
	// a message is as old as that; what names none is as old as its time, and too late also when its turn was erased.
	EraseMember(ctx context.Context, e Erasure) (Erased, []string, error)
	// ExportMember returns everything that EraseMember would remove or part from the member's name.
	ExportMember(ctx context.Context, memberID string) (Export, error)
}

// FleetingMembers is Members for what is fleeting.
type FleetingMembers interface {
	// EraseFleeting removes what counts the events of the member and of their private chats, the windows of those chats, and
	// the member's orders to stop.
	EraseFleeting(ctx context.Context, memberID string, channelIDs []string) (Erased, error)
}

// ExportVersion is the version of the form of an Export.
const ExportVersion = 2

// Bounds of an Export. What is older than they allow is left out.
const (
	// ExportMaxTurns bounds the turns, ExportMaxEntries the entries of each other kind.
	ExportMaxTurns   = 10_000
	ExportMaxEntries = 10_000
	// ExportMaxBytes bounds the texts of turns and calls together.
	ExportMaxBytes = 64 << 20
)

// Export is what a member is given when they ask what is kept about them: one JSON document, described in docs/privacy.md.
type Export struct {
	Version   int                 `json:"version"`
	MemberID  string              `json:"member_id"`
	Memories  []ExportedMemory    `json:"memories"`
	ShortTerm []ExportedShortTerm `json:"short_term"`
	Turns     []ExportedTurn      `json:"turns"`
	Waiting   []ExportedWaiting   `json:"waiting"`
	Approvals []ExportedApproval  `json:"approvals"`
	Usage     []ExportedUsage     `json:"usage"`
	Audit     []ExportedAudit     `json:"audit"`
	Settings  map[string]string   `json:"settings"`
	// ChannelSettings are those of the member's private chats, by channel.
	ChannelSettings map[string]map[string]string `json:"channel_settings"`
	// Truncated is true when there is more than the bounds allow.
	Truncated bool `json:"truncated,omitempty"`
}

// ExportedShortTerm is what a channel has in mind from a turn of the member.
type ExportedShortTerm struct {
	ChannelID string    `json:"channel_id"`
	GuildID   string    `json:"guild_id,omitempty"`
	Category  string    `json:"category"`
	Content   string    `json:"content"`
	TurnID    string    `json:"turn_id,omitempty"`
	UpdatedAt time.Time `json:"updated_at"`
}

// ExportedApproval is a card about a call in the member's turn, or one that the member decided.
type ExportedApproval struct {
	TurnID    string `json:"turn_id"`
	ChannelID string `json:"channel_id"`
	GuildID   string `json:"guild_id,omitempty"`
	Tool      string `json:"tool"`
	// Arguments are given for calls in the member's own turns.
	Arguments string         `json:"arguments,omitempty"`
	Status    ApprovalStatus `json:"status"`
	Reason    string         `json:"reason,omitempty"`
	// Asked: it was the member's turn. Decided: the member decided.
	Asked     bool      `json:"asked"`
	Decided   bool      `json:"decided"`
	OpenedAt  time.Time `json:"opened_at"`
	DecidedAt time.Time `json:"decided_at,omitzero"`
}

// ExportedUsage is what one model cost in one turn of the member.
type ExportedUsage struct {
	TurnID    string    `json:"turn_id"`
	Model     string    `json:"model"`
	GuildID   string    `json:"guild_id,omitempty"`
	ChannelID string    `json:"channel_id"`
	Usage     Usage     `json:"usage"`
	At        time.Time `json:"at"`
}

// ExportedAudit is an act of the member, or one that concerned them. Who else had a part in it is not told.
type ExportedAudit struct {
	GuildID   string      `json:"guild_id,omitempty"`
	ChannelID string      `json:"channel_id,omitempty"`
	Action    AuditAction `json:"action"`
	Detail    string      `json:"detail,omitempty"`
	// Actor: the member did it. Subject: it was done to them.
	Actor   bool      `json:"actor"`
	Subject bool      `json:"subject"`
	At      time.Time `json:"at"`
}

// ExportRoom counts what an export holds while it is read, newest first. The zero value is empty.
type ExportRoom struct {
	used int
	full bool
}

// Turn says whether a turn still fits. Once something did not, nothing does.
func (r *ExportRoom) Turn(t Turn) bool {
	return r.take(len(t.Prompt) + len(t.Answer) + len(t.Thinking) + len(t.Transcript))
}

// Call says whether a call still fits.
func (r *ExportRoom) Call(c Call) bool { return r.take(len(c.Arguments) + len(c.Result)) }

// Full reports whether something was left out.
func (r *ExportRoom) Full() bool { return r.full }

func (r *ExportRoom) take(n int) bool {
	if r.used += n; r.used > ExportMaxBytes {
		r.full = true
	}
	return !r.full
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

// ExportRecords are the records of which an Export is made, as an engine has read them, those of each kind newest first.
type ExportRecords struct {
	Memories  []Memory
	ShortTerm []ShortTerm
	Turns     []Turn
	Calls     []Call
	Waiting   []Waiting
	Approvals []Approval
	Usage     []UsageEntry
	Audit     []AuditEntry
}

// Fill puts records into the form of an Export, whose member is set. More than the bounds allow is left out.
func (e *Export) Fill(r ExportRecords) {
	e.Memories = exported(e, r.Memories, len(r.Memories), func(m Memory) ExportedMemory { return ExportedMemory(m) })
	e.ShortTerm = exported(e, r.ShortTerm, len(r.ShortTerm), func(s ShortTerm) ExportedShortTerm {
		return ExportedShortTerm{
			ChannelID: s.ChannelID, GuildID: s.GuildID, Category: s.Category, Content: s.Content, TurnID: s.TurnID, UpdatedAt: s.UpdatedAt,
		}
	})
	calls := make(map[string][]ExportedCall)
	for _, c := range slices.Backward(r.Calls) {
		calls[c.TurnID] = append(calls[c.TurnID], ExportedCall{
			Tool: c.Tool, Arguments: c.Arguments, Status: c.Status, Reason: c.Reason, Result: c.Result,
			StartedAt: c.StartedAt, FinishedAt: c.FinishedAt,
		})
	}
	e.Turns = exported(e, r.Turns, ExportMaxTurns, func(t Turn) ExportedTurn {
		return ExportedTurn{
			ID: t.ID, ChannelID: t.ChannelID, GuildID: t.GuildID, TriggerID: t.TriggerID, Status: t.Status, Prompt: t.Prompt,
			Answer: t.Answer, Thinking: t.Thinking, Model: t.Model, Usage: t.Usage, AnswerIDs: t.AnswerIDs,
			Transcript: Document(t.Transcript), Error: t.Error, StartedAt: t.StartedAt, FinishedAt: t.FinishedAt, Calls: calls[t.ID],
		}
	})
	e.Waiting = exported(e, r.Waiting, ExportMaxEntries, func(w Waiting) ExportedWaiting {
		return ExportedWaiting{
			MessageID: w.MessageID, ChannelID: w.ChannelID, GuildID: w.GuildID, Payload: Document(w.Payload), QueuedAt: w.QueuedAt,
		}
	})
	e.Approvals = exported(e, r.Approvals, ExportMaxEntries, func(a Approval) ExportedApproval {
		out := ExportedApproval{
			TurnID: a.TurnID, ChannelID: a.ChannelID, GuildID: a.GuildID, Tool: a.Tool, Status: a.Status, Reason: a.Reason,
			Asked: a.OwnerID == e.MemberID, Decided: a.DecidedBy == e.MemberID, OpenedAt: a.OpenedAt, DecidedAt: a.DecidedAt,
		}
		if out.Asked {
			out.Arguments = a.Arguments
		}
		return out
	})
	e.Usage = exported(e, r.Usage, ExportMaxEntries, func(u UsageEntry) ExportedUsage {
		return ExportedUsage{TurnID: u.TurnID, Model: u.Model, GuildID: u.GuildID, ChannelID: u.ChannelID, Usage: u.Usage, At: u.At}
	})
	e.Audit = exported(e, r.Audit, ExportMaxEntries, func(a AuditEntry) ExportedAudit {
		return ExportedAudit{
			GuildID: a.GuildID, ChannelID: a.ChannelID, Action: a.Action, Detail: a.Detail,
			Actor: a.ActorID == e.MemberID, Subject: a.SubjectID == e.MemberID, At: a.At,
		}
	})
}

// exported gives the first records, at most limit, in another form; never null in JSON.
func exported[R, X any](e *Export, records []R, limit int, form func(R) X) []X {
	if len(records) > limit {
		records, e.Truncated = records[:limit], true
	}
	out := make([]X, len(records))
	for i, r := range records {
		out[i] = form(r)
	}
	return out
}
