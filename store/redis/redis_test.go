package redis

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"os"
	"testing"

	"github.com/parleybot/parley/store/storetest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) storetest.Engine { return engine(t, prefix(t)) })
}

func engine(t *testing.T, prefix string) storetest.Engine {
	t.Helper()
	db := open(t, prefix)
	return storetest.Engine{
		Claims: db, Windows: db, Budget: db, Fleeting: db,
		Reopen: func(t *testing.T) storetest.Engine {
			t.Helper()
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			return engine(t, prefix)
		},
	}
}

// prefix gives the test keys of its own, which live in database 9 of the server and are removed after it.
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
			db.client.Del(context.WithoutCancel(t.Context()), key)
		}
	})
	return prefix
}

func address() string {
	addr := os.Getenv("REDIS_ADDR")
	if addr == "" {
		addr = net.JoinHostPort("127.0.0.1", "6379")
	}
	return "redis://" + addr + "/9"
}

// open opens a store that the test closes. Without a server the test is skipped, or fails when REQUIRE_SERVICES is 1.
func open(t testing.TB, prefix string) *DB {
	t.Helper()
	db, err := Open(t.Context(), Config{URL: address(), Prefix: prefix, Patience: -1})
	if err != nil && os.Getenv("REQUIRE_SERVICES") != "1" {
		t.Skipf("Redis is not reachable (REDIS_ADDR): %v", err)
	}
	if err != nil {
		t.Fatalf("Redis is required: %v", err)
	}
	t.Cleanup(func() {
		if err := errors.Join(db.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	return db
}
