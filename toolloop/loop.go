// Package toolloop runs one turn's exchange with a model: it streams an answer, executes the calls of that answer one by
// one in a fixed order of checks, and repeats until the model answers without calls, an outcome ends the turn or a limit
// does. It knows neither Discord nor SQL nor any vendor.
//
// The stages are files: loop.go (the cycle), stream.go (one round trip), batch.go (the calls of one response), execute.go
// (the fixed order of checks for one call), approve.go (asking a person), dispatch.go (the race against timeout and kill),
// record.go (history entries), result.go (what the model is given) and journal.go (what is written down). exchange.go holds
// what one Run carries from stage to stage.
package toolloop

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleybot/parley/internal/abort"
	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
)

// IterationLimitNote is the local note that ends a transcript at the iteration limit; it is never sent.
const IterationLimitNote = "stopped: tool loop iteration limit reached"

// ErrTooManyFailures is the error of a turn whose tools keep failing.
var ErrTooManyFailures = errors.New("too many consecutive tool failures")

// Deps are what every turn of a process shares.
type Deps struct {
	Registry *registry.Registry
	Journal  Journal
	// Windows and Stickers may be nil: then nothing is retained, and no sticker is known.
	Windows  Windows
	Stickers Stickers
	// Broker holds the open approval cards.
	Broker *Broker
	Limits Limits
	Log    zerolog.Logger
}

// Loop runs turns. It is safe for concurrent use; each Turn belongs to one goroutine.
type Loop struct {
	registry  *registry.Registry
	journal   Journal
	windows   Windows
	stickers  Stickers
	broker    *Broker
	limits    Limits
	log       zerolog.Logger
	abandoned abandonedRuns
}

// New returns a loop over shared dependencies.
func New(d Deps) *Loop {
	return &Loop{
		registry: d.Registry, journal: d.Journal, windows: d.Windows, stickers: d.Stickers, broker: d.Broker,
		limits: d.Limits.floored(), log: d.Log,
	}
}

// Attempt is one try at a turn with one model. Messages is the conversation before the turn's own exchange; it is never
// modified.
type Attempt struct {
	Provider        providers.Provider
	Model           string
	System          string
	Messages        []providers.Message
	MaxOutputTokens int
	// Fit, when set, is asked before every round trip what is sent: it is told which tools are offered and which messages
	// the turn's own exchange has gained since it was last asked, repaired, and returns the whole conversation within what
	// the model can read. Messages is then only what it may choose from.
	Fit func(tools []providers.ToolSpec, gained []providers.Message) []providers.Message
}

// Result is how a run of the loop ended.
type Result struct {
	Status store.TurnStatus
	// Text is the final visible text of the model; Shown is the visible text of every iteration, in order.
	Text  string
	Shown []string
	// Thinking is the last reasoning that came.
	Thinking string
	// StickerID is the selected sticker, set only on completed.
	StickerID string
	// Messages is the exchange of this turn: assistant and tool messages and local notes.
	Messages []providers.Message
	// Usage is the sum over all round trips of the turn, failed ones included.
	Usage providers.Usage
	// Model is the model that answered last, as its provider named it, else as it was asked for.
	Model string
	// CutAtLimit: the last answer ended at the output limit.
	CutAtLimit bool
	// Phase says for a timeout of the stream what was waited for.
	Phase Phase
	// Err is the operator's text of an error, a timeout or a stop.
	Err error
}

// Run streams and executes until something ends it. It may be called again with the same turn and another model: what
// the turn has done so far is carried over. No goroutine outlives it but the runs of tools that ignore their context;
// Abandoned counts those.
func (l *Loop) Run(ctx context.Context, t *Turn, a Attempt) Result {
	t.dropFailed()
	e, done := newExchange(ctx, t, a)
	defer done()
	for {
		if end := l.iterate(e); end != nil { //nolint:contextcheck // the exchange carries it
			return t.result(*end, a)
		}
	}
}

// iterate makes one round trip and executes its calls. It returns nil when the model is to be asked again.
func (l *Loop) iterate(e *exchange) *Result {
	t := e.turn
	if e.ctx.Err() != nil {
		return &Result{Status: statusOf(e.ctx), Err: context.Cause(e.ctx)}
	}
	if t.iteration >= l.limits.MaxIterations {
		t.messages = append(t.messages, providers.Message{Role: providers.RoleNote, Content: IterationLimitNote})
		return &Result{Status: store.TurnMaxIterations}
	}
	l.warn(t)
	// Counted whatever comes of it: a model that keeps failing uses up the turn's round trips like one that keeps calling.
	defer func() { t.iteration++ }()
	resp, end := l.stream(e)
	switch {
	case end != nil:
		return end
	case !t.door.close():
		return t.interrupted(resp)
	case len(resp.Calls) == 0:
		return t.settle(resp)
	}
	return l.batch(e, resp)
}

// warn says once in a deliberate turn that it is taking long.
func (l *Loop) warn(t *Turn) {
	if t.iteration < l.limits.SoftWarnIterations || t.warned || !t.Deliberate || t.Notices == nil {
		return
	}
	t.warned = true
	l.guard(t, "notice", t.Notices.StillWorking)
}

// settle decides what an answer without calls means. An empty one after a tool that needed no further word ends the
// turn with what was already shown.
func (t *Turn) settle(resp providers.Response) *Result {
	cut := resp.Finish == providers.FinishLength
	if strings.TrimSpace(resp.Text) != "" {
		t.messages = append(t.messages, providers.Message{
			Role: providers.RoleAssistant, Content: resp.Text, Thinking: resp.Thinking, Stopped: cut,
		})
		return &Result{Status: store.TurnCompleted, Text: resp.Text, CutAtLimit: cut}
	}
	if !cut && t.lastTool != nil && !t.lastTool.NeedsFollowUp && len(t.shown) > 0 {
		return &Result{Status: store.TurnCompleted}
	}
	return &Result{Status: store.TurnEmptyResponse, CutAtLimit: cut}
}

// interrupted keeps the text that was shown and marks it as cut short for a follow-up.
func (t *Turn) interrupted(resp providers.Response) *Result {
	t.keepPartial(resp)
	return &Result{Status: store.TurnFollowUpInterrupt}
}

// keepPartial keeps the text of an iteration that was cut short.
func (t *Turn) keepPartial(resp providers.Response) {
	if strings.TrimSpace(resp.Text) != "" {
		t.partial = true
		t.messages = append(t.messages, providers.Message{
			Role: providers.RoleAssistant, Content: resp.Text, Thinking: resp.Thinking, Stopped: true,
		})
	}
}

// dropFailed forgets the text of an iteration whose attempt failed, before another model tries: people no longer see it.
// Text on history entries stays.
func (t *Turn) dropFailed() {
	if t.partial {
		t.messages = t.messages[:len(t.messages)-1]
		t.shown = t.shown[:len(t.shown)-1]
		t.partial = false
	}
}

// result fills in what every ending carries.
func (t *Turn) result(r Result, a Attempt) Result {
	r.Shown = slices.Clone(t.shown)
	if r.Text == "" && len(t.shown) > 0 {
		r.Text = t.shown[len(t.shown)-1]
	}
	r.Thinking = t.thinking
	r.Messages = slices.Clone(t.messages)
	r.Usage = t.usage
	if r.Model = t.answeredBy; r.Model == "" {
		r.Model = a.Model
	}
	if r.Status == store.TurnCompleted {
		r.StickerID = t.sticker
	}
	return r
}

// statusOf maps what ended a turn's context to the status it means. A context that ended for no reason of ours belongs
// to a caller that went away: the turn was interrupted.
func statusOf(ctx context.Context) store.TurnStatus {
	switch abort.Of(ctx).(type) {
	case abort.Killed, abort.Stopped:
		return store.TurnStoppedByUser
	case abort.TurnTimeout:
		return store.TurnTimeout
	case abort.Gone:
		return store.TurnSkipped
	case abort.Shutdown, nil:
		return store.TurnInterrupted
	}
	return store.TurnInterrupted
}

// SoftWarn is the iteration from which progress lines should mention /kill.
func (l *Loop) SoftWarn() int { return l.limits.SoftWarnIterations }

// ApprovalTimeout is how long a card waits for a decision.
func (l *Loop) ApprovalTimeout() time.Duration { return l.limits.ApprovalTimeout }

// Abandoned is the number of tool runs that outlived their calls and have not ended yet.
func (l *Loop) Abandoned() int { return l.abandoned.total() }

// Wait returns when no abandoned run is left, or with ctx's error. It is for the end of a process.
func (l *Loop) Wait(ctx context.Context) error { return l.abandoned.wait(ctx) }
