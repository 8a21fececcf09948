package toolloop

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
)

// timedOut is the cause of a call that ran out of its own time.
type timedOut struct{ after time.Duration }

func (t timedOut) Error() string { return "timed out after " + t.after.String() }

// abandonedRuns counts, per tool, the runs that outlived their calls. It is safe for concurrent use.
type abandonedRuns struct {
	mu    sync.Mutex
	count map[string]int
	sum   int
}

func (a *abandonedRuns) add(tool string, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.count == nil {
		a.count = map[string]int{}
	}
	a.sum += n
	if a.count[tool] += n; a.count[tool] == 0 {
		delete(a.count, tool)
	}
}

func (a *abandonedRuns) of(tool string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.count[tool]
}

func (a *abandonedRuns) total() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sum
}

// dispatch journals the intent and races the tool against its own timeout and the turn. The reason is CallReasonNone
// for whatever the tool itself answered.
func (l *Loop) dispatch(x *execution) (registry.Result, store.CallReason) {
	if n := l.abandoned.of(x.name); n >= MaxAbandoned {
		return registry.Result{Error: fmt.Sprintf("unavailable: %d earlier runs of this tool have not ended; do not retry it this turn", n)},
			store.CallReasonUnavailable
	}
	if res, ok := l.intend(x); !ok {
		return res, store.CallReasonUnavailable
	}
	ctx, cancel := context.WithTimeoutCause(x.ctx, l.limits.ToolTimeout, timedOut{after: l.limits.ToolTimeout})
	defer cancel()
	x.context.Deadline, _ = ctx.Deadline()
	x.dispatched = true
	r := &run{done: make(chan finished, 1)}
	l.runs.Go(func() { l.runTool(ctx, r, x.tool, x.context, x.args) })
	select {
	case f := <-r.done:
		return f.result, f.reason
	case <-ctx.Done():
	}
	if !r.abandon(func() { l.abandoned.add(x.name, 1) }) { // it ended at the same moment
		f := <-r.done
		return f.result, f.reason
	}
	if t, ok := context.Cause(ctx).(timedOut); ok { //nolint:errorlint // our own cause, never wrapped
		l.log.Warn().Str("turn", x.turn.ID).Str("tool", x.name).Msg("tool.timed_out")
		return registry.Result{Error: t.Error()}, store.CallReasonTimedOut
	}
	return registry.Result{Error: "stopped"}, store.CallReasonStopped
}

// intend writes the journal row that says what is about to run. Without it a tool that changes something is not run.
func (l *Loop) intend(x *execution) (registry.Result, bool) {
	err := l.journal.OpenCall(x.ctx, store.Call{
		TurnID: x.turn.ID, Key: x.call.Key, Iteration: x.turn.iteration, Tool: x.name, Arguments: string(x.args),
		Status: store.CallRunning, StartedAt: x.started,
	})
	if err == nil {
		x.opened = true
		return registry.Result{}, true
	}
	l.log.Error().Err(err).Str("turn", x.turn.ID).Str("tool", x.name).Bool("read_only", x.tool.ReadOnly).
		Msg("journal.open_failed")
	if x.tool.ReadOnly {
		return registry.Result{}, true
	}
	return registry.Result{Error: "the journal is unavailable, so nothing was executed"}, false
}

// run is one run of a tool. Whoever comes first, its end or its abandonment, decides.
type run struct {
	mu        sync.Mutex
	ended     bool
	abandoned bool
	done      chan finished
}

type finished struct {
	result registry.Result
	reason store.CallReason
}

// abandon marks the run as left behind; false when it had ended.
func (r *run) abandon(then func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return false
	}
	r.abandoned = true
	then()
	return true
}

// end hands over the result; false when the run had been abandoned and its result is late.
func (r *run) end(f finished) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	r.done <- f
	return !r.abandoned
}

// runTool is the tool's own goroutine. A panic becomes a failure; its text goes to the log only.
func (l *Loop) runTool(ctx context.Context, r *run, tool *registry.Tool, tc registry.ToolContext, args json.RawMessage) {
	started := time.Now()
	f := l.guarded(ctx, tool, tc, args)
	if !r.end(f) {
		l.abandoned.add(tool.Name, -1)
		l.log.Warn().Str("turn", tc.TurnID).Str("tool", tool.Name).Bool("success", f.result.Success).
			Dur("after", time.Since(started)).Msg("tool.late_result_dropped")
	}
}

func (l *Loop) guarded(ctx context.Context, tool *registry.Tool, tc registry.ToolContext, args json.RawMessage) (f finished) {
	defer func() {
		if p := recover(); p != nil {
			l.log.Error().Str("turn", tc.TurnID).Str("tool", tool.Name).Interface("panic", p).
				Bytes("stack", debug.Stack()).Msg("tool.panicked")
			f = finished{registry.Result{Error: "the tool failed unexpectedly"}, store.CallReasonPanicked}
		}
	}()
	return finished{tool.Run(ctx, tc, args), store.CallReasonNone}
}
