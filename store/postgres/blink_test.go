package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/parleybot/parley/internal/pgtest"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/store/storetest"
)

// idle opens every connection that the pool may have, and leaves all of them idle in it.
func idle(t *testing.T, db *DB) {
	t.Helper()
	var held sync.WaitGroup
	most := int(db.pool.Config().MaxConns)
	held.Add(most)
	problems := make(chan error, most)
	for range most {
		go func() {
			conn, err := db.pool.Acquire(t.Context())
			held.Done()
			held.Wait() // so that nobody is given the one that another has let go of
			if err == nil {
				conn.Release()
			}
			problems <- err
		}()
	}
	for range most {
		if err := <-problems; err != nil {
			t.Fatal(err)
		}
	}
	if there := db.pool.Stat().IdleConns(); int(there) != most {
		t.Fatalf("%d connections are idle, want %d", there, most)
	}
}

// blink is a restart that is over before anybody asks for anything.
func blink(t *testing.T, proxy *storetest.Proxy) {
	t.Helper()
	proxy.Cut()
	proxy.Restore(t)
}

// TestBlink: a server that was away while nobody asked it anything fails nobody. The connections in the pool are dead, and the
// very next call of each kind is done all the same.
func TestBlink(t *testing.T) {
	t.Parallel()
	db, proxy := proxied(t)
	if err := begin(t.Context(), db, "before"); err != nil {
		t.Fatal(err)
	}
	for _, call := range everyKind(db) {
		idle(t, db)
		blink(t, proxy)
		if err := call.do(t.Context()); err != nil {
			t.Errorf("%s after a blink: %v", call.name, err)
		}
	}
}

// TestBlinkOverTLS: the end of a connection is seen below its encryption too.
func TestBlinkOverTLS(t *testing.T) {
	t.Parallel()
	proxy := storetest.NewProxy(t, pgtest.Addr())
	url := strings.Replace(database(t), pgtest.Addr(), proxy.Addr(), 1)
	db, err := Open(t.Context(), Config{URL: strings.Replace(url, "sslmode=disable", "sslmode=require", 1), Patience: -1})
	if err != nil {
		if os.Getenv("REQUIRE_SERVICES") == "1" || !strings.Contains(err.Error(), "refused TLS") {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	defer func() { _ = db.Close() }() // a test of its content, not of Close
	for n := range 3 {
		idle(t, db)
		blink(t, proxy)
		if err := begin(t.Context(), db, fmt.Sprint(n)); err != nil {
			t.Error(err)
		}
	}
}

// TestHealthyIsNotAsked: looking at a connection costs no round trip.
func TestHealthyIsNotAsked(t *testing.T) {
	t.Parallel()
	db, proxy := proxied(t)
	idle(t, db)
	if err := begin(t.Context(), db, "learn the statement"); err != nil {
		t.Fatal(err)
	}
	least := math.MaxInt // one that lay unused for long is asked for, as it should be on a busy machine
	for n := range 5 {
		asked := proxy.Asked()
		if err := begin(t.Context(), db, fmt.Sprint(n)); err != nil {
			t.Fatal(err)
		}
		least = min(least, proxy.Asked()-asked)
	}
	if least != 1 {
		t.Errorf("a statement takes %d round trips, want 1", least)
	}
}

type kind struct {
	name string
	do   func(ctx context.Context) error
}

// everyKind is a call of each kind, after a turn named before has begun.
func everyKind(db *DB) []kind {
	return []kind{
		{"a write", func(ctx context.Context) error { return begin(ctx, db, "t") }},
		{"a write of several statements", func(ctx context.Context) error {
			_, err := db.AddMemory(ctx, store.Memory{Scope: store.ScopeGuild, GuildID: "1", Content: "chess"}, 9)
			return err
		}},
		{"a journalled call", func(ctx context.Context) error {
			return db.OpenCall(ctx, store.Call{TurnID: "before", Key: "k", Tool: "remember"})
		}},
		{"the end of a turn", func(ctx context.Context) error {
			return db.FinishTurn(ctx, store.Turn{ID: "before", Status: store.TurnCompleted})
		}},
		{"a waiting trigger", func(ctx context.Context) error {
			return db.PutWaiting(ctx, store.Waiting{MessageID: "m", ChannelID: "c", Payload: []byte(`{}`)})
		}},
		{"a setting", func(ctx context.Context) error {
			return db.PutSetting(ctx, store.Setting{Scope: store.SettingGuild, ID: "1", Name: "n", Value: "v"})
		}},
		{"a read", func(ctx context.Context) error {
			found, err := db.FindMemories(ctx, store.MemoryQuery{GuildID: "1", MemberID: "ana", Text: "chess"})
			if err == nil && len(found) != 1 {
				err = fmt.Errorf("%d memories found", len(found))
			}
			return err
		}},
		{"an erasure", func(ctx context.Context) error {
			_, _, err := db.EraseMember(ctx, store.Erasure{MemberID: "ana"})
			return err
		}},
		{"a question whether it is there", db.Ping},
	}
}

// TestDismissed: a server that stops says so on every connection before it ends it. Those words are not taken for the answer to
// what is asked next.
func TestDismissed(t *testing.T) {
	t.Parallel()
	url := database(t)
	db, other := open(t, url), open(t, url)
	idle(t, db)
	ended, err := query(t.Context(), other.pool, `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'parley'`, nil, pgx.RowTo[bool])
	if err != nil || len(ended) < int(db.pool.Config().MaxConns) {
		t.Fatal(len(ended), err)
	}
	if err := begin(t.Context(), db, "t"); err != nil {
		t.Errorf("after the server ended all connections: %v", err)
	}
}

// TestDeathUnderWay: a connection that dies while a statement is under way fails it, and the statement is not sent again.
func TestDeathUnderWay(t *testing.T) {
	t.Parallel()
	db, proxy := proxied(t)
	// On a busy machine a connection may lie unused so long that the server is asked first; then that is what dies.
	for n := range 10 {
		if err := begin(t.Context(), db, fmt.Sprint("learn the statement ", n)); err != nil {
			t.Fatal(err)
		}
		id := fmt.Sprint(n)
		err := dies(t, db, proxy, id)
		if err == nil {
			continue
		}
		if !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("%v, want ErrUnavailable", err)
		}
		if err := begin(t.Context(), db, id); err != nil {
			t.Errorf("it was done, or nothing can be done any more: %v", err)
		}
		return
	}
	t.Error("a statement whose connection died is sent again")
}

// dies begins a turn, ends the connections while that is under way, and returns what came of it.
func dies(t *testing.T, db *DB, proxy *storetest.Proxy, id string) error {
	t.Helper()
	asked := proxy.Asked()
	proxy.Silence()
	defer proxy.Speak()
	answered := make(chan error, 1)
	go func() { answered <- begin(t.Context(), db, id) }()
	for proxy.Asked() == asked {
		select {
		case err := <-answered:
			return err
		case <-time.After(time.Millisecond): // until the statement is on its way
		}
	}
	blink(t, proxy)
	proxy.Speak() // sent again, it would be answered now
	return <-answered
}
