package postgres

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/store/postgres/queries"
)

const (
	// pruneChannels is how many channels one step looks at, pruneBatch how many records it removes at most.
	pruneChannels = 100
	pruneBatch    = 500
)

// Prune implements store.Pruner. Processes that prune at once get in nobody's way: each removes what is there.
func (db *DB) Prune(ctx context.Context, keep store.Retention, now time.Time) (store.Erased, error) {
	const doing = "prune"
	erased := make(store.Erased)
	if err := db.pruneTurns(ctx, keep, now, erased); err != nil {
		return erased, db.fail(ctx, doing, err)
	}
	ledgers := store.Before(now, keep.Ledgers)
	for _, step := range []struct {
		kind store.Kind
		do   func() (int64, error)
	}{
		{store.KindApprovals, func() (int64, error) {
			return db.ask.PruneApprovals(ctx, queries.PruneApprovalsParams{Before: store.Before(now, keep.Turns), Batch: pruneBatch})
		}},
		{store.KindShortTerm, func() (int64, error) {
			return db.ask.PruneShortTerm(ctx, queries.PruneShortTermParams{Now: now, Batch: pruneBatch})
		}},
		{store.KindUsage, func() (int64, error) {
			return db.ask.PruneUsage(ctx, queries.PruneUsageParams{Before: ledgers, Batch: pruneBatch})
		}},
		{store.KindAudit, func() (int64, error) {
			return db.ask.PruneAudit(ctx, queries.PruneAuditParams{Before: ledgers, Batch: pruneBatch})
		}},
	} {
		for {
			n, err := step.do()
			if err != nil {
				return erased, db.fail(ctx, doing, fmt.Errorf("%s: %w", step.kind, err))
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
	newest := int32(math.MaxInt32)
	if keep.TurnsPerChannel > 0 {
		newest = most(keep.TurnsPerChannel)
	}
	for after := ""; ; {
		channels, err := db.ask.ChannelsAfter(ctx, queries.ChannelsAfterParams{After: after, Count: pruneChannels})
		if err != nil || len(channels) == 0 {
			return err
		}
		after = channels[len(channels)-1]
		for {
			old, err := db.ask.OldTurns(ctx, queries.OldTurnsParams{
				Channels: channels, Keep: newest, Before: store.Before(now, keep.Turns), Batch: pruneBatch,
			})
			if err != nil {
				return err
			}
			if len(old) == 0 {
				break
			}
			err = db.transact(ctx, pgx.TxOptions{}, func(ask *queries.Queries, _ pgx.Tx) error {
				calls, err := ask.PruneCalls(ctx, old)
				if err != nil {
					return err
				}
				turns, err := ask.PruneTurns(ctx, old)
				erased.Add(store.KindCalls, int(calls))
				erased.Add(store.KindTurns, int(turns))
				return err
			})
			if err != nil {
				return err
			}
		}
	}
}
