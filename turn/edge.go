package turn

import (
	"context"

	"github.com/parleybot/parley/internal/abort"
	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/toolloop"
)

// Persona is the name and face the bot answers with; it is what tools are told too.
type Persona = registry.Persona

// Approver says who must agree before a tool runs.
type Approver = registry.Approver

// The approvers.
const (
	ApproverNone      = registry.ApproverNone
	ApproverOwner     = registry.ApproverOwner
	ApproverModerator = registry.ApproverModerator
)

// Edge is what turns need from the place they talk in. Implementations are safe for concurrent use.
type Edge interface {
	// History returns the newest messages of a channel, oldest first, at most limit. It is asked once per channel,
	// before the first turn in it; later messages arrive through Manager.Receive.
	History(ctx context.Context, channelID string, limit int) ([]Message, error)
	// Open returns the surface on which one turn shows itself. It must not block; typing begins at once.
	Open(o Opening) Surface
	// Notify says something that is no answer (queue full, interrupted, an error). It replies to n.ReplyToID when set.
	Notify(ctx context.Context, n Notice) error
	// Hidden shows a notice to the operators of a guild (its log channel), never in the chat. Private turns have none.
	Hidden(ctx context.Context, n HiddenNotice)
	// Withdraw shows on a card of a process that is gone that it is no longer active, and takes its buttons away. Without a
	// message id the card is looked for in its channel. A card that is gone itself is no error.
	Withdraw(ctx context.Context, c Card, messageID string) error
	// Self is the identity the bot answers with.
	Self() Persona
	// Surroundings are what the edge knows of a channel; the zero value when it knows nothing. It does no I/O.
	Surroundings(channelID string) Surroundings
}

// Opening is what the edge needs to show a turn.
type Opening struct {
	TurnID    ID
	ChannelID string
	GuildID   string
	// ReplyToID is the message the first part of the answer replies to.
	ReplyToID string
	Owner     Person
	// Deliberate: the person clearly addressed the bot, so errors are shown to them.
	Deliberate bool
}

// Surface shows one turn. Text, Boundary and Progress never block; the others may do I/O and honour ctx. Calls come from
// one goroutine at a time.
type Surface interface {
	// Text appends visible text of the current iteration.
	Text(delta string)
	// Boundary ends the current iteration's text: what follows is a new message, since a tool ran in between.
	Boundary()
	// Progress shows what the turn is doing while it is silent: one quiet line, never one per tool.
	Progress(p Progress)
	// Retract removes the visible text of the current iteration (its attempt failed); earlier iterations stay.
	Retract(ctx context.Context)
	// Ask shows an approval card. It returns once the card is visible, with the id of its message; an error means that
	// nobody can answer it.
	Ask(ctx context.Context, c Card) (messageID string, err error)
	// CloseCard shows how a card ended; its buttons stop working.
	CloseCard(ctx context.Context, token string, s CardState)
	// Finish delivers what is left, marks how the turn ended and reports what people really saw. It is called exactly
	// once, last, with a context that outlives the turn's own.
	Finish(ctx context.Context, e Ending) Delivered
}

// Progress is what a turn is doing while no text comes.
type Progress struct {
	// Tool is the name of the tool that runs, Count how many calls ran before it.
	Tool  string
	Count int
	// Waiting: an approval is open.
	Waiting bool
	// KillHint: the turn has been running long enough to mention /kill.
	KillHint bool
}

// Ending is how a turn ended, for its surface.
type Ending struct {
	Status store.TurnStatus
	// Cause is the typed cause when the turn was ended from outside, nil otherwise.
	Cause abort.Cause
	// Public is a short text to show in place of or below the answer ("something went wrong (network), id 3f2a"), empty
	// when nothing is to be shown.
	Public string
	// StickerID is a sticker to send after the text, empty for none.
	StickerID string
}

// Delivered is what people really saw of a turn.
type Delivered struct {
	Text       string
	MessageIDs []string
	// Err is the first delivery that failed for good.
	Err error
}

// NoticeKind says what a notice is about.
type NoticeKind string

// The notice kinds.
const (
	NoticeQueued      NoticeKind = "queued"
	NoticeQueueFull   NoticeKind = "queue_full"
	NoticeInterrupted NoticeKind = "interrupted"
	NoticeError       NoticeKind = "error"
	NoticeRefused     NoticeKind = "refused"
	NoticeStillBusy   NoticeKind = "still_busy"
	NoticeExpired     NoticeKind = "expired"
	NoticeCommand     NoticeKind = "command"
	NoticeLogChannel  NoticeKind = "log_channel"
)

// Notice is a message that is no answer.
type Notice struct {
	Kind      NoticeKind
	ChannelID string
	ReplyToID string
	Text      string
}

// HiddenNotice tells operators about one tool call.
type HiddenNotice struct {
	TurnID    ID
	ChannelID string
	GuildID   string
	Title     string
	Tool      string
	Detail    string
}

// Card is an approval card, CardState how it ended, and Decision a person's answer to it, as the loop has them.
type (
	Card      = toolloop.Card
	CardState = toolloop.CardState
	Decision  = toolloop.Decision
)

// The card states.
const (
	CardApproved = toolloop.CardApproved
	CardDenied   = toolloop.CardDenied
	CardExpired  = toolloop.CardExpired
	CardStopped  = toolloop.CardStopped
)
