package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/parleybot/parley/store"
)

const callColumns = `turn_id, call_key, iteration, tool, arguments, status, reason, result, started_at, finished_at`

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
	_, err := db.write.one(ctx, `INSERT INTO calls (`+callColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		c.TurnID, c.Key, c.Iteration, c.Tool, c.Arguments, c.Status, c.Reason, c.Result, c.StartedAt, c.FinishedAt)
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
	// One statement tells a closed row (matched, left as it is) from a missing one: the usual case costs no second look.
	matched, err := db.write.one(ctx, `UPDATE calls SET
			status      = iif(status = 'running', ?1, status),
			reason      = iif(status = 'running', ?2, reason),
			result      = iif(status = 'running', ?3, result),
			finished_at = iif(status = 'running', ?4, finished_at)
		WHERE turn_id = ?5 AND call_key = ?6`, c.Status, c.Reason, c.Result, c.FinishedAt, c.TurnID, c.Key)
	if err == nil && matched == 0 {
		err = store.ErrNotFound
	}
	return db.fail(ctx, doing, err)
}

// Calls implements store.Journal.
func (db *DB) Calls(ctx context.Context, turnID string) ([]store.Call, error) {
	var calls []store.Call
	err := db.read.query(ctx, `SELECT `+callColumns+` FROM calls WHERE turn_id = ? ORDER BY seq`, args{turnID}, collectCalls(&calls))
	return calls, db.fail(ctx, "read calls of turn "+turnID, err)
}

// Sweep implements store.Journal.
func (db *DB) Sweep(ctx context.Context, at time.Time) (turns []store.Turn, calls []store.Call, err error) {
	err = db.write.transact(ctx, func(ctx context.Context) error {
		err := db.write.query(ctx, `UPDATE calls SET status = 'error', reason = 'interrupted', finished_at = ?
			WHERE status = 'running' RETURNING `+callColumns, args{at}, collectCalls(&calls))
		if err != nil {
			return err
		}
		return db.write.query(ctx, `UPDATE turns SET status = 'interrupted', finished_at = ?
			WHERE status = 'running' RETURNING `+turnColumns, args{at}, func(r row) error {
			t, err := scanTurn(r)
			turns = append(turns, t)
			return err
		})
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

func collectCalls(into *[]store.Call) func(row) error {
	return func(r row) error {
		var (
			c                 store.Call
			started, finished instant
		)
		err := r.Scan(&c.TurnID, &c.Key, &c.Iteration, &c.Tool, &c.Arguments, &c.Status, &c.Reason, &c.Result, &started, &finished)
		c.StartedAt, c.FinishedAt = started.Time, finished.Time
		*into = append(*into, c)
		return err
	}
}
