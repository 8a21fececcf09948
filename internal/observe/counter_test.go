package observe_test

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/internal/observe"
)

type status string

func TestCounters(t *testing.T) {
	t.Parallel()
	statuses := observe.NewCounter[status]("completed", "error")
	reasons := observe.NewCounter("busy")
	var set observe.Counters
	set.Add("turn_status", statuses)
	set.Add("admission", reasons)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				statuses.Inc("completed")
			}
		})
	}
	wg.Wait()
	statuses.Inc("made up by a member")
	reasons.Inc("busy")
	want := []observe.Count{{"admission", "busy", 1}, {"turn_status", "completed", 800}, {"turn_status", "other", 1}}
	if diff := cmp.Diff(want, set.Snapshot()); diff != "" {
		t.Errorf("Snapshot (-want +got):\n%s", diff)
	}
}

func TestNilCounterCountsNothing(t *testing.T) {
	t.Parallel()
	var c *observe.Counter[status]
	c.Inc("completed")
	if got := c.Snapshot(); len(got) != 0 {
		t.Errorf("Snapshot = %v, want nothing", got)
	}
}
