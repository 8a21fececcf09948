package toolloop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/store"
)

// Phase is what a stream was waiting for when it timed out.
type Phase string

// The phases.
const (
	PhaseNone       Phase = ""
	PhaseFirstToken Phase = "first_token"
	PhaseIdle       Phase = "idle"
)

// waited is the cause of a stream that stayed silent too long.
type waited struct {
	phase Phase
	after time.Duration
}

// Error says what was waited for and how long.
func (w waited) Error() string {
	if w.phase == PhaseFirstToken {
		return fmt.Sprintf("the model did not begin to answer within %s", w.after)
	}
	return fmt.Sprintf("the model fell silent for %s", w.after)
}

// stream makes one round trip. It returns the whole response, or how the run ends instead. Text is told as it arrives;
// calls count only once the end was seen.
func (l *Loop) stream(e *exchange) (providers.Response, *Result) {
	t := e.turn
	ctx, cancel := context.WithCancelCause(e.ctx)
	defer cancel(nil)
	if !t.door.watch(cancel) {
		return providers.Response{}, &Result{Status: store.TurnFollowUpInterrupt}
	}
	watch := newWatchdog(cancel, l.limits.FirstToken, l.limits.StreamIdle)
	defer watch.stop()
	resp, err := providers.Collect(e.attempt.Provider.Stream(ctx, l.request(e)), func(f providers.Fragment) {
		watch.beat()
		switch f := f.(type) {
		case providers.TextDelta:
			l.notify(t, Delta{Text: f.Text})
		case providers.ThinkingDelta:
			l.notify(t, Thinking{Text: f.Text})
		case providers.ThinkingDone, providers.CallDelta, providers.UsageReport, providers.Beat, providers.End:
		}
	})
	watch.stop()
	t.absorb(resp)
	if err == nil || resp.Usage != (providers.Usage{}) {
		l.notify(t, Used{Usage: resp.Usage, Model: resp.Model, Finish: resp.Finish})
	}
	end := ended(e.ctx, ctx, resp, err)
	if end != nil {
		t.keepPartial(resp)
	}
	return resp, end
}

// absorb keeps what a round trip left behind whatever its end: what people saw, what it cost, what the model thought.
func (t *Turn) absorb(resp providers.Response) {
	t.usage = t.usage.Add(resp.Usage)
	if resp.Model != "" {
		t.answeredBy = resp.Model
	}
	if resp.Thinking != "" {
		t.thinking = resp.Thinking
	}
	if strings.TrimSpace(resp.Text) != "" {
		t.shown = append(t.shown, resp.Text)
	}
}

// ended tells the ends of a stream apart; nil when it ended as a stream should. The turn's own cause comes first, then
// the follow-up, which was promised its place; then a whole answer wins over the watchdog; and nobody guesses from the
// transport's error.
func ended(ctx, sctx context.Context, resp providers.Response, err error) *Result {
	if ctx.Err() != nil {
		return &Result{Status: statusOf(ctx), Err: context.Cause(ctx)}
	}
	cause := context.Cause(sctx)
	if _, ok := errors.AsType[errFollowUp](cause); ok {
		return &Result{Status: store.TurnFollowUpInterrupt}
	}
	if err == nil {
		return finish(resp)
	}
	if w, ok := errors.AsType[waited](cause); ok {
		return &Result{Status: store.TurnTimeout, Phase: w.phase, Err: w}
	}
	return &Result{Status: store.TurnError, Err: err}
}

// finish judges the reason that a whole stream gave for its end.
func finish(resp providers.Response) *Result {
	switch resp.Finish {
	case providers.FinishStop, providers.FinishLength:
		return nil
	case providers.FinishFiltered:
		return &Result{Status: store.TurnError, Err: &providers.Error{
			Kind: providers.KindFiltered, Message: "the answer was stopped by the provider's filter",
		}}
	case providers.FinishError:
		return &Result{Status: store.TurnError, Err: &providers.Error{
			Kind: providers.KindProtocol, Message: "the provider ended the answer with an error: " + resp.RawFinish,
		}}
	case providers.FinishMissing:
		return &Result{Status: store.TurnError, Err: &providers.Error{
			Kind: providers.KindTruncated, Message: "the stream was cut off",
		}}
	}
	return &Result{Status: store.TurnError, Err: fmt.Errorf("unknown end of stream %q", resp.Finish)}
}

// request builds what is sent: the conversation and the turn's exchange so far. Pairing is repaired on this copy only,
// and only on what came since the last request: responses are repaired one by one, so a long chain costs no more per
// round trip than a short one. The wire gets a slice of its own; the calls in it are shared with the next request and
// are not to be changed.
func (l *Loop) request(e *exchange) providers.Request {
	a, t := e.attempt, e.turn
	req := providers.Request{Model: a.Model, System: a.System, MaxOutputTokens: a.MaxOutputTokens, Attempt: t.iteration + 1}
	for _, tool := range l.registry.Offer(t.view(a.Provider.Name()), t.Allow) {
		req.Tools = append(req.Tools, providers.ToolSpec{Name: tool.Name, Description: tool.Description, Schema: tool.Schema})
	}
	gained := providers.Repair(t.messages[e.copied:])
	e.copied = len(t.messages)
	if a.Fit != nil {
		req.Messages = a.Fit(req.Tools, gained)
		return req
	}
	if e.sent == nil {
		e.sent = providers.Repair(a.Messages)
	}
	e.sent = append(e.sent, gained...)
	req.Messages = slices.Clone(e.sent)
	return req
}

// watchdog ends a stream that stays silent: it waits for the first fragment, then for each next one. Fragments only note
// the time; the timer looks at it when it fires, so one that arrives while it fires still counts.
type watchdog struct {
	cancel      context.CancelCauseFunc
	first, idle time.Duration

	mu      sync.Mutex
	timer   *time.Timer
	last    time.Time // zero until something arrived
	stopped bool
}

func newWatchdog(cancel context.CancelCauseFunc, first, idle time.Duration) *watchdog {
	w := &watchdog{cancel: cancel, first: first, idle: idle}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(first, w.fire)
	return w
}

func (w *watchdog) beat() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last.IsZero() {
		w.timer.Reset(w.idle)
	}
	w.last = time.Now()
}

func (w *watchdog) fire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch quiet := time.Since(w.last); {
	case w.stopped:
	case w.last.IsZero():
		w.cancel(waited{phase: PhaseFirstToken, after: w.first})
	case quiet < w.idle:
		w.timer.Reset(w.idle - quiet)
	default:
		w.cancel(waited{phase: PhaseIdle, after: w.idle})
	}
}

func (w *watchdog) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	w.timer.Stop()
}
