package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/parleybot/parley/store"
)

// PutShortTerm implements store.ShortTerms.
func (db *DB) PutShortTerm(ctx context.Context, s store.ShortTerm, limit int) error {
	if s.UpdatedAt.IsZero() {
		s.UpdatedAt = db.now()
	}
	err := db.write.transact(ctx, func(ctx context.Context) error {
		if _, err := db.write.exec(ctx, `DELETE FROM short_term WHERE expires_at <= ?`, args{s.UpdatedAt}); err != nil {
			return err
		}
		written, err := db.write.exec(ctx, `
			INSERT INTO short_term (channel_id, category, guild_id, author_member_id, turn_id, content, updated_at, expires_at)
			SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8
			WHERE (SELECT count(*) FROM short_term WHERE channel_id = ?1 AND category <> ?2) < ?9
			ON CONFLICT (channel_id, category) DO UPDATE SET author_member_id = excluded.author_member_id,
				turn_id = excluded.turn_id, content = excluded.content, updated_at = excluded.updated_at, expires_at = excluded.expires_at`,
			args{s.ChannelID, s.Category, s.GuildID, s.AuthorID, s.TurnID, s.Content, s.UpdatedAt, s.UpdatedAt.Add(store.ShortTermTTL), limit})
		if err != nil || written > 0 {
			return err
		}
		others := 0
		err = db.write.query(ctx, `SELECT count(*) FROM short_term WHERE channel_id = ? AND category <> ?`, args{s.ChannelID, s.Category},
			func(r row) error { return r.Scan(&others) })
		if err == nil && others >= limit {
			err = fmt.Errorf("%w: %d categories in this channel", store.ErrLimit, limit)
		}
		return leftOut(0, err)
	})
	return db.fail(ctx, "put short-term memory", err)
}

// ShortTermOf implements store.ShortTerms.
func (db *DB) ShortTermOf(ctx context.Context, channelID string, now time.Time) ([]store.ShortTerm, error) {
	var all []store.ShortTerm
	err := db.read.query(ctx, `SELECT `+shortTermColumns+` FROM short_term WHERE channel_id = ? AND expires_at > ? ORDER BY category`,
		args{channelID, now}, collectShortTerm(&all))
	return all, db.fail(ctx, "read short-term memory", err)
}

const shortTermColumns = `channel_id, category, guild_id, author_member_id, turn_id, content, updated_at`

func collectShortTerm(into *[]store.ShortTerm) func(row) error {
	return func(r row) error {
		var (
			s       store.ShortTerm
			updated instant
		)
		err := r.Scan(&s.ChannelID, &s.Category, &s.GuildID, &s.AuthorID, &s.TurnID, &s.Content, &updated)
		s.UpdatedAt = updated.Time
		*into = append(*into, s)
		return err
	}
}

// ClearShortTerm implements store.ShortTerms.
func (db *DB) ClearShortTerm(ctx context.Context, channelID string) error {
	_, err := db.write.one(ctx, `DELETE FROM short_term WHERE channel_id = ?`, channelID)
	return db.fail(ctx, "clear short-term memory", err)
}

// UsageOf implements store.Ledger.
func (db *DB) UsageOf(ctx context.Context, q store.UsageQuery) ([]store.UsageTotal, error) {
	if q.Since.IsZero() {
		q.Since = time.Unix(0, 0)
	}
	where, values := "at >= ?", args{q.Since}
	for _, given := range []struct{ column, id string }{{"guild_id", q.GuildID}, {"channel_id", q.ChannelID}, {"member_id", q.MemberID}} {
		if given.id != "" { // a condition that is not asked for would keep the planner from the index of another
			where += " AND " + given.column + " = ?"
			values = append(values, given.id)
		}
	}
	var totals []store.UsageTotal
	err := db.read.query(ctx, `
		SELECT model, count(DISTINCT turn_id), sum(input_tokens), sum(output_tokens), sum(cache_read_tokens), sum(cache_write_tokens),
			sum(reasoning_tokens), sum(cost_nanos), max(unpriced)
		FROM usage_ledger WHERE `+where+` GROUP BY model ORDER BY model`, values, func(r row) error {
		var u store.UsageTotal
		err := r.Scan(&u.Model, &u.Turns, &u.Usage.Input, &u.Usage.Output, &u.Usage.CacheRead, &u.Usage.CacheWrite,
			&u.Usage.Reasoning, &u.Usage.CostNanos, &u.Usage.Unpriced)
		totals = append(totals, u)
		return err
	})
	return totals, db.fail(ctx, "sum usage", err)
}

// AddAudit implements store.Audit.
func (db *DB) AddAudit(ctx context.Context, a store.AuditEntry) error {
	if a.At.IsZero() {
		a.At = db.now()
	}
	_, err := db.write.one(ctx, `INSERT INTO audit_log (guild_id, channel_id, actor_member_id, subject_member_id, action, detail, at)
		VALUES (?, ?, ?, ?, ?, ?, ?)`, a.GuildID, a.ChannelID, a.ActorID, a.SubjectID, a.Action, a.Detail, a.At)
	return db.fail(ctx, "add audit entry", err)
}

// AuditOf implements store.Audit.
func (db *DB) AuditOf(ctx context.Context, guildID string, limit int) ([]store.AuditEntry, error) {
	var all []store.AuditEntry
	err := db.read.query(ctx, `SELECT `+auditColumns+` FROM audit_log WHERE guild_id = ? ORDER BY at DESC, id DESC LIMIT ?`,
		args{guildID, max(limit, 0)}, collectAudit(&all))
	return all, db.fail(ctx, "read audit log", err)
}

const auditColumns = `id, guild_id, channel_id, actor_member_id, subject_member_id, action, detail, at`

func collectAudit(into *[]store.AuditEntry) func(row) error {
	return func(r row) error {
		var (
			a  store.AuditEntry
			at instant
		)
		err := r.Scan(&a.ID, &a.GuildID, &a.ChannelID, &a.ActorID, &a.SubjectID, &a.Action, &a.Detail, &at)
		a.At = at.Time
		*into = append(*into, a)
		return err
	}
}
