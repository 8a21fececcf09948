// Package rows counts which rows of the behaviour tables (TL, CD) and which pitfalls of the wire formats (P) a test run covered. Only tests import it.
package rows

import (
	"os"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/parleybot/parley/internal/testreport"
)

var (
	mu  sync.Mutex
	ran = map[string]bool{}
)

// Ran notes that t covers the rows named in ids ("CD108", "TL139", "P06").
func Ran(t *testing.T, ids ...string) {
	t.Helper()
	mu.Lock()
	defer mu.Unlock()
	for _, id := range ids {
		ran[id] = true
	}
}

// Main runs a package's tests, prints how many rows they covered and fails when a goroutine is left. overridden names
// the covered rows whose expectation is ours, out those that are covered elsewhere.
func Main(m *testing.M, overridden, out string) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		var table, pitfalls int
		for id := range ran {
			if strings.HasPrefix(id, "P") {
				pitfalls++
			} else {
				table++
			}
		}
		testreport.Line("rows: %d run, %d overridden, %d out", table, len(strings.Fields(overridden)), len(strings.Fields(out)))
		if pitfalls > 0 {
			testreport.Line("pitfalls: %d run", pitfalls)
		}
		os.Exit(code)
	}))
}
