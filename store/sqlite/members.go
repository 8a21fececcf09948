package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/parleybot/parley/store"
)

// memoriesOf finds what is remembered of a member and what they told of others. It is written for the indexes: one holds
// the facts told in guilds, one those told in DMs.
const memoriesOf = `(member_id = @member AND member_id <> '' AND guild_id <> ''
	OR scope = 'member' AND guild_id = '' AND member_id = @member OR author_member_id = @member)`

// EraseMember implements store.Members. Words and calls go with the rows they hang from, and what is deleted is
// overwritten in the file.
func (db *DB) EraseMember(ctx context.Context, e store.Erasure) (store.Erased, []string, error) {
	const doing = "erase member"
	if e.MemberID == "" {
		return nil, nil, db.fail(ctx, doing, fmt.Errorf("%w: no member named", store.ErrInvalid))
	}
	kept, keptErr := json.Marshal(e.Keeps())
	given, givenErr := json.Marshal(append([]string{}, e.ChannelIDs...))
	if err := errors.Join(keptErr, givenErr); err != nil {
		return nil, nil, db.fail(ctx, doing, err)
	}
	erased := make(store.Erased)
	var private []string
	member := sql.Named("member", e.MemberID)
	err := db.write.transact(ctx, func(ctx context.Context) error {
		if err := db.fence(ctx, e); err != nil {
			return err
		}
		err := db.write.query(ctx, privateChats+`
			UNION SELECT value FROM json_each(@given) WHERE value <> '' ORDER BY 1`,
			args{member, sql.Named("given", json.RawMessage(given))}, collectText(&private))
		if err != nil {
			return err
		}
		list, err := json.Marshal(append([]string{}, private...))
		if err != nil {
			return err
		}
		chats := sql.Named("chats", json.RawMessage(list))
		return db.eraseSteps(ctx, erased, []eraseStep{
			{store.KindMemories, `DELETE FROM memories WHERE ` + memoriesOf, args{member}},
			{store.KindShortTerm, `DELETE FROM short_term WHERE author_member_id = @member
				OR channel_id IN (SELECT channel_id FROM turns WHERE owner_member_id = @member)
				OR channel_id IN (SELECT value FROM json_each(@chats))`, args{member, chats}},
			{store.KindApprovals, `DELETE FROM approvals WHERE owner_member_id = @member`, args{member}},
			{store.KindApprovals, `UPDATE approvals SET decider_member_id = '', reason = '' WHERE decider_member_id = @member AND decider_member_id <> ''`, args{member}},
			{store.KindUsage, `UPDATE usage_ledger SET member_id = '', channel_id = iif(guild_id = '', '', channel_id)
				WHERE member_id = @member`, args{member}},
			{store.KindAudit, `UPDATE audit_log SET detail = '',
				actor_member_id = iif(actor_member_id = @member, '', actor_member_id),
				subject_member_id = iif(subject_member_id = @member, '', subject_member_id)
				WHERE actor_member_id = @member OR subject_member_id = @member`, args{member}},
			{store.KindCalls, `DELETE FROM calls WHERE turn_id IN (SELECT id FROM turns WHERE owner_member_id = @member)`, args{member}},
			{store.KindTurns, `DELETE FROM turns WHERE owner_member_id = @member`, args{member}},
			{store.KindWaiting, `DELETE FROM waiting_triggers WHERE owner_member_id = @member`, args{member}},
			{
				store.KindSettings,
				`DELETE FROM settings WHERE member_id = @member AND name NOT IN (SELECT value FROM json_each(@keep))
					OR channel_id <> '' AND channel_id IN (SELECT value FROM json_each(@chats))`,
				args{member, sql.Named("keep", json.RawMessage(kept)), chats},
			},
		})
	})
	if err != nil {
		return nil, nil, db.fail(ctx, doing, err)
	}
	return erased, private, nil
}

// fence says until when the member is erased. The triggers that the migrations make leave out whatever is older.
func (db *DB) fence(ctx context.Context, e store.Erasure) error {
	if e.Before == "" {
		return nil
	}
	_, err := db.write.exec(ctx, `INSERT INTO settings (guild_id, channel_id, member_id, name, value) VALUES ('', '', ?, ?, ?)
		ON CONFLICT (guild_id, channel_id, member_id, name) DO UPDATE SET value = excluded.value
		WHERE printf('%20s', value) < printf('%20s', excluded.value)`, args{e.MemberID, store.SettingErasedBefore, e.Before})
	return err
}

// privateChats finds the private chats of a member: only there have their turns no guild.
const privateChats = `
	SELECT channel_id FROM turns WHERE owner_member_id = @member AND guild_id = ''
	UNION SELECT channel_id FROM waiting_triggers WHERE owner_member_id = @member AND guild_id = ''
	UNION SELECT channel_id FROM usage_ledger WHERE member_id = @member AND guild_id = '' AND channel_id <> ''`

func collectText(into *[]string) func(row) error {
	return func(r row) error {
		var text string
		err := r.Scan(&text)
		*into = append(*into, text)
		return err
	}
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
			{store.KindRates, `DELETE FROM rates WHERE channel_id IN (SELECT value FROM json_each(?))`, channels},
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
	e := store.Export{Version: store.ExportVersion, MemberID: memberID, ChannelSettings: map[string]map[string]string{}}
	if memberID == "" {
		return e, db.fail(ctx, doing, fmt.Errorf("%w: no member named", store.ErrInvalid))
	}
	var (
		records store.ExportRecords
		private []string
		room    store.ExportRoom
	)
	// With the writer's transaction, so that no call is without its turn.
	err := db.write.transact(ctx, func(ctx context.Context) error {
		member := sql.Named("member", memberID)
		for _, step := range db.exportSteps(&records, &room, &private) {
			values := args{member}
			if step.limit > 0 {
				values = append(values, sql.Named("limit", step.limit+1))
			}
			if err := db.write.query(ctx, step.text, values, step.collect); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return e, db.fail(ctx, doing, err)
	}
	e.Truncated = room.Full()
	e.Fill(records)
	if e.Settings, err = db.SettingsOf(ctx, store.SettingMember, memberID); err != nil {
		return e, err
	}
	for _, c := range private {
		settings, err := db.SettingsOf(ctx, store.SettingChannel, c)
		if err != nil {
			return e, err
		}
		if len(settings) > 0 {
			e.ChannelSettings[c] = settings
		}
	}
	return e, nil
}

// exportStep reads one kind of record; one more than the limit shows that there are more.
type exportStep struct {
	text    string
	limit   int
	collect func(row) error
}

func (db *DB) exportSteps(into *store.ExportRecords, room *store.ExportRoom, private *[]string) []exportStep {
	return []exportStep{
		{privateChats, 0, collectText(private)},
		{`SELECT ` + memoryColumns + ` FROM memories WHERE ` + memoriesOf + ` ORDER BY id`, 0, collectMemories(&into.Memories)},
		{`SELECT ` + shortTermColumns + ` FROM short_term WHERE author_member_id = @member ORDER BY channel_id, category`, 0, collectShortTerm(&into.ShortTerm)},
		{
			`SELECT ` + turnColumns + ` FROM turns WHERE owner_member_id = @member ORDER BY started_at DESC, rowid DESC LIMIT @limit`,
			store.ExportMaxTurns, func(r row) error {
				t, err := scanTurn(r)
				if err == nil && room.Turn(t) {
					into.Turns = append(into.Turns, t)
				}
				return err
			},
		},
		{
			`SELECT ` + callColumns + ` FROM calls WHERE turn_id IN (SELECT id FROM turns WHERE owner_member_id = @member) ORDER BY seq DESC`, 0,
			func(r row) error {
				var one []store.Call
				err := collectCalls(&one)(r)
				if err == nil && room.Call(one[0]) {
					into.Calls = append(into.Calls, one...)
				}
				return err
			},
		},
		{
			`SELECT ` + waitingColumns + ` FROM waiting_triggers WHERE owner_member_id = @member ORDER BY queued_at, seq LIMIT @limit`,
			store.ExportMaxEntries, collectWaiting(&into.Waiting),
		},
		{
			`SELECT ` + approvalColumns + ` FROM approvals WHERE owner_member_id = @member OR decider_member_id = @member AND decider_member_id <> ''
				ORDER BY opened_at DESC, token LIMIT @limit`,
			store.ExportMaxEntries, collectApprovals(&into.Approvals),
		},
		{
			`SELECT turn_id, model, guild_id, channel_id, member_id, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
				reasoning_tokens, cost_nanos, unpriced, at
				FROM usage_ledger WHERE member_id = @member ORDER BY at DESC, turn_id, model LIMIT @limit`,
			store.ExportMaxEntries, func(r row) error {
				var (
					u  store.UsageEntry
					at instant
				)
				err := r.Scan(&u.TurnID, &u.Model, &u.GuildID, &u.ChannelID, &u.MemberID, &u.Usage.Input, &u.Usage.Output, &u.Usage.CacheRead, &u.Usage.CacheWrite,
					&u.Usage.Reasoning, &u.Usage.CostNanos, &u.Usage.Unpriced, &at)
				u.At = at.Time
				into.Usage = append(into.Usage, u)
				return err
			},
		},
		{
			`SELECT ` + auditColumns + ` FROM audit_log WHERE actor_member_id = @member OR subject_member_id = @member ORDER BY at DESC, id DESC LIMIT @limit`,
			store.ExportMaxEntries, collectAudit(&into.Audit),
		},
	}
}

// DeleteMemories implements store.Memories. A trigger removes their words from the index.
func (db *DB) DeleteMemories(ctx context.Context, of store.Memory) (int, error) {
	const doing = "delete memories"
	if err := validate(of); err != nil {
		return 0, db.fail(ctx, doing, err)
	}
	n, err := db.write.one(ctx, `DELETE FROM memories WHERE scope = ? AND guild_id = ? AND member_id = ? AND private = ?`,
		of.Scope, of.GuildID, of.MemberID, of.Private)
	return int(n), db.fail(ctx, doing, err)
}

// MemoryByID implements store.Memories.
func (db *DB) MemoryByID(ctx context.Context, q store.MemoryQuery, id int64) (store.Memory, error) {
	const doing = "read memory"
	values, err := viewer(q)
	if err != nil {
		return store.Memory{}, db.fail(ctx, doing, err)
	}
	var found []store.Memory
	err = db.read.query(ctx, `SELECT `+memoryColumns+` FROM memories WHERE id = @id AND `+visible, append(values, sql.Named("id", id)), collectMemories(&found))
	if err == nil && len(found) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.Memory{}, db.fail(ctx, doing, err)
	}
	return found[0], nil
}
