package postgres

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/parleybot/parley/store"
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

// index writes the words by which the memory in written is found.
const index = `words AS (
		INSERT INTO memory_terms (place, term, memory_id)
		SELECT DISTINCT @place, ` + stem + `, written.id FROM written, unnest(@terms::text[]) AS given (term)
		ON CONFLICT DO NOTHING
	)`

// stem turns a given term into the one that is stored and searched for.
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

// AddMemory implements store.Memories. Whoever adds to a scope holds its lock until the end of the transaction, so what is
// counted is what is there.
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
	values := args{
		"scope": m.Scope, "guild": m.GuildID, "member": m.MemberID, "private": m.Private, "content": m.Content, "limit": limit,
		"author": m.AuthorID, "turn": m.TurnID, "message": m.MessageID, "created": m.CreatedAt, "updated": m.UpdatedAt,
		"place": place(m.GuildID, m.MemberID), "terms": terms(m.Content),
	}
	var found []store.Memory
	err := pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) (err error) {
		if _, err := exec(ctx, tx, `SELECT pg_advisory_xact_lock(hashtextextended(@place, 0))`, args{"place": values["place"]}); err != nil {
			return err
		}
		found, err = query(ctx, tx, `
			WITH known AS (
				SELECT * FROM memories WHERE scope = @scope AND guild_id = @guild AND member_id = @member
					AND md5(content) = md5(@content) AND content = @content
			), written AS (
				INSERT INTO memories (scope, guild_id, member_id, private, content, author_member_id, turn_id, message_id, created_at, updated_at)
				SELECT @scope, @guild, @member, @private, @content, @author, @turn, @message, @created, @updated
				WHERE NOT EXISTS (SELECT FROM known)
					AND (SELECT count(*) FROM memories WHERE scope = @scope AND guild_id = @guild AND member_id = @member) < @limit
				RETURNING *
			), `+index+`
			SELECT `+memoryColumns+` FROM written UNION ALL SELECT `+memoryColumns+` FROM known`, values, readMemory)
		return err
	})
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%w: %d memories in this scope", store.ErrLimit, limit)
	}
	if err != nil {
		return store.Memory{}, db.fail(ctx, doing, err)
	}
	return found[0], nil
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
	maps.Copy(values, args{"id": id, "content": content, "at": at, "terms": terms(content)})
	var found []store.Memory
	err = pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) (err error) {
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
		if _, err := exec(ctx, tx, `DELETE FROM memory_terms WHERE memory_id = @id`, args{"id": id}); err != nil {
			return err
		}
		_, err = exec(ctx, tx, `WITH written AS (SELECT @id::bigint AS id), `+index+` SELECT`,
			args{"id": id, "place": place(found[0].GuildID, found[0].MemberID), "terms": values["terms"]})
		return err
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
	var m store.Memory
	err := row.Scan(&m.ID, &m.Scope, &m.GuildID, &m.MemberID, &m.Private, &m.Content, &m.AuthorID, &m.TurnID, &m.MessageID,
		&m.CreatedAt, &m.UpdatedAt)
	m.CreatedAt, m.UpdatedAt = m.CreatedAt.UTC(), m.UpdatedAt.UTC()
	return m, err
}
