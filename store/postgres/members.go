package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/store/postgres/queries"
)

// EraseMember implements store.Members. Words, calls and transcripts go with the rows they hang from. What PostgreSQL has
// deleted it overwrites with the next vacuum of the table.
func (db *DB) EraseMember(ctx context.Context, memberID string, keep ...string) (store.Erased, []string, error) {
	const doing = "erase member"
	if memberID == "" {
		return nil, nil, db.fail(ctx, doing, fmt.Errorf("%w: no member named", store.ErrInvalid))
	}
	erased := make(store.Erased)
	var channels []string
	err := db.transact(ctx, pgx.TxOptions{}, func(ask *queries.Queries, _ pgx.Tx) (err error) {
		if channels, err = ask.PrivateChannels(ctx, memberID); err != nil {
			return err
		}
		for _, step := range []struct {
			kind store.Kind
			do   func(ctx context.Context, memberID string) (int64, error)
		}{
			{store.KindMemories, ask.EraseMemories},
			{store.KindShortTerm, ask.EraseShortTerm},
			{store.KindApprovals, ask.EraseApprovals},
			{store.KindApprovals, ask.EraseDecider},
			{store.KindUsage, ask.EraseUsage},
			{store.KindAudit, ask.EraseAudit},
			{store.KindCalls, ask.EraseCalls},
			{store.KindTurns, ask.EraseTurns},
			{store.KindWaiting, ask.EraseWaiting},
			{store.KindSettings, func(ctx context.Context, memberID string) (int64, error) {
				return ask.EraseSettings(ctx, queries.EraseSettingsParams{MemberID: memberID, Keep: append([]string{}, keep...)})
			}},
		} {
			n, err := step.do(ctx, memberID)
			if err != nil {
				return fmt.Errorf("%s: %w", step.kind, err)
			}
			erased.Add(step.kind, int(n))
		}
		return nil
	})
	if err != nil {
		return nil, nil, db.fail(ctx, doing, err)
	}
	return erased, channels, nil
}

// ExportMember implements store.Members.
func (db *DB) ExportMember(ctx context.Context, memberID string) (store.Export, error) {
	const doing = "export member"
	e := store.Export{Version: store.ExportVersion, MemberID: memberID}
	if memberID == "" {
		return e, db.fail(ctx, doing, fmt.Errorf("%w: no member named", store.ErrInvalid))
	}
	// One snapshot, so that no call is without its turn.
	err := db.transact(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(ask *queries.Queries, _ pgx.Tx) error {
		memories, err := ask.MemoriesOfMember(ctx, memberID)
		if err != nil {
			return err
		}
		turns, err := ask.TurnsOfMember(ctx, queries.TurnsOfMemberParams{MemberID: memberID, Count: store.ExportMaxTurns + 1})
		if err != nil {
			return err
		}
		calls, err := ask.CallsOfMember(ctx, memberID)
		if err != nil {
			return err
		}
		waiting, err := ask.WaitingOfMember(ctx, memberID)
		if err != nil {
			return err
		}
		if len(turns) > store.ExportMaxTurns {
			turns, e.Truncated = turns[:store.ExportMaxTurns], true
		}
		e.Fill(each(memories, memoryOf), each(turns, turnOf), each(calls, callOf), each(waiting, waitingOf))
		e.Settings, err = settingsOf(ctx, ask, owner{member: memberID})
		return err
	})
	return e, db.fail(ctx, doing, err)
}
