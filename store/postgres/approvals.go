package postgres

import (
	"context"
	"fmt"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/store/postgres/queries"
)

// OpenApproval implements store.Approvals.
func (db *DB) OpenApproval(ctx context.Context, a store.Approval) error {
	if a.OpenedAt.IsZero() {
		a.OpenedAt = db.now()
	}
	written, err := db.ask.OpenApproval(ctx, queries.OpenApprovalParams{
		Token: a.Token, TurnID: a.TurnID, CallKey: a.CallKey, GuildID: a.GuildID, ChannelID: a.ChannelID, MessageID: a.MessageID,
		Tool: a.Tool, Arguments: a.Arguments, OwnerMemberID: a.OwnerID, OpenedAt: a.OpenedAt,
	})
	return db.fail(ctx, "open approval", leftOut(written, err))
}

// ShowApproval implements store.Approvals.
func (db *DB) ShowApproval(ctx context.Context, token, messageID string) error {
	err := db.ask.ShowApproval(ctx, queries.ShowApprovalParams{Token: token, MessageID: messageID})
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
	changed, err := db.ask.DecideApproval(ctx, queries.DecideApprovalParams{
		Token: a.Token, Status: a.Status, DeciderMemberID: a.DecidedBy, Reason: a.Reason, DecidedAt: moment(a.DecidedAt),
	})
	return changed == 1, db.fail(ctx, doing, err)
}

// OpenApprovals implements store.Approvals.
func (db *DB) OpenApprovals(ctx context.Context) ([]store.Approval, error) {
	found, err := db.ask.OpenApprovals(ctx)
	return each(found, approvalOf), db.fail(ctx, "read open approvals", err)
}

func approvalOf(a queries.Approval) store.Approval {
	return store.Approval{
		Token: a.Token, TurnID: a.TurnID, CallKey: a.CallKey, GuildID: a.GuildID, ChannelID: a.ChannelID, MessageID: a.MessageID,
		Tool: a.Tool, Arguments: a.Arguments, OwnerID: a.OwnerMemberID, Status: a.Status, DecidedBy: a.DeciderMemberID,
		Reason: a.Reason, OpenedAt: a.OpenedAt.UTC(), DecidedAt: instant(a.DecidedAt),
	}
}
