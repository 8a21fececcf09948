package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/parleybot/parley/internal/pgtest"
	"github.com/parleybot/parley/migrations"
	"github.com/parleybot/parley/store/storetest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, keeps(nil), func(t *testing.T) storetest.Engine { return engine(t, database(t)) })
}

// keeps says what this engine implements.
func keeps(db *DB) storetest.Engine {
	return storetest.Engine{
		Memories: db, Turns: db, Journal: db, Triggers: db, Settings: db, Members: db,
		ShortTerms: db, Ledger: db, Audit: db, Approvals: db, Pruner: db,
	}
}

func engine(t *testing.T, url string) storetest.Engine {
	t.Helper()
	db := open(t, url)
	e := keeps(db)
	e.Reopen = func(t *testing.T) storetest.Engine {
		t.Helper()
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		return engine(t, url)
	}
	return e
}

// database gives the test a database with the schema of this binary.
func database(t testing.TB) string {
	t.Helper()
	return pgtest.Database(t, migrations.Postgres(), func(ctx context.Context, url string) error {
		_, err := Migrate(ctx, Config{URL: url})
		return err
	})
}

// open opens a store that the test closes.
func open(t testing.TB, url string, with ...func(*Config)) *DB {
	t.Helper()
	cfg := Config{URL: url, Patience: 20 * time.Second}
	for _, change := range with {
		change(&cfg)
	}
	db, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(db.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	return db
}
