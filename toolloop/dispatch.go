package toolloop

import (
	"bytes"
	"context"
	"errors"
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

// finished is how a run of a tool ended; the reason is CallReasonNone for whatever the tool itself answered.
type finished struct {
	result registry.Result
	reason store.CallReason
}

// dispatch journals the intent and races the tool against its own timeout and the turn.
func (l *Loop) dispatch(x *execution) finished {
	if n := l.abandoned.of(x.name); n >= MaxAbandoned {
		return finished{registry.Result{Message: fmt.Sprintf(
			"%s is unavailable: %d earlier runs of it have not ended; do not retry it this turn", x.name, n)}, store.CallReasonUnavailable}
	}
	res, ok := l.intend(x)
	if x.ctx.Err() != nil { // stopped while the intent was written: nothing was started
		return finished{registry.Result{Message: "stopped before it ran"}, store.CallReasonNone}
	}
	if !ok {
		return finished{res, store.CallReasonUnavailable}
	}
	x.dispatched = true
	x.turn.outside = x.turn.outside || x.tool.Outside
	return l.race(x)
}

// race runs the tool in its own goroutine, since it may ignore its context. Whoever comes first decides: its end, its
// timeout or the end of the turn.
func (l *Loop) race(x *execution) finished {
	ctx, cancel := context.WithTimeoutCause(x.ctx, l.limits.ToolTimeout, timedOut{after: l.limits.ToolTimeout})
	defer cancel()
	x.tc.Deadline, _ = ctx.Deadline()
	r := &run{done: make(chan finished, 1)}
	// The tool gets its own copy of the bytes: what is replayed and journalled must not change under an abandoned run.
	go l.runTool(ctx, r, x.tool, x.tc, bytes.Clone(x.args))
	var f finished
	select {
	case f = <-r.done:
	case <-ctx.Done():
		if r.abandon(func() { l.abandoned.add(x.name, 1) }) {
			f.result.Error = "stopped"
		} else {
			f = <-r.done // it ended at the same moment
		}
	}
	if late, ok := errors.AsType[timedOut](context.Cause(ctx)); ok && !f.result.Success {
		l.log.Warn().Str("turn", x.turn.ID).Str("tool", x.name).Msg("tool.timed_out")
		return finished{registry.Result{Error: late.Error()}, store.CallReasonTimedOut}
	}
	return f
}

// run is one run of a tool. Whoever comes first, its end or its abandonment, decides.
type run struct {
	mu        sync.Mutex
	ended     bool
	abandoned bool
	done      chan finished
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
	r.done <- f // buffered, and sent once
	return !r.abandoned
}

// runTool is the tool's own goroutine. It always ends the run, also when the tool panics or ends its goroutine.
func (l *Loop) runTool(ctx context.Context, r *run, tool *registry.Tool, tc registry.ToolContext, args []byte) {
	started := time.Now()
	f := finished{registry.Result{Error: "the tool failed unexpectedly"}, store.CallReasonPanicked}
	defer func() {
		if p := recover(); p != nil { // its text goes to the log only
			l.log.Error().Str("turn", tc.TurnID).Str("tool", tool.Name).Str("panic", fmt.Sprint(p)).
				Bytes("stack", debug.Stack()).Msg("tool.panicked")
		}
		if !r.end(f) {
			l.log.Warn().Str("turn", tc.TurnID).Str("tool", tool.Name).Bool("success", f.result.Success).
				Dur("after", time.Since(started)).Msg("tool.late_result_dropped")
			l.abandoned.add(tool.Name, -1)
		}
	}()
	f = finished{tool.Run(ctx, tc, args), store.CallReasonNone}
}

// abandonedRuns counts, per tool, the runs that outlived their calls. It is safe for concurrent use.
type abandonedRuns struct {
	mu    sync.Mutex
	count map[string]int
	sum   int
	// none is closed when sum falls to 0; nil while nobody waits for that.
	none chan struct{}
}

func (a *abandonedRuns) add(tool string, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.count == nil {
		a.count = map[string]int{}
	}
	if a.count[tool] += n; a.count[tool] == 0 {
		delete(a.count, tool)
	}
	if a.sum += n; a.sum == 0 && a.none != nil {
		close(a.none)
		a.none = nil
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

func (a *abandonedRuns) wait(ctx context.Context) error {
	a.mu.Lock()
	if a.sum == 0 {
		a.mu.Unlock()
		return nil
	}
	if a.none == nil {
		a.none = make(chan struct{})
	}
	none := a.none
	a.mu.Unlock()
	select {
	case <-none:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
