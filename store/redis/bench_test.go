package redis

import (
	"testing"

	"github.com/parleybot/parley/store/storetest"
)

func BenchmarkEngine(b *testing.B) {
	storetest.Bench(b, func(b *testing.B) storetest.Engine {
		b.Helper()
		db := open(b, prefix(b))
		return storetest.Engine{Claims: db, Windows: db}
	})
}
