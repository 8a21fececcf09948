package store

import (
	"context"
	"time"
)

const (
	// ShortTermTTL is how long a short-term memory is kept after it was written.
	ShortTermTTL = 24 * time.Hour
	// ShortTermCategories is the usual limit of categories in a channel.
	ShortTermCategories = 5
)

// ShortTerm is what a channel has in mind under one category.
type ShortTerm struct {
	ChannelID string
	Category  string
	GuildID   string
	// AuthorID is the member in whose turn it was written.
	AuthorID  string
	TurnID    string
	Content   string
	UpdatedAt time.Time
}

// ShortTerms keeps short-term memory: a few named categories per channel.
type ShortTerms interface {
	// PutShortTerm writes one category of a channel and leaves the others alone. ErrLimit when the channel has limit
	// others that are still kept.
	PutShortTerm(ctx context.Context, s ShortTerm, limit int) error
	// ShortTermOf returns what the channel has in mind at a time, by category.
	ShortTermOf(ctx context.Context, channelID string, now time.Time) ([]ShortTerm, error)
	// ClearShortTerm forgets all of it.
	ClearShortTerm(ctx context.Context, channelID string) error
}

// ModelUsage is what one model cost in a turn that ends.
type ModelUsage struct {
	Model string
	Usage Usage
}

// UsageEntry is what one model cost in one turn, as the ledger keeps it.
type UsageEntry struct {
	TurnID    string
	Model     string
	GuildID   string
	ChannelID string
	MemberID  string
	Usage     Usage
	At        time.Time
}

// UsageQuery selects entries of the ledger; what is empty does not matter.
type UsageQuery struct {
	GuildID   string
	ChannelID string
	MemberID  string
	Since     time.Time
}

// UsageTotal is the sum of one model.
type UsageTotal struct {
	Model string
	Turns int
	Usage Usage
}

// Ledger keeps what turns cost, after the turns themselves are erased too. Turns.FinishTurn writes it.
type Ledger interface {
	// UsageOf sums what q selects, by model.
	UsageOf(ctx context.Context, q UsageQuery) ([]UsageTotal, error)
}

// AuditAction names what was done.
type AuditAction string

// AuditEntry is one act of a moderator, an owner or the bot that others may ask about.
type AuditEntry struct {
	ID        int64
	GuildID   string
	ChannelID string
	// ActorID is who did it, SubjectID to whom; either may be empty.
	ActorID   string
	SubjectID string
	Action    AuditAction
	Detail    string
	At        time.Time
}

// Audit keeps the audit log. Nothing in it is ever changed but by erasing a member, which leaves the act without the name.
type Audit interface {
	AddAudit(ctx context.Context, a AuditEntry) error
	// AuditOf returns a guild's entries, newest first, at most limit.
	AuditOf(ctx context.Context, guildID string, limit int) ([]AuditEntry, error)
}

// ApprovalStatus says what became of a card.
type ApprovalStatus string

// The approval statuses. ApprovalOpen is the only one that is not final.
const (
	ApprovalOpen     ApprovalStatus = "open"
	ApprovalApproved ApprovalStatus = "approved"
	ApprovalDenied   ApprovalStatus = "denied"
	ApprovalExpired  ApprovalStatus = "expired"
	ApprovalStopped  ApprovalStatus = "stopped"
)

// Approval is the record of one approval card.
type Approval struct {
	// Token is the random text in the card's buttons.
	Token     string
	TurnID    string
	CallKey   string
	GuildID   string
	ChannelID string
	// MessageID is the card; empty until that is known.
	MessageID string
	Tool      string
	// Arguments are the bytes that were shown and approved.
	Arguments string
	OwnerID   string
	Status    ApprovalStatus
	DecidedBy string
	Reason    string
	OpenedAt  time.Time
	DecidedAt time.Time
}

// Approvals keeps approval cards.
type Approvals interface {
	// OpenApproval writes a card as open; ErrExists when the token is taken. It comes before anybody sees the card, so its
	// message may not be known yet.
	OpenApproval(ctx context.Context, a Approval) error
	// ShowApproval writes which message the card became.
	ShowApproval(ctx context.Context, token, messageID string) error
	// DecideApproval writes status, decider, reason and time of a's card if it is open, and says whether it was: the first
	// wins. ErrInvalid when the status is not final.
	DecideApproval(ctx context.Context, a Approval) (bool, error)
	// OpenApprovals returns the cards that are open though their turn does not run (any more), oldest first. After a sweep of
	// the journal those are the cards that nobody waits for.
	OpenApprovals(ctx context.Context) ([]Approval, error)
}
