package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/store"
)

func call(turnID, key string, seconds int) store.Call {
	return store.Call{
		TurnID: turnID, Key: key, Iteration: 2, Tool: "write_file", Arguments: `{"path":"a"}`, Status: store.CallRunning,
		StartedAt: after(seconds),
	}
}

func done(c store.Call) store.Call {
	c.Status, c.Result, c.FinishedAt = store.CallDone, "written", c.StartedAt.Add(1500*time.Millisecond)
	return c
}

func journal(t *testing.T, open func(t *testing.T) Engine) {
	// begin opens an engine in which turn t1 runs.
	begin := func(t *testing.T) Engine {
		t.Helper()
		e := open(t)
		must(t, e.Turns.BeginTurn(t.Context(), begun("t1", "c", 0)))
		return e
	}

	t.Run("open, close, read in order, across a restart", func(t *testing.T) {
		t.Parallel()
		e := begin(t)
		// Keys and times that sort the other way: the order is that of opening.
		first, second, third := call("t1", "z", 9), call("t1", "m", 5), call("t1", "a", 1)
		for _, c := range []store.Call{first, second, third} {
			must(t, e.Journal.OpenCall(t.Context(), c))
		}
		must(t, e.Journal.CloseCall(t.Context(), done(second)))
		failed := done(first)
		failed.Status, failed.Reason, failed.Result = store.CallError, store.CallReasonTimedOut, "timed out"
		must(t, e.Journal.CloseCall(t.Context(), failed))
		if e.Reopen != nil {
			e = e.Reopen(t)
		}
		calls, err := e.Journal.Calls(t.Context(), "t1")
		must(t, err)
		if diff := cmp.Diff([]store.Call{failed, done(second), third}, calls); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})

	t.Run("a call that will not run is written closed", func(t *testing.T) {
		t.Parallel()
		e := begin(t)
		c := call("t1", "k", 0)
		c.Status, c.Reason, c.FinishedAt = store.CallError, store.CallReasonNotRun, c.StartedAt
		must(t, e.Journal.OpenCall(t.Context(), c))
		must(t, e.Journal.CloseCall(t.Context(), done(c)))
		calls, err := e.Journal.Calls(t.Context(), "t1")
		must(t, err)
		if diff := cmp.Diff([]store.Call{c}, calls); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})

	t.Run("errors", func(t *testing.T) {
		t.Parallel()
		e := begin(t)
		c := call("t1", "k", 0)
		must(t, e.Journal.OpenCall(t.Context(), c))
		if err := e.Journal.OpenCall(t.Context(), c); !errors.Is(err, store.ErrExists) {
			t.Errorf("opened twice: %v, want ErrExists", err)
		}
		if err := e.Journal.OpenCall(t.Context(), call("no such turn", "k", 0)); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("opened in no turn: %v, want ErrNotFound", err)
		}
		if err := e.Journal.CloseCall(t.Context(), done(call("t1", "never opened", 0))); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("closed unopened: %v, want ErrNotFound", err)
		}
		if err := e.Journal.CloseCall(t.Context(), c); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("closed as running: %v, want ErrInvalid", err)
		}
	})

	t.Run("a closed row is not changed again", func(t *testing.T) {
		t.Parallel()
		e := begin(t)
		c := call("t1", "k", 0)
		must(t, e.Journal.OpenCall(t.Context(), c))
		must(t, e.Journal.CloseCall(t.Context(), done(c)))
		late := done(c)
		late.Status, late.Reason, late.Result = store.CallError, store.CallReasonStopped, "late"
		must(t, e.Journal.CloseCall(t.Context(), late))
		calls, err := e.Journal.Calls(t.Context(), "t1")
		must(t, err)
		if diff := cmp.Diff([]store.Call{done(c)}, calls); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})

	t.Run("64 writers of one key", func(t *testing.T) {
		t.Parallel()
		e := begin(t)
		won := 0
		for i, err := range together(func(i int) error {
			c := call("t1", "k", 0)
			c.Arguments = fmt.Sprint(i)
			return e.Journal.OpenCall(t.Context(), c)
		}) {
			switch {
			case err == nil:
				won++
			case !errors.Is(err, store.ErrExists):
				t.Errorf("writer %d: %v, want ErrExists", i, err)
			}
		}
		calls, err := e.Journal.Calls(t.Context(), "t1")
		must(t, err)
		if won != 1 || len(calls) != 1 {
			t.Errorf("%d of %d opened it, %d rows; want 1 and 1", won, Writers, len(calls))
		}
	})

	t.Run("64 closers of one call", func(t *testing.T) {
		t.Parallel()
		e := begin(t)
		must(t, e.Journal.OpenCall(t.Context(), call("t1", "k", 0)))
		for _, err := range together(func(i int) error {
			c := done(call("t1", "k", 0))
			c.Result, c.FinishedAt = fmt.Sprint(i), after(i)
			return e.Journal.CloseCall(t.Context(), c)
		}) {
			must(t, err)
		}
		calls, err := e.Journal.Calls(t.Context(), "t1")
		must(t, err)
		var winner int
		if _, err := fmt.Sscan(calls[0].Result, &winner); err != nil || !calls[0].FinishedAt.Equal(after(winner)) {
			t.Errorf("the row is a mixture: %+v", calls[0])
		}
	})

	t.Run("CD060 B52 the sweep after a crash", func(t *testing.T) {
		t.Parallel()
		e := begin(t)
		over := begun("t0", "c", -60)
		must(t, e.Turns.BeginTurn(t.Context(), over))
		must(t, e.Journal.OpenCall(t.Context(), call("t0", "left running", -59)))
		must(t, e.Turns.FinishTurn(t.Context(), ended(over, store.TurnCompleted)))
		running, closed := call("t1", "running", 1), call("t1", "closed", 0)
		must(t, e.Journal.OpenCall(t.Context(), closed))
		must(t, e.Journal.CloseCall(t.Context(), done(closed)))
		must(t, e.Journal.OpenCall(t.Context(), running))
		if e.Reopen != nil {
			e = e.Reopen(t)
		}
		turns, calls, err := e.Journal.Sweep(t.Context(), after(100))
		must(t, err)
		turn := begun("t1", "c", 0)
		turn.Status, turn.FinishedAt = store.TurnInterrupted, after(100)
		if diff := cmp.Diff([]store.Turn{turn}, turns); diff != "" {
			t.Errorf("turns (-want +got):\n%s", diff)
		}
		interrupted := func(c store.Call) store.Call {
			c.Status, c.Reason, c.FinishedAt = store.CallError, store.CallReasonInterrupted, after(100)
			return c
		}
		want := []store.Call{interrupted(call("t0", "left running", -59)), interrupted(running)}
		if diff := cmp.Diff(want, calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		kept, err := e.Journal.Calls(t.Context(), "t1")
		must(t, err)
		if diff := cmp.Diff([]store.Call{done(closed), interrupted(running)}, kept); diff != "" {
			t.Errorf("kept (-want +got):\n%s", diff)
		}
		turns, calls, err = e.Journal.Sweep(t.Context(), after(200))
		must(t, err)
		if len(turns)+len(calls) != 0 {
			t.Errorf("a second sweep closed %d turns and %d calls", len(turns), len(calls))
		}
		// The result of a call that outlived the sweep comes too late.
		must(t, e.Journal.CloseCall(t.Context(), done(running)))
		kept, err = e.Journal.Calls(t.Context(), "t1")
		must(t, err)
		if kept[1].Reason != store.CallReasonInterrupted {
			t.Errorf("a late result changed the row: %+v", kept[1])
		}
	})
}
