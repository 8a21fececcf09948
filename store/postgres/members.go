package postgres

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/parleybot/parley/store"
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
	values := args{"member": memberID, "keep": keep}
	if keep == nil {
		values["keep"] = []string{}
	}
	err := pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) (err error) {
		channels, err = query(ctx, tx, `
			SELECT DISTINCT channel_id FROM (
				SELECT channel_id FROM turns WHERE owner_member_id = @member AND guild_id = ''
				UNION SELECT channel_id FROM waiting_triggers WHERE owner_member_id = @member AND guild_id = ''
			) AS private ORDER BY channel_id`, values, pgx.RowTo[string])
		if err != nil {
			return err
		}
		for _, step := range []struct {
			kind store.Kind
			text string
		}{
			{store.KindMemories, `DELETE FROM memories WHERE member_id = @member OR author_member_id = @member`},
			{store.KindShortTerm, `DELETE FROM short_term WHERE author_member_id = @member
				OR channel_id IN (SELECT channel_id FROM turns WHERE owner_member_id = @member)`},
			{store.KindApprovals, `DELETE FROM approvals WHERE owner_member_id = @member`},
			{store.KindApprovals, `UPDATE approvals SET decider_member_id = '', reason = '' WHERE decider_member_id = @member`},
			{store.KindUsage, `UPDATE usage_ledger SET member_id = '' WHERE member_id = @member`},
			{store.KindAudit, `UPDATE audit_log SET detail = '',
				actor_member_id = CASE WHEN actor_member_id = @member THEN '' ELSE actor_member_id END,
				subject_member_id = CASE WHEN subject_member_id = @member THEN '' ELSE subject_member_id END
				WHERE actor_member_id = @member OR subject_member_id = @member`},
			{store.KindCalls, `DELETE FROM calls USING turns WHERE turns.id = calls.turn_id AND turns.owner_member_id = @member`},
			{store.KindTurns, `DELETE FROM turns WHERE owner_member_id = @member`},
			{store.KindWaiting, `DELETE FROM waiting_triggers WHERE owner_member_id = @member`},
			{store.KindSettings, `DELETE FROM settings WHERE member_id = @member AND name <> ALL (@keep)`},
		} {
			n, err := exec(ctx, tx, step.text, values)
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
	values := args{"member": memberID, "limit": store.ExportMaxTurns + 1}
	// One snapshot, so that no call is without its turn.
	err := pgx.BeginTxFunc(ctx, db.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		memories, err := query(ctx, tx, `SELECT `+memoryColumns+` FROM memories
			WHERE member_id = @member OR author_member_id = @member ORDER BY id`, values, readMemory)
		if err != nil {
			return err
		}
		turns, err := query(ctx, tx, `SELECT `+turnColumns+` FROM turns WHERE owner_member_id = @member
			ORDER BY started_at DESC, seq DESC LIMIT @limit`, values, readTurn)
		if err != nil {
			return err
		}
		calls, err := query(ctx, tx, `SELECT `+callColumns+` FROM calls JOIN turns ON turns.id = calls.turn_id
			WHERE turns.owner_member_id = @member ORDER BY calls.seq`, values, readCall)
		if err != nil {
			return err
		}
		waiting, err := query(ctx, tx, `SELECT message_id, channel_id, guild_id, owner_member_id, payload, queued_at
			FROM waiting_triggers WHERE owner_member_id = @member ORDER BY queued_at, seq`, values, readWaiting)
		if err != nil {
			return err
		}
		if len(turns) > store.ExportMaxTurns {
			turns, e.Truncated = turns[:store.ExportMaxTurns], true
		}
		e.Fill(memories, turns, calls, waiting)
		e.Settings, err = settingsOf(ctx, tx, args{"guild": "", "channel": "", "member": memberID})
		return err
	})
	return e, db.fail(ctx, doing, err)
}

func readWaiting(row pgx.CollectableRow) (w store.Waiting, err error) {
	var payload string
	err = row.Scan(&w.MessageID, &w.ChannelID, &w.GuildID, &w.OwnerID, &payload, &w.QueuedAt)
	w.Payload, w.QueuedAt = json.RawMessage(payload), w.QueuedAt.UTC()
	return w, err
}
