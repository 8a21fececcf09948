package toolloop

import (
	"context"
	"time"

	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
)

// Journal keeps what tools were asked to do; see store.Journal. Its methods return soon after their context has ended:
// that alone bounds how long they can hold a call.
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

// Cards shows approval cards of one turn. Its methods return soon after their context has ended.
type Cards interface {
	// Show makes the card visible; an error means that nobody can answer it.
	Show(ctx context.Context, c Card) error
	// Close shows how the card ended; d is who decided, empty when nobody did.
	Close(ctx context.Context, token string, s CardState, d Decision)
}

// Clock is the turn's wall clock; waiting for a person stops it.
type Clock interface {
	Pause()
	Resume()
}

// Card is an approval card: exactly these bytes are what is approved.
type Card struct {
	// Token is random and is all that the buttons carry.
	Token     string
	TurnID    string
	ChannelID string
	GuildID   string
	OwnerID   string
	CallKey   string
	Approver  registry.Approver
	Tool      string
	// Arguments is the full argument object; whoever shows the card shows all of it.
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
	// cardFailed cards could not be shown; they are closed as denied.
	cardFailed CardState = "failed"
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

// floored raises what is too small to mean anything: a count below 1 acts as 1, a duration or size that was not set has
// its default, and the first token may take at least as long as any later one.
func (l Limits) floored() Limits {
	d := DefaultLimits()
	for _, x := range []struct {
		value    *time.Duration
		standard time.Duration
	}{
		{&l.ToolTimeout, d.ToolTimeout},
		{&l.FirstToken, d.FirstToken},
		{&l.StreamIdle, d.StreamIdle},
		{&l.ApprovalTimeout, d.ApprovalTimeout},
	} {
		if *x.value <= 0 {
			*x.value = x.standard
		}
	}
	if l.ResultMaxBytes <= 0 {
		l.ResultMaxBytes = d.ResultMaxBytes
	}
	l.MaxIterations = max(l.MaxIterations, 1)
	l.SoftWarnIterations = max(l.SoftWarnIterations, 1)
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
	// writeTimeout bounds one write to a store while the turn goes on; stopGrace bounds all that is written once the turn
	// has ended, together.
	writeTimeout = 5 * time.Second
	stopGrace    = time.Second
	// maxContextItem bounds what a restart adds to the context, maxNoticeBytes a notice to the operators.
	maxContextItem = 64 * 1024
	maxNoticeBytes = 1800
)
