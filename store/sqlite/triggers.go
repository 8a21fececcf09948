package sqlite

import (
	"context"
	"encoding/json"

	"github.com/parleybot/parley/store"
)

// PutWaiting implements store.Triggers.
func (db *DB) PutWaiting(ctx context.Context, w store.Waiting) error {
	if w.QueuedAt.IsZero() {
		w.QueuedAt = db.now()
	}
	return db.fail(ctx, "store waiting trigger", leftOut(db.write.one(ctx, `
		INSERT INTO waiting_triggers (message_id, channel_id, guild_id, owner_member_id, payload, queued_at)
		VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (message_id) DO UPDATE SET
			channel_id = excluded.channel_id, guild_id = excluded.guild_id,
			owner_member_id = excluded.owner_member_id, payload = excluded.payload`,
		w.MessageID, w.ChannelID, w.GuildID, w.OwnerID, document(w.Payload), w.QueuedAt)))
}

// UpdateWaiting implements store.Triggers.
func (db *DB) UpdateWaiting(ctx context.Context, messageID string, payload []byte) error {
	changed, err := db.write.one(ctx, `UPDATE waiting_triggers SET payload = ? WHERE message_id = ?`, document(payload), messageID)
	if err == nil && changed == 0 {
		err = store.ErrNotFound
	}
	return db.fail(ctx, "update waiting trigger", err)
}

// DeleteWaiting implements store.Triggers.
func (db *DB) DeleteWaiting(ctx context.Context, messageIDs ...string) error {
	const doing = "delete waiting triggers"
	if len(messageIDs) == 0 {
		return nil
	}
	ids, err := json.Marshal(messageIDs)
	if err != nil {
		return db.fail(ctx, doing, err)
	}
	_, err = db.write.one(ctx, `DELETE FROM waiting_triggers WHERE message_id IN (SELECT value FROM json_each(?))`, json.RawMessage(ids))
	return db.fail(ctx, doing, err)
}

const waitingColumns = `message_id, channel_id, guild_id, owner_member_id, payload, queued_at`

// AllWaiting implements store.Triggers.
func (db *DB) AllWaiting(ctx context.Context) ([]store.Waiting, error) {
	var all []store.Waiting
	err := db.read.query(ctx, `SELECT `+waitingColumns+` FROM waiting_triggers ORDER BY queued_at, seq`, nil, collectWaiting(&all))
	return all, db.fail(ctx, "read waiting triggers", err)
}

func collectWaiting(into *[]store.Waiting) func(row) error {
	return func(r row) error {
		var (
			w       store.Waiting
			payload string
			queued  instant
		)
		err := r.Scan(&w.MessageID, &w.ChannelID, &w.GuildID, &w.OwnerID, &payload, &queued)
		w.Payload, w.QueuedAt = json.RawMessage(payload), queued.Time
		*into = append(*into, w)
		return err
	}
}

// document makes a payload that is never NULL.
func document(payload []byte) json.RawMessage {
	if payload == nil {
		return json.RawMessage{}
	}
	return payload
}
