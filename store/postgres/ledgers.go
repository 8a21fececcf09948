package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/parleybot/parley/store"
)

// PutShortTerm implements store.ShortTerms. Whoever writes to a channel holds its lock until the end of the transaction, so
// what is counted is what is there.
func (db *DB) PutShortTerm(ctx context.Context, s store.ShortTerm, limit int) error {
	if s.UpdatedAt.IsZero() {
		s.UpdatedAt = db.now()
	}
	err := pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
		if _, err := exec(ctx, tx, `SELECT pg_advisory_xact_lock(hashtextextended('short term ' || @channel, 0))`, args{"channel": s.ChannelID}); err != nil {
			return err
		}
		if _, err := exec(ctx, tx, `DELETE FROM short_term WHERE channel_id = @channel AND expires_at <= @now`,
			args{"channel": s.ChannelID, "now": s.UpdatedAt}); err != nil {
			return err
		}
		written, err := exec(ctx, tx, `
			INSERT INTO short_term (channel_id, category, guild_id, author_member_id, turn_id, content, updated_at, expires_at)
			SELECT @channel, @category, @guild, @author, @turn, @content, @updated, @expires
			WHERE (SELECT count(*) FROM short_term WHERE channel_id = @channel AND category <> @category) < @limit
			ON CONFLICT (channel_id, category) DO UPDATE SET author_member_id = excluded.author_member_id,
				turn_id = excluded.turn_id, content = excluded.content, updated_at = excluded.updated_at, expires_at = excluded.expires_at`,
			args{
				"channel": s.ChannelID, "category": s.Category, "guild": s.GuildID, "author": s.AuthorID, "turn": s.TurnID,
				"content": s.Content, "updated": s.UpdatedAt, "expires": s.UpdatedAt.Add(store.ShortTermTTL), "limit": limit,
			})
		if err == nil && written == 0 {
			err = fmt.Errorf("%w: %d categories in this channel", store.ErrLimit, limit)
		}
		return err
	})
	return db.fail(ctx, "put short-term memory", err)
}

// ShortTermOf implements store.ShortTerms.
func (db *DB) ShortTermOf(ctx context.Context, channelID string, now time.Time) ([]store.ShortTerm, error) {
	all, err := query(ctx, db.pool, `SELECT channel_id, category, guild_id, author_member_id, turn_id, content, updated_at
		FROM short_term WHERE channel_id = @channel AND expires_at > @now ORDER BY category COLLATE "C"`,
		args{"channel": channelID, "now": now}, func(row pgx.CollectableRow) (s store.ShortTerm, err error) {
			err = row.Scan(&s.ChannelID, &s.Category, &s.GuildID, &s.AuthorID, &s.TurnID, &s.Content, &s.UpdatedAt)
			s.UpdatedAt = s.UpdatedAt.UTC()
			return s, err
		})
	return all, db.fail(ctx, "read short-term memory", err)
}

// ClearShortTerm implements store.ShortTerms.
func (db *DB) ClearShortTerm(ctx context.Context, channelID string) error {
	_, err := exec(ctx, db.pool, `DELETE FROM short_term WHERE channel_id = @channel`, args{"channel": channelID})
	return db.fail(ctx, "clear short-term memory", err)
}

// AddUsage implements store.Ledger.
func (db *DB) AddUsage(ctx context.Context, u store.UsageEntry) error {
	if u.At.IsZero() {
		u.At = db.now()
	}
	_, err := exec(ctx, db.pool, `
		INSERT INTO usage_ledger (turn_id, model, guild_id, channel_id, member_id, input_tokens, output_tokens,
			cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_nanos, unpriced, at)
		VALUES (@turn, @model, @guild, @channel, @member, @input, @output, @cache_read, @cache_write, @reasoning, @cost, @unpriced, @at)
		ON CONFLICT (turn_id, model) DO NOTHING`, args{
		"turn": u.TurnID, "model": u.Model, "guild": u.GuildID, "channel": u.ChannelID, "member": u.MemberID, "input": u.Usage.Input,
		"output": u.Usage.Output, "cache_read": u.Usage.CacheRead, "cache_write": u.Usage.CacheWrite,
		"reasoning": u.Usage.Reasoning, "cost": u.Usage.CostNanos, "unpriced": u.Usage.Unpriced, "at": u.At,
	})
	return db.fail(ctx, "add usage", err)
}

// UsageOf implements store.Ledger.
func (db *DB) UsageOf(ctx context.Context, q store.UsageQuery) ([]store.UsageTotal, error) {
	where, values := "true", args{}
	for _, given := range []struct{ column, name, id string }{
		{"guild_id", "guild", q.GuildID}, {"channel_id", "channel", q.ChannelID}, {"member_id", "member", q.MemberID},
	} {
		if given.id != "" { // a condition that is not asked for would keep the planner from the index of another
			where += " AND " + given.column + " = @" + given.name
			values[given.name] = given.id
		}
	}
	if !q.Since.IsZero() {
		where += " AND at >= @since"
		values["since"] = q.Since
	}
	totals, err := query(ctx, db.pool, `
		SELECT model, count(DISTINCT turn_id), sum(input_tokens)::bigint, sum(output_tokens)::bigint, sum(cache_read_tokens)::bigint,
			sum(cache_write_tokens)::bigint, sum(reasoning_tokens)::bigint, sum(cost_nanos)::bigint, bool_or(unpriced)
		FROM usage_ledger WHERE `+where+` GROUP BY model ORDER BY model COLLATE "C"`, values,
		func(row pgx.CollectableRow) (u store.UsageTotal, err error) {
			err = row.Scan(&u.Model, &u.Turns, &u.Usage.Input, &u.Usage.Output, &u.Usage.CacheRead, &u.Usage.CacheWrite,
				&u.Usage.Reasoning, &u.Usage.CostNanos, &u.Usage.Unpriced)
			return u, err
		})
	return totals, db.fail(ctx, "sum usage", err)
}

// AddAudit implements store.Audit.
func (db *DB) AddAudit(ctx context.Context, a store.AuditEntry) error {
	if a.At.IsZero() {
		a.At = db.now()
	}
	_, err := exec(ctx, db.pool, `INSERT INTO audit_log (guild_id, channel_id, actor_member_id, subject_member_id, action, detail, at)
		VALUES (@guild, @channel, @actor, @subject, @action, @detail, @at)`, args{
		"guild": a.GuildID, "channel": a.ChannelID, "actor": a.ActorID, "subject": a.SubjectID, "action": a.Action,
		"detail": a.Detail, "at": a.At,
	})
	return db.fail(ctx, "add audit entry", err)
}

// AuditOf implements store.Audit.
func (db *DB) AuditOf(ctx context.Context, guildID string, limit int) ([]store.AuditEntry, error) {
	all, err := query(ctx, db.pool, `SELECT id, guild_id, channel_id, actor_member_id, subject_member_id, action, detail, at
		FROM audit_log WHERE guild_id = @guild ORDER BY at DESC, id DESC LIMIT @limit`,
		args{"guild": guildID, "limit": max(limit, 0)}, func(row pgx.CollectableRow) (a store.AuditEntry, err error) {
			err = row.Scan(&a.ID, &a.GuildID, &a.ChannelID, &a.ActorID, &a.SubjectID, &a.Action, &a.Detail, &a.At)
			a.At = a.At.UTC()
			return a, err
		})
	return all, db.fail(ctx, "read audit log", err)
}
