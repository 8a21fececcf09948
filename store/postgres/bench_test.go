package postgres

import (
	"testing"

	"github.com/parleybot/parley/store/storetest"
)

func BenchmarkEngine(b *testing.B) {
	storetest.Bench(b, func(b *testing.B) storetest.Engine {
		b.Helper()
		db := open(b, database(b))
		return storetest.Engine{Memories: db, Turns: db, Journal: db}
	})
}
