package storetest

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/parleybot/parley/store"
)

func budget(t *testing.T, open func(t *testing.T) Engine) {
	pace := store.Pace{PerSecond: 50, Burst: 5}
	const apart = time.Second / 50
	// take must not fail; it returns when the requests go.
	take := func(t *testing.T, e Engine, n int, at time.Time) []time.Time {
		t.Helper()
		waits, err := e.Budget.TakeRequests(t.Context(), n, pace, at)
		must(t, err)
		if len(waits) != max(n, 0) {
			t.Fatalf("%d waits for %d requests", len(waits), n)
		}
		var times []time.Time
		for _, d := range waits {
			times = append(times, at.Add(d))
		}
		return times
	}
	at := func(d time.Duration) time.Time { return start.Add(d) }

	t.Run("a burst at once, then the pace", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		for i, step := range []struct {
			n int
			at,
			// first and last are the waits of the first and the last of the n.
			first, last time.Duration
		}{
			{4, 0, 0, 0},
			{0, 0, 0, 0},
			{-1, 0, 0, 0},
			{1, 0, 0, 0},
			{1, 0, apart, apart},
			{3, 10 * time.Millisecond, 2*apart - 10*time.Millisecond, 4*apart - 10*time.Millisecond},
			{2, 5 * apart, 0, apart},        // what is due now, and the next
			{6, 8 * apart, 0, 4 * apart},    // two have come in
			{6, 10 * time.Second, 0, apart}, // silence gives a burst back, and no more
		} {
			times := take(t, e, step.n, at(step.at))
			if len(times) == 0 {
				continue
			}
			if first, last := times[0].Sub(at(step.at)), times[len(times)-1].Sub(at(step.at)); first != step.first || last != step.last {
				t.Errorf("step %d: waits %v to %v, want %v to %v", i, first, last, step.first, step.last)
			}
		}
	})

	t.Run("no second has more, whoever takes and when", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same steps every time
		var all []time.Time
		for now := start; len(all) < 2000; now = now.Add(time.Duration(random.IntN(300)) * time.Millisecond) {
			skew := time.Duration(random.IntN(20)-10) * time.Millisecond // what was asked first may arrive last
			all = append(all, take(t, e, random.IntN(30), now.Add(skew))...)
		}
		slices.SortFunc(all, time.Time.Compare)
		most := pace.PerSecond + pace.Burst
		for i := range len(all) - most {
			if d := all[i+most].Sub(all[i]); d < time.Second {
				t.Fatalf("%d requests within %v", most+1, d)
			}
		}
	})

	t.Run("64 takers", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		var waits []time.Duration
		for _, taken := range together(func(int) []time.Duration {
			taken, err := e.Budget.TakeRequests(t.Context(), 1, pace, start)
			if err != nil {
				t.Error(err)
			}
			return taken
		}) {
			waits = append(waits, taken...)
		}
		slices.Sort(waits)
		var want []time.Duration
		for i := range Writers {
			want = append(want, max(0, time.Duration(i+1-pace.Burst)*apart))
		}
		if !slices.Equal(waits, want) {
			t.Errorf("waits %v, want %v", waits, want)
		}
	})

	t.Run("the store's own clock", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		waits, err := e.Budget.TakeRequests(t.Context(), pace.Burst+1, pace, time.Time{})
		must(t, err)
		if waits[pace.Burst-1] != 0 || waits[pace.Burst] != apart {
			t.Errorf("waits %v", waits)
		}
	})

	t.Run("a clock that is set back holds nobody", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		take(t, e, pace.Burst+1, at(time.Hour))
		if times := take(t, e, 1, start); times[0] != start {
			t.Errorf("a wait of %v", times[0].Sub(start))
		}
	})

	t.Run("no pace", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		for _, none := range []store.Pace{{}, {PerSecond: 1}, {Burst: 1}, {PerSecond: -1, Burst: 1}} {
			if _, err := e.Budget.TakeRequests(t.Context(), 1, none, start); !errors.Is(err, store.ErrInvalid) {
				t.Errorf("%+v: %v", none, err)
			}
		}
	})
}
