package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/parleybot/parley/store"
)

const callColumns = `calls.turn_id, calls.call_key, calls.iteration, calls.tool, calls.arguments, calls.status, calls.reason, calls.result,
	calls.started_at, calls.finished_at`

// gone is the processes whose work is left: this one, which asks before it begins any, and those whose lock is free. The
// lock is taken until the transaction ends, so of two processes that ask at once one gets what a third has left.
const gone = `left_by AS MATERIALIZED (
		SELECT process_id FROM turns WHERE status = 'running'
		UNION SELECT process_id FROM waiting_triggers
		UNION SELECT turns.process_id FROM calls JOIN turns ON turns.id = calls.turn_id WHERE calls.status = 'running'
	), gone AS MATERIALIZED (
		SELECT process_id FROM left_by WHERE process_id = @process OR pg_try_advisory_xact_lock(@space, process_id)
	)`

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
	_, err := exec(ctx, db.pool, `
		INSERT INTO calls (turn_id, call_key, iteration, tool, arguments, status, reason, result, started_at, finished_at)
		VALUES (@turn, @key, @iteration, @tool, @arguments, @status, @reason, @result, @started, @finished)`,
		args{
			"turn": c.TurnID, "key": c.Key, "iteration": c.Iteration, "tool": c.Tool, "arguments": c.Arguments,
			"status": c.Status, "reason": c.Reason, "result": c.Result, "started": c.StartedAt, "finished": c.FinishedAt,
		})
	return db.fail(ctx, "open call "+c.Key, err)
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
	// One statement tells a closed row (found, left as it is) from a missing one: the usual case costs no second look.
	found, err := query(ctx, db.pool, `
		WITH closed AS (
			UPDATE calls SET status = @status, reason = @reason, result = @result, finished_at = @finished
			WHERE turn_id = @turn AND call_key = @key AND status = 'running'
		)
		SELECT true FROM calls WHERE turn_id = @turn AND call_key = @key`,
		args{
			"status": c.Status, "reason": c.Reason, "result": c.Result, "finished": c.FinishedAt, "turn": c.TurnID, "key": c.Key,
		}, pgx.RowTo[bool])
	if err == nil && len(found) == 0 {
		err = store.ErrNotFound
	}
	return db.fail(ctx, doing, err)
}

// Calls implements store.Journal.
func (db *DB) Calls(ctx context.Context, turnID string) ([]store.Call, error) {
	calls, err := query(ctx, db.pool, `SELECT `+callColumns+` FROM calls WHERE turn_id = @turn ORDER BY seq`, args{"turn": turnID}, readCall)
	return calls, db.fail(ctx, "read calls of turn "+turnID, err)
}

// Sweep implements store.Journal. What another process that lives is running is left alone.
func (db *DB) Sweep(ctx context.Context, at time.Time) (turns []store.Turn, calls []store.Call, err error) {
	err = pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
		processes, err := query(ctx, tx, `WITH `+gone+` SELECT process_id FROM gone`,
			args{"process": db.presence.number, "space": int32(lockSpace)}, pgx.RowTo[int32])
		if err != nil {
			return err
		}
		calls, err = query(ctx, tx, `
			UPDATE calls SET status = 'error', reason = 'interrupted', finished_at = @at
			FROM turns WHERE turns.id = calls.turn_id AND turns.process_id = ANY (@gone) AND calls.status = 'running'
			RETURNING `+callColumns, args{"at": at, "gone": processes}, readCall)
		if err != nil {
			return err
		}
		turns, err = query(ctx, tx, `
			UPDATE turns SET status = 'interrupted', finished_at = @at
			WHERE status = 'running' AND process_id = ANY (@gone)
			RETURNING `+turnColumns, args{"at": at, "gone": processes}, readTurn)
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

func readCall(row pgx.CollectableRow) (store.Call, error) {
	var (
		c        store.Call
		finished *time.Time
	)
	err := row.Scan(&c.TurnID, &c.Key, &c.Iteration, &c.Tool, &c.Arguments, &c.Status, &c.Reason, &c.Result, &c.StartedAt, &finished)
	c.StartedAt, c.FinishedAt = c.StartedAt.UTC(), instant(finished)
	return c, err
}
