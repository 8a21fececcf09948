package sqlite

import (
	"testing"

	"github.com/parleybot/parley/store/storetest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) storetest.Engine { return engine(t, t.TempDir()) })
}

func engine(t *testing.T, dir string) storetest.Engine {
	t.Helper()
	db := open(t, dir)
	return storetest.Engine{
		Memories: db, Turns: db, Journal: db, Triggers: db, Settings: db, Claims: db, Windows: db, Rates: db,
		Members: db, Fleeting: db, ShortTerms: db, Ledger: db, Audit: db, Approvals: db, Pruner: db,
		Reopen: func(t *testing.T) storetest.Engine {
			t.Helper()
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			return engine(t, dir)
		},
	}
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
