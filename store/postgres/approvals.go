package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/parleybot/parley/store"
)

// OpenApproval implements store.Approvals.
func (db *DB) OpenApproval(ctx context.Context, a store.Approval) error {
	if a.OpenedAt.IsZero() {
		a.OpenedAt = db.now()
	}
	_, err := exec(ctx, db.pool, `
		INSERT INTO approvals (token, turn_id, call_key, guild_id, channel_id, message_id, tool, arguments, owner_member_id, status,
			decider_member_id, reason, opened_at)
		VALUES (@token, @turn, @key, @guild, @channel, @message, @tool, @arguments, @owner, 'open', '', '', @opened)`, args{
		"token": a.Token, "turn": a.TurnID, "key": a.CallKey, "guild": a.GuildID, "channel": a.ChannelID, "message": a.MessageID,
		"tool": a.Tool, "arguments": a.Arguments, "owner": a.OwnerID, "opened": a.OpenedAt,
	})
	return db.fail(ctx, "open approval", err)
}

// DecideApproval implements store.Approvals.
func (db *DB) DecideApproval(ctx context.Context, a store.Approval) (bool, error) {
	const doing = "decide approval"
	if a.Status == store.ApprovalOpen || a.Status == "" {
		return false, db.fail(ctx, doing, fmt.Errorf("%w: it would end as %q", store.ErrInvalid, a.Status))
	}
	if a.DecidedAt.IsZero() {
		a.DecidedAt = db.now()
	}
	changed, err := exec(ctx, db.pool, `
		UPDATE approvals SET status = @status, decider_member_id = @decider, reason = @reason, decided_at = @decided
		WHERE token = @token AND status = 'open'`,
		args{"token": a.Token, "status": a.Status, "decider": a.DecidedBy, "reason": a.Reason, "decided": a.DecidedAt})
	return changed == 1, db.fail(ctx, doing, err)
}

// OpenApprovals implements store.Approvals.
func (db *DB) OpenApprovals(ctx context.Context) ([]store.Approval, error) {
	all, err := query(ctx, db.pool, `SELECT token, turn_id, call_key, guild_id, channel_id, message_id, tool, arguments, owner_member_id,
			status, decider_member_id, reason, opened_at, decided_at
		FROM approvals WHERE status = 'open' ORDER BY opened_at, token COLLATE "C"`, nil, func(row pgx.CollectableRow) (store.Approval, error) {
		var (
			a       store.Approval
			decided *time.Time
		)
		err := row.Scan(&a.Token, &a.TurnID, &a.CallKey, &a.GuildID, &a.ChannelID, &a.MessageID, &a.Tool, &a.Arguments, &a.OwnerID,
			&a.Status, &a.DecidedBy, &a.Reason, &a.OpenedAt, &decided)
		a.OpenedAt, a.DecidedAt = a.OpenedAt.UTC(), instant(decided)
		return a, err
	})
	return all, db.fail(ctx, "read open approvals", err)
}
