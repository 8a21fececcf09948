package sqlite

import (
	"testing"

	"github.com/parleybot/parley/store/storetest"
)

func BenchmarkEngine(b *testing.B) {
	storetest.Bench(b, func(b *testing.B) storetest.Engine {
		b.Helper()
		db := open(b, b.TempDir())
		return storetest.Engine{Memories: db, Turns: db, Journal: db, Claims: db, Windows: db}
	})
}
