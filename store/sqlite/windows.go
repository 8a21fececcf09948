package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/parleybot/parley/store"
)

// ConsumeWindows implements store.Windows.
func (db *DB) ConsumeWindows(ctx context.Context, channelID, turnID string, now time.Time) ([]string, error) {
	var tools []string
	err := db.write.transact(ctx, func(ctx context.Context) error {
		if err := db.expireWindows(ctx, now); err != nil {
			return err
		}
		known, err := db.consumedBy(ctx, channelID, turnID, &tools)
		if err != nil || known {
			return err
		}
		return db.countDown(ctx, channelID, turnID, now, &tools)
	})
	if err != nil {
		return nil, db.fail(ctx, "consume windows", err)
	}
	return tools, nil
}

// consumedBy reads what a turn that has counted already was given.
func (db *DB) consumedBy(ctx context.Context, channelID, turnID string, tools *[]string) (known bool, err error) {
	err = db.write.query(ctx, `SELECT tools FROM window_turns WHERE channel_id = ? AND turn_id = ?`, args{channelID, turnID},
		func(r row) error {
			var text string
			if err := r.Scan(&text); err != nil {
				return err
			}
			known = true
			if err := json.Unmarshal([]byte(text), tools); err != nil {
				return fmt.Errorf("windows of turn %s: %w: %w", turnID, store.ErrCorrupt, err)
			}
			return nil
		})
	return known, err
}

// countDown takes one turn off every window of the channel and remembers for the turn what was open.
func (db *DB) countDown(ctx context.Context, channelID, turnID string, now time.Time, tools *[]string) error {
	err := db.write.query(ctx, `SELECT tool FROM windows WHERE channel_id = ? ORDER BY tool`, args{channelID}, func(r row) error {
		var tool string
		err := r.Scan(&tool)
		*tools = append(*tools, tool)
		return err
	})
	if err != nil {
		return err
	}
	if len(*tools) > 0 {
		_, err := db.write.exec(ctx, `UPDATE windows SET turns_left = turns_left - 1, expires_at = ? WHERE channel_id = ?`,
			args{now.Add(store.WindowTTL), channelID})
		if err != nil {
			return err
		}
		if _, err := db.write.exec(ctx, `DELETE FROM windows WHERE channel_id = ? AND turns_left = 0`, args{channelID}); err != nil {
			return err
		}
	}
	text, err := json.Marshal(*tools)
	if err != nil {
		return err
	}
	_, err = db.write.exec(ctx, `INSERT INTO window_turns (channel_id, turn_id, tools, expires_at) VALUES (?, ?, ?, ?)`,
		args{channelID, turnID, json.RawMessage(text), now.Add(store.WindowTTL)})
	return err
}

// RetainWindow implements store.Windows.
func (db *DB) RetainWindow(ctx context.Context, channelID, tool string, n int, now time.Time) error {
	err := db.write.transact(ctx, func(ctx context.Context) error {
		if n <= 0 {
			_, err := db.write.exec(ctx, `DELETE FROM windows WHERE channel_id = ? AND tool = ?`, args{channelID, tool})
			return err
		}
		if err := db.expireWindows(ctx, now); err != nil {
			return err
		}
		expires := now.Add(store.WindowTTL)
		_, err := db.write.exec(ctx, `INSERT INTO windows (channel_id, tool, turns_left, expires_at) VALUES (?, ?, ?, ?)
			ON CONFLICT (channel_id, tool) DO UPDATE SET turns_left = excluded.turns_left`, args{channelID, tool, n, expires})
		if err != nil {
			return err
		}
		_, err = db.write.exec(ctx, `UPDATE windows SET expires_at = ? WHERE channel_id = ?`, args{expires, channelID})
		return err
	})
	return db.fail(ctx, "retain window", err)
}

// ClearWindows implements store.Windows. The turns that have counted stay known, with nothing open: were they forgotten,
// one that asks again would count again.
func (db *DB) ClearWindows(ctx context.Context, channelID string) error {
	err := db.write.transact(ctx, func(ctx context.Context) error {
		if _, err := db.write.exec(ctx, `DELETE FROM windows WHERE channel_id = ?`, args{channelID}); err != nil {
			return err
		}
		_, err := db.write.exec(ctx, `UPDATE window_turns SET tools = 'null' WHERE channel_id = ?`, args{channelID})
		return err
	})
	return db.fail(ctx, "clear windows", err)
}

// expireWindows removes what has outlived store.WindowTTL, in all channels: rows go at the pace at which they came, so
// there are few at a time.
func (db *DB) expireWindows(ctx context.Context, now time.Time) error {
	if _, err := db.write.exec(ctx, `DELETE FROM windows WHERE expires_at <= ?`, args{now}); err != nil {
		return err
	}
	_, err := db.write.exec(ctx, `DELETE FROM window_turns WHERE expires_at <= ?`, args{now})
	return err
}
