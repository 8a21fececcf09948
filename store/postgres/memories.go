package postgres

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/store/postgres/queries"
)

// visible is the one rule of who sees which memory. A member's fact is seen by that member, in the guild where it was
// told, or, if private, in a DM; with consent, one that was told in a guild is seen anywhere. A guild's fact is seen in
// that guild. No statement reads memories without it, except the
// one that adds them, and it names the whole scope.
const visible = `(
	(scope = 'member' AND member_id = @member AND guild_id = @guild AND private = @private) OR
	(scope = 'member' AND member_id = @member AND guild_id <> ''    AND @others) OR
	(scope = 'guild'  AND member_id = ''      AND guild_id = @guild AND @guild <> '')
)`

const memoryColumns = `id, scope, guild_id, member_id, private, content, author_member_id, turn_id, message_id, created_at, updated_at`

// stem turns a given term into the one that is searched for, as the queries AddMemory and IndexMemory do with those they
// store.
const stem = `coalesce((ts_lexize('parley_stem', given.term))[1], given.term)`

// viewer is what visible asks about. A query that names no member, or claims to be in a guild and in a DM, is refused: an
// empty id must never widen what is seen.
func viewer(q store.MemoryQuery) (args, error) {
	switch {
	case q.MemberID == "":
		return nil, fmt.Errorf("%w: a memory query names no member", store.ErrInvalid)
	case q.Private == (q.GuildID != ""):
		return nil, fmt.Errorf("%w: a memory query is either in a guild or in a DM", store.ErrInvalid)
	}
	return args{"member": q.MemberID, "guild": q.GuildID, "private": q.Private, "others": q.OtherGuilds}, nil
}

// AddMemory implements store.Memories.
func (db *DB) AddMemory(ctx context.Context, m store.Memory, limit int) (store.Memory, error) {
	const doing = "add memory"
	if err := validate(m); err != nil {
		return store.Memory{}, db.fail(ctx, doing, err)
	}
	if m.CreatedAt.IsZero() {
		m.CreatedAt = db.now()
	}
	if m.UpdatedAt.IsZero() {
		m.UpdatedAt = m.CreatedAt
	}
	in := place(m.GuildID, m.MemberID)
	var found []queries.AddMemoryRow
	err := db.transact(ctx, pgx.TxOptions{}, func(ask *queries.Queries, _ pgx.Tx) (err error) {
		if err := ask.LockMemories(ctx, in); err != nil {
			return err
		}
		found, err = ask.AddMemory(ctx, queries.AddMemoryParams{
			Scope: m.Scope, GuildID: m.GuildID, MemberID: m.MemberID, Private: m.Private, Content: m.Content, AuthorMemberID: m.AuthorID,
			TurnID: m.TurnID, MessageID: m.MessageID, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt, Most: int64(limit),
			Place: in, Terms: terms(m.Content),
		})
		if err != nil || len(found) > 0 {
			return err
		}
		n, err := ask.CountMemories(ctx, queries.CountMemoriesParams{Scope: m.Scope, GuildID: m.GuildID, MemberID: m.MemberID})
		if err == nil && n >= int64(limit) {
			err = fmt.Errorf("%w: %d memories in this scope", store.ErrLimit, limit)
		}
		return leftOut(0, err)
	})
	if err != nil {
		return store.Memory{}, db.fail(ctx, doing, err)
	}
	r := found[0]
	return memoryOf(queries.Memory{
		ID: r.ID, Scope: store.MemoryScope(r.Scope), GuildID: r.GuildID, MemberID: r.MemberID, Private: r.Private, Content: r.Content,
		AuthorMemberID: r.AuthorMemberID, TurnID: r.TurnID, MessageID: r.MessageID, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}), nil
}

// validate refuses a record that visible could not place.
func validate(m store.Memory) error {
	ok := false
	switch m.Scope {
	case store.ScopeGuild:
		ok = m.GuildID != "" && m.MemberID == "" && !m.Private
	case store.ScopeMember:
		ok = m.MemberID != "" && m.Private == (m.GuildID == "")
	}
	if !ok {
		return fmt.Errorf("%w: scope %q with guild %q, member %q, private %t", store.ErrInvalid, m.Scope, m.GuildID, m.MemberID, m.Private)
	}
	return nil
}

// UpdateMemory implements store.Memories.
func (db *DB) UpdateMemory(ctx context.Context, q store.MemoryQuery, id int64, content string, at time.Time) (store.Memory, error) {
	const doing = "update memory"
	values, err := viewer(q)
	if err != nil {
		return store.Memory{}, db.fail(ctx, doing, err)
	}
	maps.Copy(values, args{"id": id, "content": content, "at": at})
	var found []store.Memory
	err = db.transact(ctx, pgx.TxOptions{}, func(ask *queries.Queries, tx pgx.Tx) (err error) {
		found, err = query(ctx, tx, `
			UPDATE memories SET content = @content, updated_at = @at
			WHERE id = @id AND `+visible+`
			RETURNING `+memoryColumns, values, readMemory)
		switch {
		case err != nil:
			return err
		case len(found) == 0:
			return store.ErrNotFound
		}
		if err := ask.ForgetWords(ctx, id); err != nil {
			return err
		}
		return ask.IndexMemory(ctx, queries.IndexMemoryParams{
			MemoryID: id, Place: place(found[0].GuildID, found[0].MemberID), Terms: terms(content),
		})
	})
	if err != nil {
		return store.Memory{}, db.fail(ctx, doing, err)
	}
	return found[0], nil
}

// DeleteMemory implements store.Memories. The words of the memory go with it.
func (db *DB) DeleteMemory(ctx context.Context, q store.MemoryQuery, id int64) (store.Memory, error) {
	const doing = "delete memory"
	values, err := viewer(q)
	if err != nil {
		return store.Memory{}, db.fail(ctx, doing, err)
	}
	values["id"] = id
	found, err := query(ctx, db.pool, `DELETE FROM memories WHERE id = @id AND `+visible+` RETURNING `+memoryColumns, values, readMemory)
	if err == nil && len(found) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.Memory{}, db.fail(ctx, doing, err)
	}
	return found[0], nil
}

func readMemory(row pgx.CollectableRow) (store.Memory, error) {
	m, err := pgx.RowToStructByPos[queries.Memory](row)
	return memoryOf(m), err
}

func memoryOf(m queries.Memory) store.Memory {
	return store.Memory{
		ID: m.ID, Scope: m.Scope, GuildID: m.GuildID, MemberID: m.MemberID, Private: m.Private, Content: m.Content,
		AuthorID: m.AuthorMemberID, TurnID: m.TurnID, MessageID: m.MessageID, CreatedAt: m.CreatedAt.UTC(), UpdatedAt: m.UpdatedAt.UTC(),
	}
}
