package postgres

import (
	"testing"

	"github.com/parleybot/parley/store/storetest"
)

func BenchmarkEngine(b *testing.B) {
	storetest.Bench(b, func(b *testing.B) storetest.Engine {
		b.Helper()
		db := open(b, database(b))
		settle := func(b *testing.B) {
			b.Helper()
			if _, err := db.pool.Exec(b.Context(), "VACUUM ANALYZE"); err != nil {
				b.Fatal(err)
			}
		}
		return storetest.Engine{Memories: db, Turns: db, Journal: db, Settle: settle}
	})
}
