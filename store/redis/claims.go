package redis

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/parleybot/parley/store"
)

// claim takes a free or expired id and counts for it. A rate keeps the times of what it counted, at most as many as its
// limit. KEYS: claim, rates. ARGV: now, when the claim expires, its time to live in ms, 1 when it is free, a name for what
// is counted; then for each rate the window's begin, the limit, time to live in ms. It returns 0 when the id is taken, 1
// when it was free, one more than the number of the first rate without room.
var claim = redis.NewScript(`
	local held = redis.call('GET', KEYS[1])
	if held and tonumber(held) > tonumber(ARGV[1]) then return 0 end
	redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
	local room = {}
	for i = 2, #KEYS do
		local at = 3 * i
		redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', ARGV[at])
		room[i] = redis.call('ZCARD', KEYS[i]) < tonumber(ARGV[at + 1])
		if not room[i] and ARGV[4] == '0' then return i end
	end
	for i = 2, #KEYS do
		if room[i] then
			redis.call('ZADD', KEYS[i], ARGV[1], ARGV[5])
			redis.call('PEXPIRE', KEYS[i], ARGV[3 * i + 2])
		end
	end
	return 1`)

// Claim implements store.Claims.
func (db *DB) Claim(ctx context.Context, c store.Claim, now time.Time) (store.Claimed, error) {
	free := 0
	if c.Free {
		free = 1
	}
	keys := []string{db.keys.of(claimKey, c.ID)}
	values := []any{micros(now), micros(now.Add(c.TTL)), lifetime(c.TTL), free, rand.Text()}
	for _, count := range c.Counts {
		keys = append(keys, db.keys.rate(count.Rate))
		values = append(values, micros(now.Add(-count.Window)), count.Limit, lifetime(count.Window))
	}
	answer, err := claim.Run(ctx, db.client, keys, values...).Int()
	claimed := store.Claimed{Ours: answer > 0}
	if over := answer - 2; over >= 0 && over < len(c.Counts) {
		claimed.Over = c.Counts[over].Rate
	}
	return claimed, db.fail(ctx, "claim", err)
}

// lifetime is a time to live in whole milliseconds, at least one.
func lifetime(ttl time.Duration) int64 { return max(ttl.Milliseconds(), 1) }
