package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/store/postgres/queries"
)

// PutWaiting implements store.Triggers.
func (db *DB) PutWaiting(ctx context.Context, w store.Waiting) error {
	if w.QueuedAt.IsZero() {
		w.QueuedAt = db.now()
	}
	written, err := db.ask.PutWaiting(ctx, queries.PutWaitingParams{
		MessageID: w.MessageID, ProcessID: db.presence.number, ChannelID: w.ChannelID, GuildID: w.GuildID, OwnerMemberID: w.OwnerID,
		Payload: document(w.Payload), QueuedAt: w.QueuedAt,
	})
	return db.fail(ctx, "store waiting trigger", leftOut(written, err))
}

// UpdateWaiting implements store.Triggers.
func (db *DB) UpdateWaiting(ctx context.Context, messageID string, payload []byte) error {
	changed, err := db.ask.UpdateWaiting(ctx, queries.UpdateWaitingParams{MessageID: messageID, Payload: document(payload)})
	if err == nil && changed == 0 {
		err = store.ErrNotFound
	}
	return db.fail(ctx, "update waiting trigger", err)
}

// DeleteWaiting implements store.Triggers.
func (db *DB) DeleteWaiting(ctx context.Context, messageIDs ...string) error {
	if len(messageIDs) == 0 {
		return nil
	}
	return db.fail(ctx, "delete waiting triggers", db.ask.DeleteWaiting(ctx, messageIDs))
}

// AllWaiting implements store.Triggers. What waits for another process that lives is not among it; what a process that is
// gone has left waits for this one from now on.
func (db *DB) AllWaiting(ctx context.Context) ([]store.Waiting, error) {
	found, err := db.ask.TakeWaiting(ctx, queries.TakeWaitingParams{This: db.presence.number, Space: lockSpace})
	slices.SortFunc(found, func(a, b queries.WaitingTrigger) int { // RETURNING promises no order
		return cmp.Or(a.QueuedAt.Compare(b.QueuedAt), cmp.Compare(a.Seq, b.Seq))
	})
	return each(found, waitingOf), db.fail(ctx, "read waiting triggers", err)
}

func waitingOf(w queries.WaitingTrigger) store.Waiting {
	return store.Waiting{
		MessageID: w.MessageID, ChannelID: w.ChannelID, GuildID: w.GuildID, OwnerID: w.OwnerMemberID, Payload: w.Payload,
		QueuedAt: w.QueuedAt.UTC(),
	}
}

// document makes a payload that is never NULL.
func document(payload []byte) json.RawMessage {
	if payload == nil {
		return json.RawMessage{}
	}
	return payload
}
