package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/parleybot/parley/store"
)

// EraseMember implements store.Members. Words and calls go with the rows they hang from, and what is deleted is
// overwritten in the file.
func (db *DB) EraseMember(ctx context.Context, memberID string, keep ...string) (store.Erased, []string, error) {
	const doing = "erase member"
	if memberID == "" {
		return nil, nil, db.fail(ctx, doing, fmt.Errorf("%w: no member named", store.ErrInvalid))
	}
	kept, err := json.Marshal(append([]string{}, keep...))
	if err != nil {
		return nil, nil, db.fail(ctx, doing, err)
	}
	erased := make(store.Erased)
	var channels []string
	member := sql.Named("member", memberID)
	err = db.write.transact(ctx, func(ctx context.Context) error {
		err := db.write.query(ctx, `
			SELECT channel_id FROM turns WHERE owner_member_id = @member AND guild_id = ''
			UNION SELECT channel_id FROM waiting_triggers WHERE owner_member_id = @member AND guild_id = ''
			ORDER BY channel_id`, args{member}, func(r row) error {
			var id string
			err := r.Scan(&id)
			channels = append(channels, id)
			return err
		})
		if err != nil {
			return err
		}
		return db.eraseSteps(ctx, erased, []eraseStep{
			{store.KindMemories, `DELETE FROM memories WHERE member_id = @member OR author_member_id = @member`, args{member}},
			{store.KindShortTerm, `DELETE FROM short_term WHERE author_member_id = @member
				OR channel_id IN (SELECT channel_id FROM turns WHERE owner_member_id = @member)`, args{member}},
			{store.KindApprovals, `DELETE FROM approvals WHERE owner_member_id = @member`, args{member}},
			{store.KindApprovals, `UPDATE approvals SET decider_member_id = '', reason = '' WHERE decider_member_id = @member`, args{member}},
			{store.KindUsage, `UPDATE usage_ledger SET member_id = '' WHERE member_id = @member`, args{member}},
			{store.KindAudit, `UPDATE audit_log SET detail = '',
				actor_member_id = iif(actor_member_id = @member, '', actor_member_id),
				subject_member_id = iif(subject_member_id = @member, '', subject_member_id)
				WHERE actor_member_id = @member OR subject_member_id = @member`, args{member}},
			{store.KindCalls, `DELETE FROM calls WHERE turn_id IN (SELECT id FROM turns WHERE owner_member_id = @member)`, args{member}},
			{store.KindTurns, `DELETE FROM turns WHERE owner_member_id = @member`, args{member}},
			{store.KindWaiting, `DELETE FROM waiting_triggers WHERE owner_member_id = @member`, args{member}},
			{
				store.KindSettings,
				`DELETE FROM settings WHERE member_id = @member AND name NOT IN (SELECT value FROM json_each(@keep))`,
				args{member, sql.Named("keep", json.RawMessage(kept))},
			},
		})
	})
	if err != nil {
		return nil, nil, db.fail(ctx, doing, err)
	}
	return erased, channels, nil
}

// EraseFleeting implements store.FleetingMembers.
func (db *DB) EraseFleeting(ctx context.Context, memberID string, channelIDs []string) (store.Erased, error) {
	const doing = "erase what is fleeting"
	if memberID == "" {
		return nil, db.fail(ctx, doing, fmt.Errorf("%w: no member named", store.ErrInvalid))
	}
	list, err := json.Marshal(append([]string{}, channelIDs...))
	if err != nil {
		return nil, db.fail(ctx, doing, err)
	}
	erased := make(store.Erased)
	channels := args{json.RawMessage(list)}
	err = db.write.transact(ctx, func(ctx context.Context) error {
		return db.eraseSteps(ctx, erased, []eraseStep{
			{store.KindRates, `DELETE FROM rates WHERE member_id = ?`, args{memberID}},
			{store.KindWindows, `DELETE FROM windows WHERE channel_id IN (SELECT value FROM json_each(?))`, channels},
			{store.KindWindows, `DELETE FROM window_turns WHERE channel_id IN (SELECT value FROM json_each(?))`, channels},
		})
	})
	return erased, db.fail(ctx, doing, err)
}

// eraseStep deletes from one table.
type eraseStep struct {
	kind   store.Kind
	text   string
	values args
}

func (db *DB) eraseSteps(ctx context.Context, erased store.Erased, steps []eraseStep) error {
	for _, step := range steps {
		n, err := db.write.exec(ctx, step.text, step.values)
		if err != nil {
			return fmt.Errorf("%s: %w", step.kind, err)
		}
		erased.Add(step.kind, int(n))
	}
	return nil
}

// ExportMember implements store.Members.
func (db *DB) ExportMember(ctx context.Context, memberID string) (store.Export, error) {
	const doing = "export member"
	e := store.Export{Version: store.ExportVersion, MemberID: memberID}
	if memberID == "" {
		return e, db.fail(ctx, doing, fmt.Errorf("%w: no member named", store.ErrInvalid))
	}
	var (
		memories []store.Memory
		turns    []store.Turn
		calls    []store.Call
		waiting  []store.Waiting
	)
	// With the writer's transaction, so that no call is without its turn.
	err := db.write.transact(ctx, func(ctx context.Context) error {
		err := db.write.query(ctx, `SELECT `+memoryColumns+` FROM memories
			WHERE member_id = ?1 OR author_member_id = ?1 ORDER BY id`, args{memberID}, collectMemories(&memories))
		if err != nil {
			return err
		}
		err = db.write.query(ctx, `SELECT `+turnColumns+` FROM turns WHERE owner_member_id = ?
			ORDER BY started_at DESC, rowid DESC LIMIT ?`, args{memberID, store.ExportMaxTurns + 1}, func(r row) error {
			t, err := scanTurn(r)
			turns = append(turns, t)
			return err
		})
		if err != nil {
			return err
		}
		err = db.write.query(ctx, `SELECT `+callColumns+` FROM calls
			WHERE turn_id IN (SELECT id FROM turns WHERE owner_member_id = ?) ORDER BY seq`, args{memberID}, collectCalls(&calls))
		if err != nil {
			return err
		}
		return db.write.query(ctx, `SELECT `+waitingColumns+` FROM waiting_triggers WHERE owner_member_id = ?
			ORDER BY queued_at, seq`, args{memberID}, collectWaiting(&waiting))
	})
	if err != nil {
		return e, db.fail(ctx, doing, err)
	}
	if len(turns) > store.ExportMaxTurns {
		turns, e.Truncated = turns[:store.ExportMaxTurns], true
	}
	e.Fill(memories, turns, calls, waiting)
	e.Settings, err = db.SettingsOf(ctx, store.SettingMember, memberID)
	return e, db.fail(ctx, doing, err)
}
