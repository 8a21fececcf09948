package sqlite

import (
	"context"
	"encoding/json"
	"math"
	"time"

	"github.com/parleybot/parley/store"
)

// pruneBatch is how many records one step removes at most: others that write wait for one step, not for all.
const pruneBatch = 100

// Prune implements store.Pruner. The file keeps its size; what is freed in it is used again.
func (db *DB) Prune(ctx context.Context, keep store.Retention, now time.Time) (store.Erased, error) {
	const doing = "prune"
	erased := make(store.Erased)
	if err := db.pruneTurns(ctx, keep, now, erased); err != nil {
		return erased, db.fail(ctx, doing, err)
	}
	ledgers := store.Before(now, keep.Ledgers)
	for _, step := range []eraseStep{
		{store.KindApprovals, `DELETE FROM approvals WHERE token IN (SELECT token FROM approvals
			WHERE status <> 'open' AND decided_at < ? ORDER BY decided_at LIMIT ?)`, args{store.Before(now, keep.Turns), pruneBatch}},
		{store.KindShortTerm, `DELETE FROM short_term WHERE (channel_id, category) IN (SELECT channel_id, category FROM short_term
			WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`, args{now, pruneBatch}},
		{store.KindUsage, `DELETE FROM usage_ledger WHERE (turn_id, model) IN (SELECT turn_id, model FROM usage_ledger
			WHERE at < ? ORDER BY at LIMIT ?)`, args{ledgers, pruneBatch}},
		{store.KindAudit, `DELETE FROM audit_log WHERE id IN (SELECT id FROM audit_log WHERE at < ? ORDER BY at LIMIT ?)`, args{ledgers, pruneBatch}},
	} {
		for {
			n, err := db.write.one(ctx, step.text, step.values...)
			if err != nil {
				return erased, db.fail(ctx, doing, err)
			}
			erased.Add(step.kind, int(n))
			if n < pruneBatch {
				break
			}
		}
	}
	return erased, nil
}

func (db *DB) pruneTurns(ctx context.Context, keep store.Retention, now time.Time, erased store.Erased) error {
	newest := math.MaxInt32
	if keep.TurnsPerChannel > 0 {
		newest = keep.TurnsPerChannel
	}
	for channel := ""; ; {
		found := false
		err := db.read.query(ctx, `SELECT channel_id FROM turns WHERE status <> 'running' AND channel_id > ?
			ORDER BY channel_id LIMIT 1`, args{channel}, func(r row) error { found = true; return r.Scan(&channel) })
		if err != nil || !found {
			return err
		}
		for {
			var old []string
			err := db.read.query(ctx, `SELECT id FROM (SELECT id FROM turns WHERE channel_id = ?1 AND status <> 'running'
					ORDER BY started_at DESC, rowid DESC LIMIT ?3 OFFSET ?2)
				UNION SELECT id FROM (SELECT id FROM turns WHERE channel_id = ?1 AND status <> 'running' AND started_at < ?4
					ORDER BY started_at LIMIT ?3)`, args{channel, newest, pruneBatch, store.Before(now, keep.Turns)}, func(r row) error {
				var id string
				err := r.Scan(&id)
				old = append(old, id)
				return err
			})
			if err != nil {
				return err
			}
			if len(old) == 0 {
				break
			}
			list, err := json.Marshal(old)
			if err != nil {
				return err
			}
			ids := args{json.RawMessage(list)}
			err = db.write.transact(ctx, func(ctx context.Context) error {
				return db.eraseSteps(ctx, erased, []eraseStep{
					{store.KindCalls, `DELETE FROM calls WHERE turn_id IN (SELECT value FROM json_each(?))`, ids},
					{store.KindTurns, `DELETE FROM turns WHERE status <> 'running' AND id IN (SELECT value FROM json_each(?))`, ids},
				})
			})
			if err != nil {
				return err
			}
		}
	}
}
