// Package storetest is the contract of package store as tests: what every engine must do, whatever it is built on. An
// engine's own tests call Run and add only what is peculiar to it (files, servers, faults).
package storetest

import (
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/parleybot/parley/store"
)

// Engine is an open, empty store under test. A repository that an engine does not implement is nil; its part of the suite
// is then absent. Journal needs Turns.
type Engine struct {
	Memories store.Memories
	Turns    store.Turns
	Journal  store.Journal
	Triggers store.Triggers
	Settings store.Settings
	Claims   store.Claims
	Windows  store.Windows
	Budget   store.Budget
	Kills    store.KillBus
	Members  store.Members
	Fleeting store.FleetingMembers

	ShortTerms store.ShortTerms
	Ledger     store.Ledger
	Audit      store.Audit
	Approvals  store.Approvals
	Pruner     store.Pruner
	// Reopen closes the engine and opens it again over the same data, as a restart does; the receiver is not used any more.
	Reopen func(t *testing.T) Engine
	// Beside is another process over the same data; engines with a kill bus have it.
	Beside func(t *testing.T) Engine
	// Settle lets the server look at how much there is, as it does by itself after a while: it plans otherwise then. Nil for
	// engines that don't.
	Settle func(b *testing.B)
}

// Writers is how many goroutines contend for one record in the concurrency tests.
const Writers = 64

// Run holds an engine to the contract. keeps says what it implements, whether or not a store can be opened. open is called
// once per test and gives an empty store, which has the same; it closes what it opened with t.Cleanup.
func Run(t *testing.T, keeps Engine, open func(t *testing.T) Engine) {
	t.Helper()
	var done matrix
	t.Cleanup(done.print)
	part := func(name string, has func(Engine) bool, run func(t *testing.T, open func(t *testing.T) Engine)) {
		cell := done.add(name)
		t.Run(name, func(t *testing.T) {
			if !has(keeps) {
				cell.absent()
				t.Skipf("this engine has no %s", name)
			}
			t.Parallel()
			t.Cleanup(func() { cell.ended(t) })
			if opened := open(t); !has(opened) { // skips the whole part where no store can be opened
				t.Fatalf("the opened store has no %s", name)
			}
			run(t, open)
		})
	}
	part("Memories", func(e Engine) bool { return e.Memories != nil }, memories)
	part("Recall", func(e Engine) bool { return e.Memories != nil }, recall)
	part("Forgetting", func(e Engine) bool { return e.Memories != nil }, forgetting)
	part("Turns", func(e Engine) bool { return e.Turns != nil }, turns)
	part("Journal", func(e Engine) bool { return e.Journal != nil }, journal)
	part("Triggers", func(e Engine) bool { return e.Triggers != nil }, triggers)
	part("Settings", func(e Engine) bool { return e.Settings != nil }, settings)
	part("Claims", func(e Engine) bool { return e.Claims != nil }, claims)
	part("Windows", func(e Engine) bool { return e.Windows != nil }, windows)
	part("Rates", func(e Engine) bool { return e.Claims != nil }, rates)
	part("Budget", func(e Engine) bool { return e.Budget != nil }, budget)
	part("Kill bus", func(e Engine) bool { return e.Kills != nil }, killBus)
	part("Short-term memory", func(e Engine) bool { return e.ShortTerms != nil }, shortTerms)
	part("Ledger", func(e Engine) bool { return e.Ledger != nil }, ledger)
	part("Audit", func(e Engine) bool { return e.Audit != nil }, audit)
	part("Approvals", func(e Engine) bool { return e.Approvals != nil }, approvals)
	part("Retention", func(e Engine) bool { return e.Pruner != nil }, retention)
	part("Members", func(e Engine) bool { return e.Members != nil }, members)
	part("Erased", func(e Engine) bool { return e.Members != nil }, tooLate)
	part("Fleeting members", func(e Engine) bool { return e.Fleeting != nil }, fleetingMembers)
	part("Text", func(e Engine) bool {
		return e.Turns != nil && e.Memories != nil && e.Journal != nil && e.Triggers != nil
	}, text)
}

// start is when every test begins; time only moves when a test says so.
var start = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

// after is start plus some seconds.
func after(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

// together runs write Writers times at once and returns what each call answered.
func together[T any](write func(i int) T) []T {
	var (
		answers = make([]T, Writers)
		gate    = make(chan struct{})
		group   sync.WaitGroup
	)
	for i := range answers {
		group.Go(func() {
			<-gate
			answers[i] = write(i)
		})
	}
	close(gate)
	group.Wait()
	return answers
}

// must fails the test when setting the scene did not work.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sameJSON says whether two documents mean the same: an engine may store a document in a form of its own.
func sameJSON(a, b json.RawMessage) bool {
	var left, right any
	if json.Unmarshal(a, &left) != nil || json.Unmarshal(b, &right) != nil {
		return false
	}
	one, _ := json.Marshal(left)
	two, _ := json.Marshal(right)
	return slices.Equal(one, two)
}
