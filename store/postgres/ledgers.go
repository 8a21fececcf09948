package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/store/postgres/queries"
)

// PutShortTerm implements store.ShortTerms.
func (db *DB) PutShortTerm(ctx context.Context, s store.ShortTerm, limit int) error {
	if s.UpdatedAt.IsZero() {
		s.UpdatedAt = db.now()
	}
	err := db.transact(ctx, pgx.TxOptions{}, func(ask *queries.Queries, _ pgx.Tx) error {
		if err := ask.LockShortTerm(ctx, s.ChannelID); err != nil {
			return err
		}
		if err := ask.ExpireShortTerm(ctx, queries.ExpireShortTermParams{ChannelID: s.ChannelID, Now: s.UpdatedAt}); err != nil {
			return err
		}
		written, err := ask.PutShortTerm(ctx, queries.PutShortTermParams{
			ChannelID: s.ChannelID, Category: s.Category, GuildID: s.GuildID, AuthorMemberID: s.AuthorID, TurnID: s.TurnID,
			Content: s.Content, UpdatedAt: s.UpdatedAt, ExpiresAt: s.UpdatedAt.Add(store.ShortTermTTL), Most: int64(limit),
		})
		if err != nil || written > 0 {
			return err
		}
		others, err := ask.CountShortTerm(ctx, queries.CountShortTermParams{ChannelID: s.ChannelID, Category: s.Category})
		if err == nil && others >= int64(limit) {
			err = fmt.Errorf("%w: %d categories in this channel", store.ErrLimit, limit)
		}
		return leftOut(0, err)
	})
	return db.fail(ctx, "put short-term memory", err)
}

// ShortTermOf implements store.ShortTerms.
func (db *DB) ShortTermOf(ctx context.Context, channelID string, now time.Time) ([]store.ShortTerm, error) {
	found, err := db.ask.ShortTermOf(ctx, queries.ShortTermOfParams{ChannelID: channelID, Now: now})
	return each(found, shortTermOf), db.fail(ctx, "read short-term memory", err)
}

func shortTermOf(s queries.ShortTerm) store.ShortTerm {
	return store.ShortTerm{
		ChannelID: s.ChannelID, Category: s.Category, GuildID: s.GuildID, AuthorID: s.AuthorMemberID, TurnID: s.TurnID,
		Content: s.Content, UpdatedAt: s.UpdatedAt.UTC(),
	}
}

// ClearShortTerm implements store.ShortTerms.
func (db *DB) ClearShortTerm(ctx context.Context, channelID string) error {
	return db.fail(ctx, "clear short-term memory", db.ask.ClearShortTerm(ctx, channelID))
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
	return db.fail(ctx, "add audit entry", db.ask.AddAudit(ctx, queries.AddAuditParams{
		GuildID: a.GuildID, ChannelID: a.ChannelID, ActorMemberID: a.ActorID, SubjectMemberID: a.SubjectID, Action: a.Action,
		Detail: a.Detail, At: a.At,
	}))
}

// AuditOf implements store.Audit.
func (db *DB) AuditOf(ctx context.Context, guildID string, limit int) ([]store.AuditEntry, error) {
	found, err := db.ask.AuditOf(ctx, queries.AuditOfParams{GuildID: guildID, Count: most(limit)})
	return each(found, auditOf), db.fail(ctx, "read audit log", err)
}

func auditOf(a queries.AuditLog) store.AuditEntry {
	return store.AuditEntry{
		ID: a.ID, GuildID: a.GuildID, ChannelID: a.ChannelID, ActorID: a.ActorMemberID, SubjectID: a.SubjectMemberID,
		Action: a.Action, Detail: a.Detail, At: a.At.UTC(),
	}
}
