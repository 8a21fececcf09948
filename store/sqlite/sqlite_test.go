package sqlite

import (
	"testing"

	"github.com/parleybot/parley/store/storetest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	var seen exercised
	t.Cleanup(func() { seen.check(t) })
	storetest.Run(t, keeps(nil), func(t *testing.T) storetest.Engine { return engine(t, t.TempDir(), &seen) })
}

// keeps says what this engine implements.
func keeps(db *DB) storetest.Engine {
	return storetest.Engine{
		Memories: db, Turns: db, Journal: db, Triggers: db, Settings: db, Claims: db, Windows: db,
		Members: db, Fleeting: db, ShortTerms: db, Ledger: db, Audit: db, Approvals: db, Pruner: db,
	}
}

func engine(t *testing.T, dir string, seen *exercised) storetest.Engine {
	t.Helper()
	db := open(t, dir)
	t.Cleanup(func() { seen.add(db) })
	e := keeps(db)
	e.Reopen = func(t *testing.T) storetest.Engine {
		t.Helper()
		seen.add(db)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		return engine(t, dir, seen)
	}
	return e
}

// open opens a store that the test closes.
func open(t testing.TB, dir string) *DB {
	t.Helper()
	db, err := Open(t.Context(), Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}
