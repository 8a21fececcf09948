package toolloop

import (
	"context"
	"errors"
	"time"

	"github.com/parleybot/parley/internal/abort"
	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
)

// intend writes the journal row that says what is about to run. Without it a tool that changes something is not run.
func (l *Loop) intend(x *execution) (registry.Result, bool) {
	x.opened = true // even if the answer is an error: the row may be there
	err := x.write(func(ctx context.Context) error {
		return l.journal.OpenCall(ctx, store.Call{
			TurnID: x.turn.ID, Key: x.call.Key, Iteration: x.turn.iteration, Tool: x.name, Arguments: x.shownArguments(),
			Status: store.CallRunning, StartedAt: x.started,
		})
	})
	if err == nil {
		return registry.Result{}, true
	}
	l.log.Error().Err(err).Str("turn", x.turn.ID).Str("tool", x.name).Bool("read_only", x.tool.ReadOnly).
		Msg("journal.open_failed")
	if x.tool.ReadOnly {
		return registry.Result{}, true
	}
	return registry.Result{Message: "the journal is unavailable, so nothing was executed"}, false
}

// end closes a call, once, on every path: the row is written although the turn may have ended, and the observer's event
// is made ready.
func (l *Loop) end(x *execution, s store.CallStatus, why store.CallReason, result string) {
	now := time.Now()
	if x.started.IsZero() {
		x.started = now
	}
	row := store.Call{
		TurnID: x.turn.ID, Key: x.call.Key, Iteration: x.turn.iteration, Tool: x.name, Arguments: x.shownArguments(),
		Status: s, Reason: why, Result: cut(result, l.limits.ResultMaxBytes), StartedAt: x.started, FinishedAt: now,
	}
	x.ended = ToolResult{
		Key: row.Key, Tool: row.Tool, Iteration: row.Iteration, Status: s, Reason: why, Result: row.Result,
		Duration: now.Sub(x.started),
	}
	if err := x.write(func(ctx context.Context) error { return l.closeRow(ctx, row, x.opened) }); err != nil {
		l.log.Error().Err(err).Str("turn", x.turn.ID).Str("tool", row.Tool).Msg("journal.close_failed")
	}
}

// closeRow closes a row that was opened, or writes it closed when the opening never arrived.
func (l *Loop) closeRow(ctx context.Context, row store.Call, opened bool) error {
	if opened {
		if err := l.journal.CloseCall(ctx, row); !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return l.journal.OpenCall(ctx, row)
}

// shownArguments is what events and the journal may show of a call's arguments: nothing of a truncated one.
func (x *execution) shownArguments() string {
	if x.call.State == providers.Truncated {
		return "{}"
	}
	return x.call.Arguments
}

// stopReason says for a call what the end of its turn means.
func stopReason(ctx context.Context) store.CallReason {
	switch abort.Of(ctx).(type) {
	case abort.Killed, abort.Stopped, abort.Gone:
		return store.CallReasonStopped
	case abort.TurnTimeout:
		return store.CallReasonTimedOut
	case abort.Shutdown, nil:
		return store.CallReasonInterrupted
	}
	return store.CallReasonInterrupted
}
