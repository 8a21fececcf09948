// Package toolloop runs one turn's exchange with a model: it streams an answer, executes the calls of that answer one by
// one in a fixed order of checks, and repeats until the model answers without calls, an outcome ends the turn or a limit
// does. It knows neither Discord nor SQL nor any vendor.
//
// The stages are files: loop.go (the cycle), stream.go (one round trip), execute.go (the fixed order of checks),
// approve.go (asking a person), dispatch.go (the race against timeout and kill), record.go (history entries) and
// result.go (what the model is given).
package toolloop

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"github.com/parleybot/parley/internal/abort"
	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
)

// IterationLimitNote is the local note that ends a transcript at the iteration limit; it is never sent.
const IterationLimitNote = "stopped: tool loop iteration limit reached"

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
	runs      sync.WaitGroup
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
	Usage    providers.Usage
	Model    string
	// CutAtLimit: the last answer ended at the output limit.
	CutAtLimit bool
	// Phase says for a timeout what was waited for.
	Phase Phase
	// Err is the operator's text of an error or timeout.
	Err error
}

// Phase is what a stream was waiting for when it timed out.
type Phase string

// The phases.
const (
	PhaseNone       Phase = ""
	PhaseFirstToken Phase = "first_token"
	PhaseIdle       Phase = "idle"
)

// Run streams and executes until something ends it. It may be called again with the same turn and another model: what
// the turn has done so far is carried over.
func (l *Loop) Run(ctx context.Context, t *Turn, a Attempt) Result {
	t.dropFailed()
	for {
		if t.iteration >= l.limits.MaxIterations {
			t.messages = append(t.messages, providers.Message{Role: providers.RoleNote, Content: IterationLimitNote})
			return l.result(t, Result{Status: store.TurnMaxIterations})
		}
		if t.iteration == l.limits.SoftWarnIterations && !t.warned && t.Deliberate && t.Notices != nil {
			t.warned = true
			t.Notices.StillWorking()
		}
		resp, end := l.stream(ctx, t, a)
		if end != nil {
			t.iteration++
			return l.result(t, *end)
		}
		if len(resp.Calls) == 0 {
			return l.result(t, l.settle(t, resp))
		}
		if !t.door.close() {
			return l.result(t, interrupted(t, resp))
		}
		if end := l.batch(ctx, t, a, resp); end != nil {
			return l.result(t, *end)
		}
		t.iteration++
	}
}

// settle decides what an answer without calls means. An empty one after a tool that needed no further word ends the
// turn with what was already shown.
func (l *Loop) settle(t *Turn, resp providers.Response) Result {
	if !t.door.close() {
		return interrupted(t, resp)
	}
	cut := resp.Finish == providers.FinishLength
	if strings.TrimSpace(resp.Text) != "" {
		t.messages = append(t.messages, providers.Message{
			Role: providers.RoleAssistant, Content: resp.Text, Thinking: resp.Thinking, Stopped: cut,
		})
		return Result{Status: store.TurnCompleted, Text: resp.Text, CutAtLimit: cut}
	}
	if !cut && t.lastTool != nil && !t.lastTool.NeedsFollowUp && len(t.shown) > 0 {
		return Result{Status: store.TurnCompleted, Text: t.shown[len(t.shown)-1]}
	}
	return Result{Status: store.TurnEmptyResponse, CutAtLimit: cut}
}

// interrupted keeps the text that was shown and marks it as cut short for a follow-up.
func interrupted(t *Turn, resp providers.Response) Result {
	t.keepPartial(resp)
	return Result{Status: store.TurnFollowUpInterrupt}
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

// batch executes the calls of one response in order. It returns nil when the model is to be asked again.
func (l *Loop) batch(ctx context.Context, t *Turn, a Attempt, resp providers.Response) *Result {
	b := &batch{resp: resp, calls: slices.Clone(resp.Calls)}
	for i := range b.calls {
		c := &b.calls[i]
		c.Key = t.nextKey()
		l.notify(t, ToolCall{Key: c.Key, Tool: l.registry.Canonical(c.Name), Arguments: shownArguments(c), Iteration: t.iteration})
	}
	var end *Result
	for i := range b.calls {
		if end = l.step(ctx, t, a, b, i); end != nil || b.stopped {
			l.notRun(ctx, t, b.calls[i+1:])
			break
		}
	}
	b.append(t)
	if end == nil && b.settles(t) {
		end = &Result{Status: store.TurnCompleted, Text: b.resp.Text}
	}
	return end
}

// step executes one call of a batch and applies its outcome; the order is fixed: append, error cap, end of turn.
func (l *Loop) step(ctx context.Context, t *Turn, a Attempt, b *batch, i int) *Result {
	var out Outcome
	if i >= MaxCallsPerResponse {
		out = l.refuseSurplus(ctx, t, b, &b.calls[i])
	} else {
		out = l.execute(ctx, t, a, b, &b.calls[i])
	}
	switch o := out.(type) {
	case Restart:
		t.failures = 0
		b.restarted = append(b.restarted, b.calls[i].Key)
		b.stopped = true
		return nil
	case Abort:
		if o.Entry != nil {
			b.record(t, *o.Entry)
		}
		return &Result{Status: o.Status, Err: o.Err}
	case History:
		b.record(t, o.Entry)
		t.applySticker(o.Sticker)
		b.unsettled = b.unsettled || !o.settles
		return l.count(t, b, o)
	default:
		return &Result{Status: store.TurnError, Err: errors.New("unknown outcome of a call")}
	}
}

// count applies the error cap and the end of the turn to a recorded call.
func (l *Loop) count(t *Turn, b *batch, o History) *Result {
	switch {
	case o.Success:
		t.failures = 0
	case !o.uncounted:
		t.failures++
		if t.failures >= l.limits.MaxConsecutiveErrors {
			return &Result{Status: store.TurnError, Err: ErrTooManyFailures}
		}
	}
	if o.EndTurn {
		return &Result{Status: store.TurnCompleted, Text: b.resp.Text}
	}
	return nil
}

// ErrTooManyFailures is the error of a turn whose tools keep failing.
var ErrTooManyFailures = errors.New("too many consecutive tool failures")

func (t *Turn) applySticker(c StickerChange) {
	switch c := c.(type) {
	case StickerSelected:
		t.sticker = c.ID
	case StickerCleared:
		t.sticker = ""
	case StickerUntouched:
	}
}

// statusOf maps what ended a turn's context to the status it means. A context that ended for no reason of ours belongs
// to a caller that went away: the turn was interrupted.
func statusOf(ctx context.Context) store.TurnStatus {
	switch abort.Of(ctx).(type) {
	case abort.Killed, abort.Stopped:
		return store.TurnStoppedByUser
	case abort.TurnTimeout:
		return store.TurnTimeout
	case abort.Shutdown, nil:
		return store.TurnInterrupted
	}
	return store.TurnInterrupted
}

// result fills in what every ending carries.
func (l *Loop) result(t *Turn, r Result) Result {
	r.Shown = slices.Clone(t.shown)
	if r.Text == "" && len(t.shown) > 0 {
		r.Text = t.shown[len(t.shown)-1]
	}
	r.Thinking = t.thinking
	r.Messages = slices.Clone(t.messages)
	r.Usage = t.usage
	if r.Status == store.TurnCompleted {
		r.StickerID = t.sticker
	}
	return r
}

// Wait returns when no run of any tool is left, or with ctx's error. It is for the end of a process: until then
// abandoned runs are allowed to go on.
func (l *Loop) Wait(ctx context.Context) error {
	done := make(chan struct{})
	go func() { l.runs.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// SoftWarn is the iteration from which progress lines should mention /kill.
func (l *Loop) SoftWarn() int { return l.limits.SoftWarnIterations }

// Abandoned is the number of tool runs that outlived their calls and have not ended yet.
func (l *Loop) Abandoned() int { return l.abandoned.total() }
