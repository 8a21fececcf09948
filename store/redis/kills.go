package redis

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/parleybot/parley/store"
)

const (
	// ordersKept bounds how many orders are kept for those who could not hear them.
	ordersKept = 256
	// hearFor is how long the server waits for an order before it says that there is none.
	hearFor = 5 * time.Second
)

// Orders are a stream, whose ids are times of the server's clock. Who reads on from the last id it has got misses nothing and
// gets nothing twice, however often its connection is lost.
//
// publish adds one. KEYS: kills. ARGV: how many are kept, for how many ms, from which process, of which member, the order.
var publish = redis.NewScript(`
	redis.call('XADD', KEYS[1], 'MAXLEN', ARGV[1], '*', 'from', ARGV[3], 'member', ARGV[4], 'order', ARGV[5])
	return redis.call('PEXPIRE', KEYS[1], ARGV[2])`)

// forgetOrders removes a member's. KEYS: kills. ARGV: the member.
var forgetOrders = redis.NewScript(`
	for _, entry in ipairs(redis.call('XRANGE', KEYS[1], '-', '+')) do
		for i = 1, #entry[2], 2 do
			if entry[2][i] == 'member' and entry[2][i + 1] == ARGV[1] then redis.call('XDEL', KEYS[1], entry[1]) end
		end
	end
	return 0`)

// PublishKill implements store.KillBus.
func (db *DB) PublishKill(ctx context.Context, memberID string, order []byte) error {
	return db.fail(ctx, "publish kill", publish.Run(ctx, db.client, []string{db.keys.of(killsKey)},
		ordersKept, store.KillsKept.Milliseconds(), db.id, store.Clean(memberID), string(order)).Err())
}

// SubscribeKills implements store.KillBus. It reads on a connection of its own, since the server answers when there is an
// order, and since only closing it ends the wait at once.
func (db *DB) SubscribeKills(ctx context.Context, state func(error), receive func(order []byte)) {
	options := *db.client.Options()
	options.PoolSize, options.MaxActiveConns = 1, 1
	e := &ear{client: redis.NewClient(&options), key: db.keys.of(killsKey), id: db.id, receive: receive}
	stop := context.AfterFunc(ctx, func() { _ = e.client.Close() }) // nothing is lost with it
	defer func() {
		if stop() {
			_ = e.client.Close()
		}
	}()
	var known, hears bool
	tell := func(err error) {
		changed := !known || hears != (err == nil)
		if known, hears = true, err == nil; changed && state != nil {
			state(err)
		}
	}
	for wait := firstWait; ctx.Err() == nil; {
		err := e.hear(ctx, func() { tell(nil) })
		if err == nil {
			wait = firstWait
			continue
		}
		if ctx.Err() != nil {
			return
		}
		tell(db.fail(ctx, "hear kills", err))
		again := time.NewTimer(wait)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
		}
		wait = min(2*wait, longestWait)
	}
}

// ear hears the orders that come after the last one it has heard.
type ear struct {
	client  *redis.Client
	key, id string
	receive func(order []byte)
	// last is the id of the last order, or a time, in the form of one; empty at first.
	last string
}

// hear waits for orders once. hearing is called when none is missed from here on.
func (e *ear) hear(ctx context.Context, hearing func()) error {
	ctx, cancel := context.WithTimeout(ctx, hearFor+2*answerTimeout)
	defer cancel()
	now, err := e.client.Time(ctx).Result()
	if err != nil {
		return err
	}
	begun := time.Now()
	// A server whose clock was set back, or another one in its place, begins a new stream with lesser ids.
	if e.last == "" || e.given().After(now.Add(time.Second)) {
		e.last = lastBefore(now)
	}
	hearing()
	streams, err := e.client.XRead(ctx, &redis.XReadArgs{Streams: []string{e.key, e.last}, Block: hearFor}).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	now = now.Add(time.Since(begun))
	for _, s := range streams {
		for _, order := range s.Messages {
			e.last = order.ID
			e.take(order, now)
		}
	}
	return nil
}

// lastBefore is the greatest id from before the millisecond of a time. Of two orders in that millisecond nobody can tell which
// was given before: both are heard.
func lastBefore(at time.Time) string {
	return strconv.FormatInt(at.UnixMilli()-1, 10) + "-" + strconv.FormatUint(math.MaxUint64, 10)
}

// given is when the last order was given, by the server's clock.
func (e *ear) given() time.Time {
	ms, _, _ := strings.Cut(e.last, "-")
	n, _ := strconv.ParseInt(ms, 10, 64) // the server wrote it
	return time.UnixMilli(n)
}

func (e *ear) take(entry redis.XMessage, now time.Time) {
	order, ok := entry.Values["order"].(string)
	age := max(now.Sub(e.given()), 0)
	if from := entry.Values["from"]; ok && from != e.id && age <= store.KillsKept {
		e.receive([]byte(order))
	}
}
