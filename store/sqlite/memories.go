package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

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

const memoryColumns = `memories.id, scope, guild_id, member_id, private, content, author_member_id, turn_id, message_id, created_at, updated_at`

// viewer is what visible asks about. A query that names no member, or claims to be in a guild and in a DM, is refused: an
// empty id must never widen what is seen.
func viewer(q store.MemoryQuery) (args, error) {
	switch {
	case q.MemberID == "":
		return nil, fmt.Errorf("%w: a memory query names no member", store.ErrInvalid)
	case q.Private == (q.GuildID != ""):
		return nil, fmt.Errorf("%w: a memory query is either in a guild or in a DM", store.ErrInvalid)
	}
	return args{
		sql.Named("member", q.MemberID), sql.Named("guild", q.GuildID), sql.Named("private", q.Private), sql.Named("others", q.OtherGuilds),
	}, nil
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
	values := args{
		sql.Named("scope", m.Scope), sql.Named("guild", m.GuildID), sql.Named("member", m.MemberID),
		sql.Named("private", m.Private), sql.Named("content", m.Content), sql.Named("limit", limit),
		sql.Named("author", m.AuthorID), sql.Named("turn", m.TurnID), sql.Named("message", m.MessageID),
		sql.Named("created", m.CreatedAt), sql.Named("updated", m.UpdatedAt),
	}
	var added store.Memory
	err := db.write.transact(ctx, func(ctx context.Context) error {
		found, err := db.writtenMemory(ctx, &added, `
			INSERT INTO memories (scope, guild_id, member_id, private, content, author_member_id, turn_id, message_id, created_at, updated_at)
			SELECT @scope, @guild, @member, @private, @content, @author, @turn, @message, @created, @updated
			WHERE (SELECT count(*) FROM memories WHERE scope = @scope AND guild_id = @guild AND member_id = @member) < @limit
			ON CONFLICT (scope, guild_id, member_id, content) DO NOTHING
			RETURNING `+memoryColumns, values)
		if err != nil {
			return err
		}
		if found {
			return db.indexMemory(ctx, added)
		}
		found, err = db.writtenMemory(ctx, &added, `
			SELECT `+memoryColumns+` FROM memories
			WHERE scope = @scope AND guild_id = @guild AND member_id = @member AND content = @content`, values[:5])
		if err != nil || found {
			return err
		}
		n := 0
		err = db.write.query(ctx, `SELECT count(*) FROM memories WHERE scope = @scope AND guild_id = @guild AND member_id = @member`,
			values[:3], func(r row) error { return r.Scan(&n) })
		if err == nil && n >= limit {
			err = fmt.Errorf("%w: %d memories in this scope", store.ErrLimit, limit)
		}
		return leftOut(0, err)
	})
	return added, db.fail(ctx, doing, err)
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
	values = append(values, sql.Named("id", id), sql.Named("content", content), sql.Named("at", at))
	var updated store.Memory
	err = db.write.transact(ctx, func(ctx context.Context) error {
		found, err := db.writtenMemory(ctx, &updated, `
			UPDATE memories SET content = @content, updated_at = @at
			WHERE id = @id AND `+visible+`
			RETURNING `+memoryColumns, values)
		switch {
		case err != nil:
			return err
		case !found:
			return store.ErrNotFound
		}
		return db.indexMemory(ctx, updated)
	})
	if err != nil {
		return store.Memory{}, db.fail(ctx, doing, err)
	}
	return updated, nil
}

// DeleteMemory implements store.Memories. A trigger removes the words of the memory from the index.
func (db *DB) DeleteMemory(ctx context.Context, q store.MemoryQuery, id int64) (store.Memory, error) {
	const doing = "delete memory"
	values, err := viewer(q)
	if err != nil {
		return store.Memory{}, db.fail(ctx, doing, err)
	}
	var deleted store.Memory
	err = db.write.transact(ctx, func(ctx context.Context) error {
		found, err := db.writtenMemory(ctx, &deleted, `
			DELETE FROM memories WHERE id = @id AND `+visible+`
			RETURNING `+memoryColumns, append(values, sql.Named("id", id)))
		if err == nil && !found {
			err = store.ErrNotFound
		}
		return err
	})
	return deleted, db.fail(ctx, doing, err)
}

// writtenMemory runs a statement of the writer that returns at most one memory.
func (db *DB) writtenMemory(ctx context.Context, into *store.Memory, text string, values args) (found bool, err error) {
	err = db.write.query(ctx, text, values, func(r row) error {
		found = true
		return scanMemory(r, into)
	})
	return found, err
}

func scanMemory(r row, m *store.Memory) error {
	var created, updated instant
	err := r.Scan(&m.ID, &m.Scope, &m.GuildID, &m.MemberID, &m.Private, &m.Content, &m.AuthorID, &m.TurnID, &m.MessageID,
		&created, &updated)
	m.CreatedAt, m.UpdatedAt = created.Time, updated.Time
	return err
}

func collectMemories(into *[]store.Memory) func(row) error {
	return func(r row) error {
		var m store.Memory
		err := scanMemory(r, &m)
		*into = append(*into, m)
		return err
	}
}
