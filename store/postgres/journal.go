package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/store/postgres/queries"
)

// OpenCall implements store.Journal.
func (db *DB) OpenCall(ctx context.Context, c store.Call) error {
	if c.Status == "" {
		c.Status = store.CallRunning
	}
	if c.StartedAt.IsZero() {
		c.StartedAt = db.now()
	}
	switch {
	case c.Status == store.CallRunning:
		c.FinishedAt = time.Time{}
	case c.FinishedAt.IsZero():
		c.FinishedAt = c.StartedAt
	}
	return db.fail(ctx, "open call "+c.Key, db.ask.OpenCall(ctx, queries.OpenCallParams{
		TurnID: c.TurnID, CallKey: c.Key, Iteration: c.Iteration, Tool: c.Tool, Arguments: c.Arguments, Status: c.Status,
		Reason: c.Reason, Result: c.Result, StartedAt: c.StartedAt, FinishedAt: moment(c.FinishedAt),
	}))
}

// CloseCall implements store.Journal.
func (db *DB) CloseCall(ctx context.Context, c store.Call) error {
	doing := "close call " + c.Key
	if c.Status != store.CallDone && c.Status != store.CallError {
		return db.fail(ctx, doing, fmt.Errorf("%w: it would end as %q", store.ErrInvalid, c.Status))
	}
	if c.FinishedAt.IsZero() {
		c.FinishedAt = db.now()
	}
	found, err := db.ask.CloseCall(ctx, queries.CloseCallParams{
		TurnID: c.TurnID, CallKey: c.Key, ProcessID: db.presence.number, Status: c.Status, Reason: c.Reason, Result: c.Result,
		FinishedAt: moment(c.FinishedAt),
	})
	if err == nil && len(found) == 0 {
		err = store.ErrNotFound
	}
	return db.fail(ctx, doing, err)
}

// Calls implements store.Journal.
func (db *DB) Calls(ctx context.Context, turnID string) ([]store.Call, error) {
	calls, err := db.ask.CallsOfTurn(ctx, turnID)
	return each(calls, callOf), db.fail(ctx, "read calls of turn "+turnID, err)
}

// Sweep implements store.Journal. What another process that lives is running is left alone.
func (db *DB) Sweep(ctx context.Context, at time.Time) (turns []store.Turn, calls []store.Call, err error) {
	err = db.transact(ctx, pgx.TxOptions{}, func(ask *queries.Queries, _ pgx.Tx) error {
		gone, err := ask.GoneProcesses(ctx, queries.GoneProcessesParams{This: db.presence.number, Space: lockSpace})
		if err != nil {
			return err
		}
		interrupted, err := ask.InterruptCalls(ctx, queries.InterruptCallsParams{At: at, Gone: gone})
		if err != nil {
			return err
		}
		ended, err := ask.InterruptTurns(ctx, queries.InterruptTurnsParams{At: at, Gone: gone})
		turns, calls = each(ended, turnOf), each(interrupted, callOf)
		return err
	})
	if err != nil {
		return nil, nil, db.fail(ctx, "sweep the journal", err)
	}
	// RETURNING promises no order.
	slices.SortStableFunc(turns, func(a, b store.Turn) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.ID, b.ID))
	})
	slices.SortStableFunc(calls, func(a, b store.Call) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.TurnID, b.TurnID), cmp.Compare(a.Key, b.Key))
	})
	return turns, calls, nil
}

func callOf(c queries.Call) store.Call {
	return store.Call{
		TurnID: c.TurnID, Key: c.CallKey, Iteration: c.Iteration, Tool: c.Tool, Arguments: c.Arguments, Status: c.Status,
		Reason: c.Reason, Result: c.Result, StartedAt: c.StartedAt.UTC(), FinishedAt: instant(c.FinishedAt),
	}
}
