package redis

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/parleybot/parley/store"
)

// TestOldOrders: who begins to listen hears nothing of before; who was away hears what is not too old, and nothing of a member
// who had everything erased.
func TestOldOrders(t *testing.T) {
	t.Parallel()
	shared := prefix(t)
	db, other := open(t, shared), open(t, shared)
	publish := func(member, order string) {
		t.Helper()
		if err := other.PublishKill(t.Context(), member, []byte(order)); err != nil {
			t.Fatal(err)
		}
	}
	var heard []string
	e := &ear{
		client: db.client, key: db.keys.of(killsKey), id: db.id, receive: func(order []byte) { heard = append(heard, string(order)) },
	}
	hear := func(want ...string) {
		t.Helper()
		if heard = nil; len(want) == 0 {
			publish("eric", "end") // else the server waits for an order
			want = []string{"end"}
		}
		if err := e.hear(t.Context(), func() {}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, heard); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	// begins listens while orders are given, until the first is heard.
	begins := func() {
		t.Helper()
		heard = nil
		done := make(chan error, 1)
		go func() { done <- e.hear(t.Context(), func() {}) }()
		for len(done) == 0 {
			publish("eric", "now")
		}
		if err := <-done; err != nil || len(heard) == 0 || heard[0] != "now" {
			t.Errorf("heard %q first: %v", heard, err)
		}
		if err := db.client.XTrimMaxLen(t.Context(), e.key, 0).Err(); err != nil { // what is unheard; its ids go on from there
			t.Fatal(err)
		}
	}
	publish("ana", "before")
	for then := time.Now().UnixMilli(); db.client.Time(t.Context()).Val().UnixMilli() <= then+1; { // it is on this machine
		continue
	}
	begins()
	publish("ana", "ana's")
	publish("eric", "eric's")
	if _, err := db.EraseFleeting(t.Context(), "ana", nil); err != nil {
		t.Fatal(err)
	}
	hear("eric's")

	// One that is older than a minute by the server's clock: it was written with an id of then, into a stream that begins there.
	now, err := db.client.Time(t.Context()).Result()
	if err := errors.Join(err, db.client.Del(t.Context(), e.key).Err()); err != nil {
		t.Fatal(err)
	}
	old := now.Add(-store.KillsKept - time.Second).UnixMilli()
	if err := db.client.XAdd(t.Context(), &redis.XAddArgs{
		Stream: e.key, ID: fmt.Sprintf("%d-1", old), Values: []string{"from", "x", "member", "eric", "order", "old"},
	}).Err(); err != nil {
		t.Fatal(err)
	}
	e.last = fmt.Sprintf("%d-0", old)
	hear()

	// The server's clock was set back since, and it has begun a new stream.
	e.last = fmt.Sprintf("%d-7", now.Add(time.Hour).UnixMilli())
	if err := db.client.Del(t.Context(), e.key).Err(); err != nil {
		t.Fatal(err)
	}
	begins()
}
