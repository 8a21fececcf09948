package storetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/store"
)

func windows(t *testing.T, open func(t *testing.T) Engine) {
	// A script is a list of steps in one channel, one second apart:
	//   "T: a b"  turn T counts and must find a and b open
	//   "+a 3"    a succeeds with a window of 3 turns
	//   "clear"   all windows are closed
	//   "restart" the engine is opened again
	for _, test := range []struct {
		name   string
		script string
	}{
		{"open for exactly n turns after the success", "t0: / +a 2 / t1: a / t2: a / t3: / t4:"},
		{"n 1", "t0: / +a 1 / t1: a / t2:"},
		{"n 10", "+a 10 / 1: a / 2: a / 3: a / 4: a / 5: a / 6: a / 7: a / 8: a / 9: a / 10: a / 11:"},
		{"a success refreshes", "+a 2 / t1: a / +a 2 / t2: a / t3: a / t4:"},
		{"a success does not add", "+a 2 / +a 2 / +a 2 / t1: a / t2: a / t3:"},
		{"a success can shorten", "+a 5 / t1: a / +a 1 / t2: a / t3:"},
		{"n 0 closes", "+a 5 / t1: a / +a 0 / t2:"},
		{"below 0 is 0", "+a 5 / +a -1 / t1:"},
		{"each tool counts for itself, sorted", "+b 1 / +a 2 / +c 3 / t1: a b c / t2: a c / t3: c / t4:"},
		{"a turn that asks again gets the same and counts nothing", "+a 2 / t1: a / t1: a / t1: a / t2: a / t2: a / t3: / t2: a / t1: a"},
		{"also when nothing was open and something is now", "t1: / +a 2 / t1: / t2: a / t3: a / t4:"},
		{"a success in the last turn of the window", "+a 1 / t1: a / +a 1 / t1: a / t2: a / t3:"},
		{"clear", "+a 5 / +b 5 / t1: a b / clear / t2: / t1:"},
		{"clear, then a new success: a turn that counted counts no more", "+a 5 / t1: a / clear / +a 2 / t1: / t2: a / t3: a / t4:"},
		{"a restart changes nothing", "+a 2 / t1: a / restart / t1: a / t2: a / restart / t3:"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := open(t)
			for i, step := range strings.Split(test.script, " / ") {
				e = windowStep(t, e, i, step)
			}
		})
	}

	t.Run("channels are apart", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		must(t, e.Windows.RetainWindow(t.Context(), "one", "a", 1, start))
		must(t, e.Windows.RetainWindow(t.Context(), "two", "b", 1, start))
		for channel, want := range map[string][]string{"one": {"a"}, "two": {"b"}, "three": nil} {
			// The same turn id everywhere: it is the channel's turn that counts.
			got, err := e.Windows.ConsumeWindows(t.Context(), channel, "t", start)
			must(t, err)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", channel, diff)
			}
		}
		must(t, e.Windows.RetainWindow(t.Context(), "one", "a", 2, start))
		must(t, e.Windows.RetainWindow(t.Context(), "two", "b", 2, start))
		must(t, e.Windows.ClearWindows(t.Context(), "one"))
		got, err := e.Windows.ConsumeWindows(t.Context(), "two", "t2", start)
		must(t, err)
		if diff := cmp.Diff([]string{"b"}, got); diff != "" {
			t.Errorf("clearing another channel (-want +got):\n%s", diff)
		}
	})

	t.Run("24 hours without use", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		must(t, e.Windows.RetainWindow(t.Context(), "c", "a", 9, start))
		justBefore := start.Add(store.WindowTTL - 1e6)
		got, err := e.Windows.ConsumeWindows(t.Context(), "c", "t1", justBefore)
		must(t, err)
		if diff := cmp.Diff([]string{"a"}, got); diff != "" {
			t.Errorf("just before (-want +got):\n%s", diff)
		}
		// Counting was a use; so is a success, for all tools of the channel.
		must(t, e.Windows.RetainWindow(t.Context(), "c", "b", 9, justBefore.Add(store.WindowTTL-1e6)))
		got, err = e.Windows.ConsumeWindows(t.Context(), "c", "t2", justBefore.Add(2*store.WindowTTL-2e6))
		must(t, err)
		if diff := cmp.Diff([]string{"a", "b"}, got); diff != "" {
			t.Errorf("used in between (-want +got):\n%s", diff)
		}
		got, err = e.Windows.ConsumeWindows(t.Context(), "c", "t3", justBefore.Add(3*store.WindowTTL))
		must(t, err)
		if len(got) != 0 {
			t.Errorf("open after a day of silence: %v", got)
		}
	})

	t.Run("a success after a day of silence does not revive the others", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		must(t, e.Windows.RetainWindow(t.Context(), "c", "old", 9, start))
		must(t, e.Windows.RetainWindow(t.Context(), "c", "new", 9, start.Add(store.WindowTTL)))
		got, err := e.Windows.ConsumeWindows(t.Context(), "c", "t1", start.Add(store.WindowTTL))
		must(t, err)
		if diff := cmp.Diff([]string{"new"}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})

	t.Run("64 attempts of one turn count once", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		must(t, e.Windows.RetainWindow(t.Context(), "c", "a", 2, start))
		for _, got := range together(func(int) []string {
			got, err := e.Windows.ConsumeWindows(t.Context(), "c", "t1", start)
			if err != nil {
				t.Error(err)
			}
			return got
		}) {
			if diff := cmp.Diff([]string{"a"}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
		windowStep(t, windowStep(t, e, 1, "t2: a"), 2, "t3:")
	})

	t.Run("64 turns on one window of 32", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		must(t, e.Windows.RetainWindow(t.Context(), "c", "a", Writers/2, start))
		opened := 0
		for _, got := range together(func(i int) []string {
			got, err := e.Windows.ConsumeWindows(t.Context(), "c", fmt.Sprint(i), start)
			if err != nil {
				t.Error(err)
			}
			return got
		}) {
			opened += len(got)
		}
		if opened != Writers/2 {
			t.Errorf("open in %d turns, want %d", opened, Writers/2)
		}
	})

	t.Run("64 successes on one window", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		for _, err := range together(func(int) error { return e.Windows.RetainWindow(t.Context(), "c", "a", 2, start) }) {
			must(t, err)
		}
		for i, step := range []string{"t1: a", "t2: a", "t3:"} {
			e = windowStep(t, e, i, step)
		}
	})
}

// windowStep does one step of a script in channel "c".
func windowStep(t *testing.T, e Engine, second int, step string) Engine {
	t.Helper()
	switch {
	case step == "restart":
		if e.Reopen != nil {
			e = e.Reopen(t)
		}
	case step == "clear":
		must(t, e.Windows.ClearWindows(t.Context(), "c"))
	case step[0] == '+':
		var (
			tool string
			n    int
		)
		if _, err := fmt.Sscanf(step, "+%s %d", &tool, &n); err != nil {
			t.Fatalf("step %q: %v", step, err)
		}
		must(t, e.Windows.RetainWindow(t.Context(), "c", tool, n, after(second)))
	default:
		turn, tools, _ := strings.Cut(step, ":")
		got, err := e.Windows.ConsumeWindows(t.Context(), "c", turn, after(second))
		must(t, err)
		if want := strings.Fields(tools); strings.Join(want, " ") != strings.Join(got, " ") {
			t.Fatalf("step %d: turn %s found %v open, want %v", second, turn, got, want)
		}
	}
	return e
}
