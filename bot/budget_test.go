package bot

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
)

// grants is a budget that answers with what it is told to.
type grants struct {
	asked int
	wait  time.Duration
	err   error
	hang  bool
}

func (g *grants) TakeRequests(ctx context.Context, n, perSecond int, _ time.Time) (time.Duration, error) {
	g.asked++
	if n != budgetBatch || perSecond != sharedPerSecond {
		return 0, errors.New("asked for something else")
	}
	if g.hang {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	return g.wait, g.err
}

func TestSharedBudget(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		grants   grants
		requests int
		pause    time.Duration // between two requests
		asked    int
		took     time.Duration
	}{
		{"a quiet process asks nobody", grants{}, 20, 250 * time.Millisecond, 0, 5 * time.Second},
		{"a burst asks once for each batch", grants{}, ownPerSecond + 2*budgetBatch, 0, 2, 0},
		{"what another process has spent is waited out", grants{wait: 100 * time.Millisecond}, ownPerSecond + 2*budgetBatch, 0, 2, 200 * time.Millisecond},
		{"a budget that is away is asked once and then left alone", grants{err: errors.New("away")}, ownPerSecond + 20, 0, 1, 0},
		{"one that hangs holds one request for a moment", grants{hang: true}, ownPerSecond + 20, 0, 1, budgetPatience},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newSharedBudget(&test.grants, zerolog.Nop())
				begin := time.Now()
				for range test.requests {
					if err := s.wait(t.Context()); err != nil {
						t.Fatal(err)
					}
					if test.pause > 0 {
						if err := pause(t.Context(), test.pause); err != nil {
							t.Fatal(err)
						}
					}
				}
				if took := time.Since(begin); took != test.took || test.grants.asked != test.asked {
					t.Errorf("took %v and asked %d times, want %v and %d", took, test.grants.asked, test.took, test.asked)
				}
			})
		})
	}
}

// TestSharedBudgetComesBack: after a while a budget that was away is asked again; what was granted and not used is lost.
func TestSharedBudgetComesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &grants{err: errors.New("away")}
		s := newSharedBudget(g, zerolog.Nop())
		burst := func(want int) {
			t.Helper()
			for range ownPerSecond + 1 {
				if err := s.wait(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if g.asked != want {
				t.Errorf("asked %d times, want %d", g.asked, want)
			}
			_ = pause(t.Context(), budgetRetry) // virtual time; nothing ends it
		}
		burst(1)
		g.err = nil
		burst(2)
		burst(3)
	})
}

// TestSharedBudgetStops: a request that is given up while it waits says so, and holds nobody.
func TestSharedBudgetStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSharedBudget(&grants{hang: true}, zerolog.Nop())
		for range ownPerSecond {
			_ = s.wait(t.Context()) // its own
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := s.wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("ended with %v", err)
		}
	})
}

func TestNoSharedBudget(t *testing.T) {
	t.Parallel()
	for range 100 {
		if err := newSharedBudget(nil, zerolog.Nop()).wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
