package toolloop

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/store"
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
func (l *Loop) stream(ctx context.Context, t *Turn, a Attempt) (providers.Response, *Result) {
	sctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if ctx.Err() != nil {
		return providers.Response{}, &Result{Status: statusOf(ctx), Err: context.Cause(ctx)}
	}
	if !t.door.watch(cancel) {
		return providers.Response{}, &Result{Status: store.TurnFollowUpInterrupt}
	}
	watch := newWatchdog(cancel, l.limits.FirstToken, l.limits.StreamIdle)
	defer watch.stop()
	resp, err := providers.Collect(a.Provider.Stream(sctx, l.request(t, a)), func(f providers.Fragment) {
		watch.beat()
		switch f := f.(type) {
		case providers.TextDelta:
			l.notify(t, Delta{Text: f.Text})
		case providers.ThinkingDelta:
			l.notify(t, Thinking{Text: f.Text})
		case providers.CallDelta, providers.UsageReport, providers.Beat, providers.End:
		}
	})
	watch.stop()
	t.absorb(resp)
	if resp.Usage != (providers.Usage{}) {
		l.notify(t, Used{Usage: resp.Usage, Model: resp.Model})
	}
	if end := ended(ctx, sctx, t, resp, err); end != nil {
		return resp, end
	}
	return resp, nil
}

// absorb keeps what a round trip left behind whatever its end: what people saw, what it cost, what the model thought.
func (t *Turn) absorb(resp providers.Response) {
	t.usage = t.usage.Add(resp.Usage)
	if resp.Thinking != "" {
		t.thinking = resp.Thinking
	}
	if strings.TrimSpace(resp.Text) != "" {
		t.shown = append(t.shown, resp.Text)
	}
}

// ended tells the ends of a stream apart. The turn's own cause comes first, then the follow-up, then the watchdog: who
// came first ended the stream, and nobody guesses from the transport's error.
func ended(ctx, sctx context.Context, t *Turn, resp providers.Response, err error) *Result {
	if ctx.Err() != nil {
		t.keepPartial(resp)
		return &Result{Status: statusOf(ctx), Err: context.Cause(ctx)}
	}
	if _, ok := errors.AsType[errFollowUp](context.Cause(sctx)); ok {
		t.keepPartial(resp)
		return &Result{Status: store.TurnFollowUpInterrupt}
	}
	if end := fault(sctx, resp, err); end != nil {
		t.keepPartial(resp)
		return end
	}
	return nil
}

// fault says how a stream failed, or nil when it ended as a stream should.
func fault(sctx context.Context, resp providers.Response, err error) *Result {
	if w, ok := errors.AsType[waited](context.Cause(sctx)); ok {
		return &Result{Status: store.TurnTimeout, Phase: w.phase, Err: w}
	}
	if err != nil {
		return &Result{Status: store.TurnError, Err: err}
	}
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

// request builds what is sent: the conversation, the turn's exchange so far, and what restarts added. Pairing is
// repaired on this copy only.
func (l *Loop) request(t *Turn, a Attempt) providers.Request {
	messages := make([]providers.Message, 0, len(a.Messages)+len(t.messages))
	messages = append(messages, a.Messages...)
	messages = append(messages, t.messages...)
	req := providers.Request{
		Model: a.Model, System: a.System, Messages: providers.Repair(messages), MaxOutputTokens: a.MaxOutputTokens,
		Attempt: t.iteration + 1,
	}
	for _, tool := range l.registry.Offer(t.view(a.Provider.Name()), t.Allow) {
		req.Tools = append(req.Tools, providers.ToolSpec{Name: tool.Name, Description: tool.Description, Schema: tool.Schema})
	}
	return req
}

// watchdog ends a stream that stays silent: it waits for the first fragment, then for each next one.
type watchdog struct {
	timer *time.Timer
	idle  time.Duration
	began atomic.Bool
}

func newWatchdog(cancel context.CancelCauseFunc, first, idle time.Duration) *watchdog {
	w := &watchdog{idle: idle}
	w.timer = time.AfterFunc(first, func() {
		if w.began.Load() {
			cancel(waited{phase: PhaseIdle, after: idle})
			return
		}
		cancel(waited{phase: PhaseFirstToken, after: first})
	})
	return w
}

func (w *watchdog) beat() {
	w.began.Store(true)
	w.timer.Reset(w.idle)
}

func (w *watchdog) stop() { w.timer.Stop() }
