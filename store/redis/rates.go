package redis

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/parleybot/parley/store"
)

// allow keeps the times of the counted events, at most limit of them. KEYS: rate. ARGV: now, the window's begin, limit,
// time to live in ms, a name for the event.
var allow = redis.NewScript(`
	redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[2])
	if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
	redis.call('ZADD', KEYS[1], ARGV[1], ARGV[5])
	redis.call('PEXPIRE', KEYS[1], ARGV[4])
	return 1`)

// AllowEvent implements store.Rates.
func (db *DB) AllowEvent(ctx context.Context, rate store.Rate, limit int, window time.Duration, now time.Time) (bool, error) {
	allowed, err := allow.Run(ctx, db.client, []string{db.keys.rate(rate)},
		micros(now), micros(now.Add(-window)), limit, lifetime(window), rand.Text()).Bool()
	return allowed, db.fail(ctx, "count event", err)
}

// take moves the time until which requests are spent. KEYS: budget. ARGV: now, how long the requests take, what may be
// spent at once, both in µs. It returns the wait in µs.
var take = redis.NewScript(`
	local now, cost, burst = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
	local spent = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now) + cost
	redis.call('SET', KEYS[1], string.format('%.0f', spent), 'PX', math.ceil((spent - now + burst) / 1000))
	return math.max(0, spent - now - burst)`)

// TakeRequests implements store.Budget.
func (db *DB) TakeRequests(ctx context.Context, n, perSecond int, now time.Time) (time.Duration, error) {
	if n <= 0 || perSecond <= 0 {
		return 0, nil
	}
	wait, err := take.Run(ctx, db.client, []string{db.keys.of(budgetKey)},
		micros(now), int64(n)*1_000_000/int64(perSecond), 1_000_000).Int64()
	return time.Duration(wait) * time.Microsecond, db.fail(ctx, "take requests", err)
}
