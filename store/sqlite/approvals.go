package sqlite

import (
	"context"
	"fmt"

	"github.com/parleybot/parley/store"
)

// OpenApproval implements store.Approvals.
func (db *DB) OpenApproval(ctx context.Context, a store.Approval) error {
	if a.OpenedAt.IsZero() {
		a.OpenedAt = db.now()
	}
	return db.fail(ctx, "open approval", leftOut(db.write.one(ctx, `
		INSERT INTO approvals (token, turn_id, call_key, guild_id, channel_id, message_id, tool, arguments, owner_member_id, status,
			decider_member_id, reason, opened_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'open', '', '', ?)`,
		a.Token, a.TurnID, a.CallKey, a.GuildID, a.ChannelID, a.MessageID, a.Tool, a.Arguments, a.OwnerID, a.OpenedAt)))
}

// ShowApproval implements store.Approvals.
func (db *DB) ShowApproval(ctx context.Context, token, messageID string) error {
	_, err := db.write.one(ctx, `UPDATE approvals SET message_id = ? WHERE token = ?`, messageID, token)
	return db.fail(ctx, "note the message of an approval", err)
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
	changed, err := db.write.one(ctx, `UPDATE approvals SET status = ?, decider_member_id = ?, reason = ?, decided_at = ?
		WHERE token = ? AND status = 'open'`, a.Status, a.DecidedBy, a.Reason, a.DecidedAt, a.Token)
	return changed == 1, db.fail(ctx, doing, err)
}

// OpenApprovals implements store.Approvals.
func (db *DB) OpenApprovals(ctx context.Context) ([]store.Approval, error) {
	var all []store.Approval
	err := db.read.query(ctx, `SELECT `+approvalColumns+` FROM approvals WHERE status = 'open'
		AND NOT EXISTS (SELECT 1 FROM turns WHERE turns.id = approvals.turn_id AND turns.status = 'running')
		ORDER BY opened_at, token`, nil, collectApprovals(&all))
	return all, db.fail(ctx, "read open approvals", err)
}

const approvalColumns = `token, turn_id, call_key, guild_id, channel_id, message_id, tool, arguments, owner_member_id, status,
	decider_member_id, reason, opened_at, decided_at`

func collectApprovals(into *[]store.Approval) func(row) error {
	return func(r row) error {
		var (
			a               store.Approval
			opened, decided instant
		)
		err := r.Scan(&a.Token, &a.TurnID, &a.CallKey, &a.GuildID, &a.ChannelID, &a.MessageID, &a.Tool, &a.Arguments, &a.OwnerID,
			&a.Status, &a.DecidedBy, &a.Reason, &opened, &decided)
		a.OpenedAt, a.DecidedAt = opened.Time, decided.Time
		*into = append(*into, a)
		return err
	}
}
