package redis

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"os"
	"testing"

	"github.com/parleybot/parley/internal/testreport"
	"github.com/parleybot/parley/store/storetest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, keeps(nil), func(t *testing.T) storetest.Engine { return engine(t, prefix(t)) })
}

// keeps says what this engine implements.
func keeps(db *DB) storetest.Engine {
	return storetest.Engine{Claims: db, Windows: db, Budget: db, Kills: db, Fleeting: db}
}

func engine(t *testing.T, prefix string) storetest.Engine {
	t.Helper()
	db := open(t, prefix)
	e := keeps(db)
	e.Beside = func(t *testing.T) storetest.Engine { t.Helper(); return engine(t, prefix) }
	e.Reopen = func(t *testing.T) storetest.Engine {
		t.Helper()
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		return engine(t, prefix)
	}
	return e
}

// prefix gives the test keys of its own, which live in database 9 of the server and are removed after it. All of them must be
// of kinds that the table lists.
func prefix(t testing.TB) string {
	t.Helper()
	prefix := "parley-test-" + rand.Text() + ":"
	t.Cleanup(func() {
		db, err := Open(context.WithoutCancel(t.Context()), Config{URL: address(), Prefix: prefix, Patience: -1})
		if err != nil {
			return // the test was skipped
		}
		defer func() { _ = db.Close() }() // nothing is lost with it
		for _, key := range stored(t, db) {
			if kindOf(db, key) == nil { // whatever a test leaves is known to whoever erases a member
				t.Errorf("key %s is in no kind of the table", key)
			}
			db.client.Del(context.WithoutCancel(t.Context()), key)
		}
	})
	return prefix
}

func server() string {
	if addr := os.Getenv("REDIS_ADDR"); addr != "" {
		return addr
	}
	return net.JoinHostPort("127.0.0.1", "6379")
}

func address() string { return "redis://" + server() + "/9" }

// open opens a store that the test closes. Without a server the test is skipped, or fails when REQUIRE_SERVICES is 1.
func open(t testing.TB, prefix string) *DB {
	t.Helper()
	db, err := Open(t.Context(), Config{URL: address(), Prefix: prefix, Patience: -1})
	if err != nil {
		testreport.Away(t, "Redis", server(), "REDIS_ADDR", err)
	}
	t.Cleanup(func() {
		if err := errors.Join(db.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	return db
}
