package postgres

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/parleybot/parley/store"
)

// PutWaiting implements store.Triggers.
func (db *DB) PutWaiting(ctx context.Context, w store.Waiting) error {
	if w.QueuedAt.IsZero() {
		w.QueuedAt = db.now()
	}
	_, err := exec(ctx, db.pool, `
		INSERT INTO waiting_triggers (message_id, process_id, channel_id, guild_id, owner_member_id, payload, queued_at)
		VALUES (@message, @process, @channel, @guild, @owner, @payload, @queued)
		ON CONFLICT (message_id) DO UPDATE SET
			process_id = excluded.process_id, channel_id = excluded.channel_id, guild_id = excluded.guild_id,
			owner_member_id = excluded.owner_member_id, payload = excluded.payload`,
		args{
			"message": w.MessageID, "process": db.presence.number, "channel": w.ChannelID, "guild": w.GuildID,
			"owner": w.OwnerID, "payload": document(w.Payload), "queued": w.QueuedAt,
		})
	return db.fail(ctx, "store waiting trigger", err)
}

// UpdateWaiting implements store.Triggers.
func (db *DB) UpdateWaiting(ctx context.Context, messageID string, payload []byte) error {
	changed, err := exec(ctx, db.pool, `UPDATE waiting_triggers SET payload = @payload WHERE message_id = @message`,
		args{"message": messageID, "payload": document(payload)})
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
	_, err := exec(ctx, db.pool, `DELETE FROM waiting_triggers WHERE message_id = ANY (@messages)`, args{"messages": messageIDs})
	return db.fail(ctx, "delete waiting triggers", err)
}

// AllWaiting implements store.Triggers. What waits for another process that lives is not among it; what a process that is
// gone has left waits for this one from now on.
func (db *DB) AllWaiting(ctx context.Context) ([]store.Waiting, error) {
	type placed struct {
		store.Waiting
		seq int64
	}
	found, err := query(ctx, db.pool, `
		WITH `+gone+`
		UPDATE waiting_triggers SET process_id = @process
		WHERE process_id IN (SELECT process_id FROM gone)
		RETURNING message_id, channel_id, guild_id, owner_member_id, payload, queued_at, seq`,
		args{"process": db.presence.number, "space": int32(lockSpace)}, func(row pgx.CollectableRow) (w placed, err error) {
			var payload string
			err = row.Scan(&w.MessageID, &w.ChannelID, &w.GuildID, &w.OwnerID, &payload, &w.QueuedAt, &w.seq)
			w.Payload, w.QueuedAt = json.RawMessage(payload), w.QueuedAt.UTC()
			return w, err
		})
	if err != nil {
		return nil, db.fail(ctx, "read waiting triggers", err)
	}
	slices.SortFunc(found, func(a, b placed) int {
		if order := a.QueuedAt.Compare(b.QueuedAt); order != 0 {
			return order
		}
		return int(a.seq - b.seq)
	})
	var all []store.Waiting
	for _, w := range found {
		all = append(all, w.Waiting)
	}
	return all, nil
}

// document makes a payload that is never NULL.
func document(payload []byte) json.RawMessage {
	if payload == nil {
		return json.RawMessage{}
	}
	return payload
}
