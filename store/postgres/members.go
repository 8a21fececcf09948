package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/store/postgres/queries"
)

// EraseMember implements store.Members. Words, calls and transcripts go with the rows they hang from. What PostgreSQL has
// deleted it overwrites with the next vacuum of the table.
func (db *DB) EraseMember(ctx context.Context, e store.Erasure) (store.Erased, []string, error) {
	const doing = "erase member"
	if e.MemberID == "" {
		return nil, nil, db.fail(ctx, doing, fmt.Errorf("%w: no member named", store.ErrInvalid))
	}
	if err := db.fence(ctx, e); err != nil {
		return nil, nil, db.fail(ctx, doing, err)
	}
	erased := make(store.Erased)
	var private []string
	err := db.transact(ctx, pgx.TxOptions{}, func(ask *queries.Queries, _ pgx.Tx) error {
		known, err := ask.PrivateChannels(ctx, e.MemberID)
		if err != nil {
			return err
		}
		private = joined(known, e.ChannelIDs)
		for _, step := range []struct {
			kind store.Kind
			do   func(ctx context.Context, memberID string) (int64, error)
		}{
			{store.KindMemories, ask.EraseMemories},
			{store.KindShortTerm, func(ctx context.Context, memberID string) (int64, error) {
				return ask.EraseShortTerm(ctx, queries.EraseShortTermParams{MemberID: memberID, Chats: private})
			}},
			{store.KindApprovals, ask.EraseApprovals},
			{store.KindApprovals, ask.EraseDecider},
			{store.KindUsage, ask.EraseUsage},
			{store.KindAudit, ask.EraseAudit},
			{store.KindCalls, ask.EraseCalls},
			{store.KindTurns, ask.EraseTurns},
			{store.KindWaiting, ask.EraseWaiting},
			{store.KindSettings, func(ctx context.Context, memberID string) (int64, error) {
				return ask.EraseSettings(ctx, queries.EraseSettingsParams{
					MemberID: memberID, Keep: e.Keeps(), Chats: private,
				})
			}},
		} {
			n, err := step.do(ctx, e.MemberID)
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
	return erased, private, nil
}

// How often it is looked whether older writers have ended: at first, since a statement takes milliseconds, and at last.
const (
	lookAgain  = 5 * time.Millisecond
	lookSeldom = 250 * time.Millisecond
)

// fence says until when the member is erased, and waits for the transactions that may not have seen that: what they write is
// there to be erased, and what begins later writes nothing older. Nobody is held up by it.
func (db *DB) fence(ctx context.Context, e store.Erasure) error {
	if e.Before == "" {
		return nil
	}
	if err := db.ask.PutErased(ctx, queries.PutErasedParams{MemberID: e.MemberID, Value: e.Before}); err != nil {
		return fmt.Errorf("%s: %w", store.SettingErasedBefore, err)
	}
	older, err := db.writers(ctx)
	for wait := lookAgain; err == nil && len(older) > 0; wait = min(2*wait, lookSeldom) {
		again := time.NewTimer(wait)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return fmt.Errorf("%w: %w", store.ErrBusy, context.Cause(ctx))
		}
		var now []string
		now, err = db.writers(ctx)
		older = slices.DeleteFunc(older, func(x string) bool { return !slices.Contains(now, x) })
	}
	return err
}

// writers are the transactions of others that write to a table which names members. A statement takes this lock before it
// looks at what is committed.
func (db *DB) writers(ctx context.Context) ([]string, error) {
	return query(ctx, db.pool, `SELECT DISTINCT virtualtransaction FROM pg_locks
		WHERE locktype = 'relation' AND mode = 'RowExclusiveLock' AND pid <> pg_backend_pid()
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
			AND relation IN ('turns'::regclass, 'memories'::regclass, 'short_term'::regclass, 'approvals'::regclass,
				'usage_ledger'::regclass, 'audit_log'::regclass, 'waiting_triggers'::regclass, 'settings'::regclass)`, nil, pgx.RowTo[string])
}

// joined is each text of two lists once, sorted; blank ones are left out. It is never nil.
func joined(a, b []string) []string {
	all := slices.DeleteFunc(slices.Concat(a, b), func(s string) bool { return s == "" })
	slices.Sort(all)
	return append([]string{}, slices.Compact(all)...)
}

// ExportMember implements store.Members.
func (db *DB) ExportMember(ctx context.Context, memberID string) (store.Export, error) {
	const doing = "export member"
	e := store.Export{Version: store.ExportVersion, MemberID: memberID, ChannelSettings: map[string]map[string]string{}}
	if memberID == "" {
		return e, db.fail(ctx, doing, fmt.Errorf("%w: no member named", store.ErrInvalid))
	}
	// One snapshot, so that no call is without its turn.
	err := db.transact(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(ask *queries.Queries, tx pgx.Tx) error {
		records, full, err := exportRecords(ctx, ask, tx, memberID)
		if err != nil {
			return err
		}
		e.Truncated = full
		e.Fill(records)
		if e.Settings, err = settingsOf(ctx, ask, owner{member: memberID}); err != nil {
			return err
		}
		private, err := ask.PrivateChannels(ctx, memberID)
		if err != nil {
			return err
		}
		for _, c := range private {
			settings, err := settingsOf(ctx, ask, owner{channel: c})
			if err != nil {
				return err
			}
			if len(settings) > 0 {
				e.ChannelSettings[c] = settings
			}
		}
		return nil
	})
	return e, db.fail(ctx, doing, err)
}

func exportRecords(ctx context.Context, ask *queries.Queries, tx pgx.Tx, memberID string) (r store.ExportRecords, full bool, err error) {
	const count = store.ExportMaxEntries + 1
	var room store.ExportRoom
	for _, step := range []func() error{
		func() error {
			found, err := ask.MemoriesOfMember(ctx, memberID)
			r.Memories = each(found, memoryOf)
			return err
		},
		func() error {
			found, err := ask.ShortTermOfMember(ctx, memberID)
			r.ShortTerm = each(found, shortTermOf)
			return err
		},
		func() (err error) {
			r.Turns, r.Calls, err = exportTurns(ctx, tx, memberID, &room)
			return err
		},
		func() error {
			found, err := ask.WaitingOfMember(ctx, queries.WaitingOfMemberParams{MemberID: memberID, Count: count})
			r.Waiting = each(found, waitingOf)
			return err
		},
		func() error {
			found, err := ask.ApprovalsOfMember(ctx, queries.ApprovalsOfMemberParams{MemberID: memberID, Count: count})
			r.Approvals = each(found, approvalOf)
			return err
		},
		func() error {
			found, err := ask.UsageOfMember(ctx, queries.UsageOfMemberParams{MemberID: memberID, Count: count})
			r.Usage = each(found, usageOf)
			return err
		},
		func() error {
			found, err := ask.AuditOfMember(ctx, queries.AuditOfMemberParams{MemberID: memberID, Count: count})
			r.Audit = each(found, auditOf)
			return err
		},
	} {
		if err := step(); err != nil {
			return r, false, err
		}
	}
	return r, room.Full(), nil
}

// The columns as package queries has them. Named, since a newer process may have added some while this one still runs.
const (
	turnColumns = `id, seq, process_id, channel_id, guild_id, owner_member_id, trigger_id, status, prompt, answer, thinking, model,
		input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, answer_ids, transcript, error, started_at, finished_at,
		reasoning_tokens, cost_nanos, unpriced`
	callColumns = `calls.seq, turn_id, call_key, iteration, tool, arguments, calls.status, reason, result, calls.started_at, calls.finished_at`
)

// exportTurns reads a member's turns and calls. What does not fit is dropped row by row: all of it at once might not fit
// the process.
func exportTurns(ctx context.Context, tx pgx.Tx, memberID string, room *store.ExportRoom) ([]store.Turn, []store.Call, error) {
	values := args{"member": memberID, "count": store.ExportMaxTurns + 1}
	turns, err := query(ctx, tx, `SELECT `+turnColumns+` FROM turns WHERE owner_member_id = @member
		ORDER BY started_at DESC, seq DESC LIMIT @count`, values, func(row pgx.CollectableRow) (store.Turn, error) {
		found, err := pgx.RowToStructByPos[queries.Turn](row)
		if t := turnOf(found); err == nil && room.Turn(t) {
			return t, nil
		}
		return store.Turn{}, err
	})
	if err != nil {
		return nil, nil, err
	}
	calls, err := query(ctx, tx, `SELECT `+callColumns+` FROM calls JOIN turns ON turns.id = calls.turn_id
		WHERE turns.owner_member_id = @member ORDER BY calls.seq DESC`, values, func(row pgx.CollectableRow) (store.Call, error) {
		found, err := pgx.RowToStructByPos[queries.Call](row)
		if c := callOf(found); err == nil && room.Call(c) {
			return c, nil
		}
		return store.Call{}, err
	})
	return slices.DeleteFunc(turns, func(t store.Turn) bool { return t.ID == "" }),
		slices.DeleteFunc(calls, func(c store.Call) bool { return c.TurnID == "" }), err
}

func usageOf(u queries.UsageLedger) store.UsageEntry {
	return store.UsageEntry{
		TurnID: u.TurnID, Model: u.Model, GuildID: u.GuildID, ChannelID: u.ChannelID, MemberID: u.MemberID, At: u.At.UTC(),
		Usage: store.Usage{
			Input: u.InputTokens, Output: u.OutputTokens, CacheRead: u.CacheReadTokens, CacheWrite: u.CacheWriteTokens,
			Reasoning: u.ReasoningTokens, CostNanos: u.CostNanos, Unpriced: u.Unpriced,
		},
	}
}

// DeleteMemories implements store.Memories. Their words go with them.
func (db *DB) DeleteMemories(ctx context.Context, of store.Memory) (int, error) {
	const doing = "delete memories"
	if err := validate(of); err != nil {
		return 0, db.fail(ctx, doing, err)
	}
	n, err := db.ask.DeleteMemories(ctx, queries.DeleteMemoriesParams{
		Scope: of.Scope, GuildID: of.GuildID, MemberID: of.MemberID, Private: of.Private,
	})
	return int(n), db.fail(ctx, doing, err)
}

// MemoryByID implements store.Memories.
func (db *DB) MemoryByID(ctx context.Context, q store.MemoryQuery, id int64) (store.Memory, error) {
	const doing = "read memory"
	values, err := viewer(q)
	if err != nil {
		return store.Memory{}, db.fail(ctx, doing, err)
	}
	values["id"] = id
	found, err := query(ctx, db.pool, `SELECT `+memoryColumns+` FROM memories WHERE id = @id AND `+visible, values, readMemory)
	if err == nil && len(found) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.Memory{}, db.fail(ctx, doing, err)
	}
	return found[0], nil
}
