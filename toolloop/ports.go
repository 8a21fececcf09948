package toolloop

import (
	"context"
	"time"

	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
)

// Journal keeps what tools were asked to do; see store.Journal.
type Journal interface {
	OpenCall(ctx context.Context, c store.Call) error
	CloseCall(ctx context.Context, c store.Call) error
}

// Windows keeps a tool offered after it was used; see store.Windows.
type Windows interface {
	RetainWindow(ctx context.Context, channelID, tool string, n int, now time.Time) error
}

// Stickers tells whether a sticker is known in a guild.
type Stickers interface {
	KnownSticker(guildID, stickerID string) bool
}

// Notices takes what is said about a turn outside its answer. Neither method blocks.
type Notices interface {
	// StillWorking is called once, at the soft-warn iteration, on deliberate turns.
	StillWorking()
	// Hidden tells the operators, never the chat.
	Hidden(n HiddenNotice)
}

// HiddenNotice is a line for the operators about one call.
type HiddenNotice struct {
	Title  string
	Tool   string
	Detail string
}

// Cards shows approval cards of one turn.
type Cards interface {
	// Show makes the card visible; an error means that nobody can answer it.
	Show(ctx context.Context, c Card) error
	// Close shows how the card ended.
	Close(ctx context.Context, token string, s CardState)
}

// Clock is the turn's wall clock; waiting for a person stops it.
type Clock interface {
	Pause()
	Resume()
}

// Card is an approval card: exactly these bytes are what is approved.
type Card struct {
	Token     string
	TurnID    string
	ChannelID string
	GuildID   string
	OwnerID   string
	CallKey   string
	Approver  registry.Approver
	Tool      string
	Arguments string
	ExpiresAt time.Time
}

// CardState is how a card ended.
type CardState string

// The card states.
const (
	CardApproved CardState = "approved"
	CardDenied   CardState = "denied"
	CardExpired  CardState = "expired"
	CardStopped  CardState = "stopped"
)

// Limits bound a loop.
type Limits struct {
	ToolTimeout          time.Duration
	FirstToken           time.Duration
	StreamIdle           time.Duration
	ApprovalTimeout      time.Duration
	MaxIterations        int
	SoftWarnIterations   int
	MaxConsecutiveErrors int
	ResultMaxBytes       int
}

// DefaultLimits are the limits of DESIGN section 12.
func DefaultLimits() Limits {
	return Limits{
		ToolTimeout: 300 * time.Second, FirstToken: 300 * time.Second, StreamIdle: 120 * time.Second,
		ApprovalTimeout: 600 * time.Second, MaxIterations: 100, SoftWarnIterations: 20, MaxConsecutiveErrors: 5,
		ResultMaxBytes: 12 * 1024,
	}
}

// floored raises what is too small to mean anything: a count below 1 acts as 1, and the first token may take at least as
// long as any later one.
func (l Limits) floored() Limits {
	l.MaxIterations = max(l.MaxIterations, 1)
	l.MaxConsecutiveErrors = max(l.MaxConsecutiveErrors, 1)
	l.FirstToken = max(l.FirstToken, l.StreamIdle)
	return l
}

// Fixed limits.
const (
	// MaxCallsPerResponse bounds one batch; further calls get an error result.
	MaxCallsPerResponse = 32
	// MaxAbandoned is how many runs of a tool may be left behind before the tool is unavailable.
	MaxAbandoned = 4
	// finalWrite bounds writes that must happen although the turn has ended.
	finalWrite = 5 * time.Second
)
