package sqlite

import (
	"context"
	"time"
)

const (
	// tidyEvery is after how many claims expired ones are removed: often enough that they stay few, seldom enough that
	// a claim is usually one statement.
	tidyEvery = 64
	// tidyAtMost bounds one removal, so that no claim waits long for a backlog.
	tidyAtMost = 4 * tidyEvery
)

// Claim implements store.Claims.
func (db *DB) Claim(ctx context.Context, id string, ttl time.Duration, now time.Time) (bool, error) {
	const doing = "claim"
	if db.claims.Add(1)%tidyEvery == 0 {
		_, err := db.write.one(ctx, `DELETE FROM claims WHERE id IN
			(SELECT id FROM claims WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`, now, tidyAtMost)
		if err != nil {
			return false, db.fail(ctx, doing, err)
		}
	}
	// An expired claim is taken over in the same statement: its row may still be there.
	changed, err := db.write.one(ctx, `INSERT INTO claims (id, expires_at) VALUES (?1, ?2)
		ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at WHERE expires_at <= ?3`, id, now.Add(ttl), now)
	return changed == 1, db.fail(ctx, doing, err)
}

// Unclaim implements store.Claims.
func (db *DB) Unclaim(ctx context.Context, id string) error {
	_, err := db.write.one(ctx, `DELETE FROM claims WHERE id = ?`, id)
	return db.fail(ctx, "give claim back", err)
}
