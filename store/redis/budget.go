package redis

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/parleybot/parley/store"
)

// take gives each request the time at which it is due. KEYS: when the next request is due that comes after no silence. ARGV:
// now in µs, or nothing for the server's own; n; the time between two requests and that of a burst, in µs. It returns the
// waits in µs. A time that lies a minute ahead was written by a clock that has been set back since, and counts for nothing.
var take = redis.NewScript(`
	local now, n, apart, burst = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
	if not now then
		local time = redis.call('TIME')
		now = time[1] * 1000000 + time[2]
	end
	local due = tonumber(redis.call('GET', KEYS[1]) or '0')
	if due > now + 60000000 then due = 0 end
	local waits = {}
	for i = 1, n do
		due = math.max(due, now - burst + apart)
		waits[i] = math.max(0, due - now)
		due = due + apart
	end
	redis.call('SET', KEYS[1], string.format('%.0f', due), 'PX', math.ceil((math.max(due - now, 0) + burst) / 1000) + 1000)
	return waits`)

// TakeRequests implements store.Budget.
func (db *DB) TakeRequests(ctx context.Context, n int, pace store.Pace, now time.Time) ([]time.Duration, error) {
	if n <= 0 {
		return nil, nil
	}
	if pace.PerSecond < 1 || pace.Burst < 1 {
		return nil, db.fail(ctx, "take requests", fmt.Errorf("%w: a pace of %+v", store.ErrInvalid, pace))
	}
	clock := ""
	if !now.IsZero() {
		clock = strconv.FormatInt(micros(now), 10)
	}
	apart := (int64(time.Second/time.Microsecond) + int64(pace.PerSecond) - 1) / int64(pace.PerSecond)
	micro, err := take.Run(ctx, db.client, []string{db.keys.of(requestsKey)}, clock, n, apart, apart*int64(pace.Burst)).Int64Slice()
	if err != nil {
		return nil, db.fail(ctx, "take requests", err)
	}
	waits := make([]time.Duration, len(micro))
	for i, us := range micro {
		waits[i] = time.Duration(us) * time.Microsecond
	}
	return waits, nil
}
