package turn

import (
	"context"
	"time"

	"github.com/parleybot/parley/store"
)

// Approval cards are recorded so that one which is open when the process dies is closed at the next start. The record
// decides nothing: what counts is the loop that waits. A store that is away keeps nobody from approving.

// opened records a card before anybody sees it: one that is seen is known, whenever the process dies.
func (m *Manager) opened(ctx context.Context, c Card) {
	ctx, cancel := context.WithTimeout(ctx, ioTimeout)
	defer cancel()
	_, err := safely(func() (struct{}, error) {
		return struct{}{}, m.Store.OpenApproval(ctx, store.Approval{
			Token: c.Token, TurnID: c.TurnID, CallKey: c.CallKey, GuildID: c.GuildID, ChannelID: c.ChannelID,
			Tool: c.Tool, Arguments: c.Arguments, OwnerID: c.OwnerID, OpenedAt: time.Now().UTC(),
		})
	})
	if err != nil {
		m.Log.Warn().Err(err).Str("turn", c.TurnID).Msg("approval.not_recorded")
	}
}

// shown records which message a card became, beside the turn. Without it the card is looked for in its channel.
func (m *Manager) shown(token, messageID string) {
	m.aside("recording where a card is", func(ctx context.Context) error { return m.Store.ShowApproval(ctx, token, messageID) })
}

// closed records how a card ended, beside the turn: the approved call does not wait for it.
func (m *Manager) closed(token string, s CardState, d Decision) {
	a := store.Approval{Token: token, Status: approvalStatus(s), DecidedBy: d.By, Reason: d.Reason, DecidedAt: time.Now().UTC()}
	m.aside("recording how a card ended", func(ctx context.Context) error {
		_, err := m.Store.DecideApproval(ctx, a)
		return err
	})
}

func approvalStatus(s CardState) store.ApprovalStatus {
	switch s {
	case CardApproved:
		return store.ApprovalApproved
	case CardDenied:
		return store.ApprovalDenied
	case CardExpired:
		return store.ApprovalExpired
	case CardStopped:
	}
	return store.ApprovalStopped
}

// withdraw closes a card whose process is gone. It is recorded as stopped only when that is shown, so that what could not
// be shown is tried again at the next start.
func (m *Manager) withdraw(a store.Approval) {
	m.spawn(func() {
		m.io("withdrawing a card", func(ctx context.Context) error {
			c := Card{
				Token: a.Token, TurnID: a.TurnID, ChannelID: a.ChannelID, GuildID: a.GuildID, OwnerID: a.OwnerID, Tool: a.Tool,
				Arguments: a.Arguments, ExpiresAt: a.OpenedAt.Add(m.Loop.ApprovalTimeout()),
			}
			if err := m.Edge.Withdraw(ctx, c, a.MessageID); err != nil {
				return err
			}
			_, err := m.Store.DecideApproval(ctx, store.Approval{
				Token: a.Token, Status: store.ApprovalStopped, Reason: "the process that asked is gone", DecidedAt: time.Now().UTC(),
			})
			return err
		})
	})
}
