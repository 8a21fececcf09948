package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/parleybot/parley/internal/pgtest"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/store/storetest"
)

// proxied gives a store that talks to its server through a proxy.
func proxied(t *testing.T, with ...func(*Config)) (*DB, *storetest.Proxy) {
	t.Helper()
	url := database(t)
	proxy := storetest.NewProxy(t, pgtest.Addr())
	return open(t, strings.Replace(url, pgtest.Addr(), proxy.Addr(), 1), with...), proxy
}

func begin(ctx context.Context, db *DB, id string) error {
	return db.BeginTurn(ctx, store.Turn{ID: id, ChannelID: "c", OwnerID: "ana"})
}

func TestAwayAtStart(t *testing.T) {
	t.Parallel()
	url := database(t)
	proxy := storetest.NewProxy(t, pgtest.Addr())
	proxy.Cut()
	var waits []time.Duration
	db, err := Open(t.Context(), Config{URL: strings.Replace(url, pgtest.Addr(), proxy.Addr(), 1), Waiting: func(err error, next time.Duration) {
		if waits = append(waits, next); len(waits) == 3 {
			proxy.Restore(t)
		}
		if err == nil {
			t.Error("told of nothing")
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(begin(t.Context(), db, "t"), db.Close()); err != nil {
		t.Error(err)
	}
	if want := []time.Duration{firstWait, 2 * firstWait, 4 * firstWait}; !slices.Equal(waits, want) {
		t.Errorf("waited %v, want %v", waits, want)
	}
}

// TestSilentAtStart: a server that takes connections and says nothing is away, too.
func TestSilentAtStart(t *testing.T) {
	t.Parallel()
	url := database(t)
	proxy := storetest.NewProxy(t, pgtest.Addr())
	proxy.Silence()
	url = strings.Replace(url, pgtest.Addr(), proxy.Addr(), 1) + "&connect_timeout=1"
	tries := 0
	db, err := Open(t.Context(), Config{URL: url, Waiting: func(error, time.Duration) {
		tries++
		proxy.Speak()
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil || tries != 1 {
		t.Errorf("%d tries found it away, close: %v", tries, err)
	}
}

// TestCut: while the server is away every call says so at once, and afterwards all is as before.
func TestCut(t *testing.T) {
	t.Parallel()
	db, proxy := proxied(t)
	ctx := t.Context()
	if err := begin(ctx, db, "before"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		proxy.Cut()
		_, findErr := db.FindMemories(ctx, store.MemoryQuery{GuildID: "1", MemberID: "ana", Text: "tea"})
		_, addErr := db.AddMemory(ctx, store.Memory{Scope: store.ScopeGuild, GuildID: "1", Content: "x"}, 9)
		_, _, sweepErr := db.Sweep(ctx, time.Now())
		_, _, eraseErr := db.EraseMember(ctx, store.Erasure{MemberID: "ana"})
		_, exportErr := db.ExportMember(ctx, "ana")
		for i, err := range []error{begin(ctx, db, "t"), findErr, addErr, sweepErr, eraseErr, exportErr, db.Ping(ctx)} {
			if !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("call %d while away: %v, want ErrUnavailable", i, err)
			}
		}
		proxy.Restore(t)
		if err := db.FinishTurn(ctx, store.Turn{ID: "before", Status: store.TurnCompleted}); err != nil {
			t.Errorf("back again: %v", err)
		}
	}
	if err := db.OpenCall(ctx, store.Call{TurnID: "t", Key: "k"}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a turn that was refused is there: %v", err)
	}
}

// TestSilenceHoldsTheFirst: once a server is known to say nothing, nobody waits for it any more but who has the time, until it
// answers again.
func TestSilenceHoldsTheFirst(t *testing.T) {
	t.Parallel()
	told := make(chan bool, 9)
	db, proxy := proxied(t, func(cfg *Config) { cfg.Silent = func(silent bool) { told <- silent } })
	brief := func(patience time.Duration, id string) error {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		return begin(ctx, db, id)
	}
	proxy.Silence()
	if err := brief(50*time.Millisecond, "first"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the first: %v", err)
	}
	if silent := <-told; !silent {
		t.Error("it is told to answer")
	}
	for range 100 { // together they would take minutes
		if err := brief(5*time.Second, "later"); !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "says nothing") {
			t.Fatalf("while it is silent: %v", err)
		}
	}
	patient := make(chan error, 1)
	go func() { patient <- brief(time.Minute, "patient") }()
	proxy.Speak()
	if err := <-patient; err != nil {
		t.Errorf("one that has the time: %v", err)
	}
	if silent := <-told; silent {
		t.Error("it is told to be silent still")
	}
	if err := brief(5*time.Second, "after"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestSilenceHoldsNobody: a server that does not answer cannot hold a caller whose context ends, for example by a kill.
func TestSilenceHoldsNobody(t *testing.T) {
	t.Parallel()
	db, proxy := proxied(t)
	if err := begin(t.Context(), db, "t"); err != nil {
		t.Fatal(err)
	}
	proxy.Silence()
	killed := errors.New("killed")
	ctx, cancel := context.WithCancelCause(t.Context())
	answered := make(chan error, 1)
	go func() { answered <- db.OpenCall(ctx, store.Call{TurnID: "t", Key: "k"}) }()
	select {
	case err := <-answered:
		t.Fatalf("answered through the silence: %v", err)
	case <-time.After(50 * time.Millisecond): // long enough for the statement to be on its way
	}
	cancel(killed)
	select {
	case err := <-answered:
		if !errors.Is(err, killed) {
			t.Errorf("%v, want the context's cause", err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the silence held a caller whose context had ended")
	}
	proxy.Speak()
	if err := begin(t.Context(), db, "after"); err != nil {
		t.Error(err)
	}
}

// TestStatementTimeout: a statement that waits for somebody's lock ends by itself and says why.
func TestStatementTimeout(t *testing.T) {
	t.Parallel()
	url := database(t)
	db, err := Open(t.Context(), Config{URL: url, StatementTimeout: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // a test of its content, not of Close
	holder := open(t, url)
	ctx := t.Context()
	if err := begin(ctx, db, "t"); err != nil {
		t.Fatal(err)
	}
	err = pgx.BeginFunc(ctx, holder.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT FROM turns WHERE id = 't' FOR UPDATE`); err != nil {
			return err
		}
		err := db.FinishTurn(ctx, store.Turn{ID: "t", Status: store.TurnCompleted})
		if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "longer than its timeout") {
			t.Errorf("behind a lock: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.FinishTurn(ctx, store.Turn{ID: "t", Status: store.TurnCompleted}); err != nil {
		t.Errorf("the lock is free: %v", err)
	}
}

// TestPoolIsBounded: however many ask, the server sees no more connections than the pool may have, and the presence.
func TestPoolIsBounded(t *testing.T) {
	t.Parallel()
	url := database(t)
	db, err := Open(t.Context(), Config{URL: url, Connections: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // a test of its content, not of Close
	var group sync.WaitGroup
	for i := range storetest.Writers {
		group.Go(func() {
			if err := begin(t.Context(), db, fmt.Sprint(i)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	var connections int
	if err := db.pool.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()`).Scan(&connections); err != nil {
		t.Fatal(err)
	}
	if connections > 4 {
		t.Errorf("%d connections, want at most 3 and the presence", connections)
	}
}

// TestFullPoolHoldsNobody: while slow statements have all connections, whoever waits for one can stop waiting.
func TestFullPoolHoldsNobody(t *testing.T) {
	t.Parallel()
	db, err := Open(t.Context(), Config{URL: database(t), Connections: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // a test of its content, not of Close
	var slow []*pgxpool.Conn
	for range 2 {
		conn, err := db.pool.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		slow = append(slow, conn)
	}
	killed := errors.New("killed")
	ctx, cancel := context.WithCancelCause(t.Context())
	answered := make(chan error, 1)
	go func() { answered <- begin(ctx, db, "t") }()
	select {
	case err := <-answered:
		t.Fatalf("answered without a connection: %v", err)
	case <-time.After(20 * time.Millisecond): // long enough to be waiting
	}
	cancel(killed)
	if err := <-answered; !errors.Is(err, killed) {
		t.Errorf("%v, want the context's cause", err)
	}
	for _, conn := range slow {
		conn.Release()
	}
	if err := begin(t.Context(), db, "t"); err != nil {
		t.Errorf("with a connection free again: %v", err)
	}
}
