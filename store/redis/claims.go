package redis

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// claim takes a free or expired id. ARGV: now, when it expires, its time to live in ms.
var claim = redis.NewScript(`
	local held = redis.call('GET', KEYS[1])
	if held and tonumber(held) > tonumber(ARGV[1]) then return 0 end
	redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
	return 1`)

// Claim implements store.Claims.
func (db *DB) Claim(ctx context.Context, id string, ttl time.Duration, now time.Time) (bool, error) {
	won, err := claim.Run(ctx, db.client, []string{db.keys.of(claimKey, id)}, micros(now), micros(now.Add(ttl)), lifetime(ttl)).Bool()
	return won, db.fail(ctx, "claim", err)
}

// Unclaim implements store.Claims.
func (db *DB) Unclaim(ctx context.Context, id string) error {
	return db.fail(ctx, "give claim back", db.client.Del(ctx, db.keys.of(claimKey, id)).Err())
}

// lifetime is a time to live in whole milliseconds, at least one.
func lifetime(ttl time.Duration) int64 { return max(ttl.Milliseconds(), 1) }
