package bot

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleybot/parley/store"
)

// discordsPerSecond is how many requests of a bot Discord takes within one second.
const discordsPerSecond = 50

// grants is a budget that several processes share, as store.Budget says; or one that is away or hangs.
type grants struct {
	mu    sync.Mutex
	due   time.Time
	asked []int
	trip  time.Duration
	// late is how much longer every fifth answer takes to come back.
	late time.Duration
	err  error
	hang bool
}

func (g *grants) TakeRequests(ctx context.Context, n int, pace store.Pace, now time.Time) ([]time.Duration, error) {
	if want := (store.Pace{PerSecond: globalPerSecond, Burst: globalBurst}); !now.IsZero() || n < 1 || n > budgetBatch || pace != want {
		return nil, fmt.Errorf("asked for %d at %+v and %v", n, pace, now)
	}
	if err := pause(ctx, g.trip); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked = append(g.asked, n)
	if g.hang {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if g.err != nil {
		return nil, g.err
	}
	const apart = time.Second / globalPerSecond
	waits := make([]time.Duration, n)
	for i := range waits {
		g.due = later(g.due, time.Now().Add(-(globalBurst-1)*apart))
		waits[i] = max(0, time.Until(g.due))
		g.due = g.due.Add(apart)
	}
	if len(g.asked)%5 == 0 {
		g.mu.Unlock()
		defer g.mu.Lock()
		if err := pause(ctx, g.late); err != nil {
			return nil, err
		}
	}
	return waits, nil
}

// flood sends requests in lanes of their own through a process's limiter and returns when they went.
func flood(t *testing.T, l *limiter, requests int) []time.Time {
	t.Helper()
	var mu sync.Mutex
	var went []time.Time
	var wg sync.WaitGroup
	for n := range requests {
		wg.Go(func() {
			if err := through(t.Context(), l, post(fmt.Sprint(n)), http.Header{}); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			went = append(went, time.Now())
		})
	}
	wg.Wait()
	return went
}

// busiest is how many requests went within one second at most.
func busiest(went []time.Time) int {
	slices.SortFunc(went, time.Time.Compare)
	most, first := 0, 0
	for i := range went {
		for went[i].Sub(went[first]) >= time.Second {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

func limiterWith(b Budget) *limiter {
	l := newLimiter()
	l.shared = newSharedBudget(b, zerolog.Nop())
	return l
}

// TestProcessesStayWithinDiscordsLimit: several processes that all have much to say send no more in any second than one may,
// however long answers of the budget take, and none of them waits for another to have said all.
func TestProcessesStayWithinDiscordsLimit(t *testing.T) {
	t.Parallel()
	for _, late := range []time.Duration{0, budgetFresh - time.Millisecond, 2 * budgetFresh, budgetPatience - 10*time.Millisecond} {
		for _, processes := range []int{2, 4} {
			t.Run(fmt.Sprintf("%d, some answers %v late", processes, late), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					const each = 150
					g := &grants{trip: time.Millisecond, late: late}
					var mu sync.Mutex
					var all []time.Time
					var wg sync.WaitGroup
					begin := time.Now()
					ideal := time.Duration(processes) * each * time.Second / globalPerSecond
					for range processes {
						wg.Go(func() {
							went := flood(t, limiterWith(g), each)
							mu.Lock()
							defer mu.Unlock()
							all = append(all, went...)
							if took := time.Since(begin); took < ideal*2/3 {
								t.Errorf("one process had said all after %v, before the others", took)
							}
						})
					}
					wg.Wait()
					if most := busiest(all); most > discordsPerSecond || len(all) != processes*each {
						t.Errorf("%d of %d requests within one second", most, len(all))
					}
					// Late answers cost what they were asked for.
					if took := time.Since(begin); took > ideal*3/2 {
						t.Errorf("took %v, want about %v", took, ideal)
					}
				})
			})
		}
	}
}

// TestOneProcessStaysWithinDiscordsLimit: so does one by itself, whether nobody shares the budget or it is away.
func TestOneProcessStaysWithinDiscordsLimit(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]Budget{"alone": nil, "away": &grants{err: errors.New("away")}, "hangs": &grants{hang: true}, "shared": &grants{}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				if most := busiest(flood(t, limiterWith(b), 10*globalPerSecond)); most > discordsPerSecond {
					t.Errorf("%d requests within one second", most)
				}
				if took := time.Since(begin); took > 10*time.Second+budgetPatience {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

func TestSharedBudgetAsks(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		grants *grants
		// together is how many requests come at the same time.
		together int
		asked    string
		took     time.Duration
	}{
		{"one request asks for itself", &grants{}, 1, "[1]", 0},
		{"those that wait are asked for together", &grants{trip: time.Millisecond}, globalBurst, "[3]", time.Millisecond},
		{"many are asked for in batches", &grants{}, globalBurst + 2*budgetBatch, "[9 9 3]", 2 * budgetBatch * (time.Second / globalPerSecond)},
		{"a budget that is away is asked once and then left alone", &grants{err: errors.New("away")}, 20, "[9]", 0},
		{"one that hangs holds them for a moment", &grants{hang: true}, 20, "[9]", budgetPatience},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newSharedBudget(test.grants, zerolog.Nop())
				must(t, s.turn.Acquire(t.Context(), 1)) // so that all are there when the first may ask
				var wg sync.WaitGroup
				for range test.together {
					wg.Go(func() {
						if err := s.wait(t.Context()); err != nil {
							t.Error(err)
						}
					})
				}
				synctest.Wait()
				begin := time.Now()
				s.turn.Release(1)
				wg.Wait()
				if took, asked := time.Since(begin), fmt.Sprint(test.grants.asked); took != test.took || asked != test.asked {
					t.Errorf("took %v and asked for %s, want %v and %s", took, asked, test.took, test.asked)
				}
			})
		})
	}
}

// TestSharedBudgetComesBack: after a while a budget that was away is asked again.
func TestSharedBudgetComesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &grants{err: errors.New("away")}
		s := newSharedBudget(g, zerolog.Nop())
		for _, step := range []struct {
			later time.Duration
			asked int
		}{{0, 1}, {0, 1}, {budgetRetry - 1, 1}, {1, 2}, {0, 3}} {
			must(t, pause(t.Context(), step.later))
			must(t, s.wait(t.Context()))
			if len(g.asked) != step.asked {
				t.Errorf("asked %d times, want %d", len(g.asked), step.asked)
			}
			if step.later == budgetRetry-1 {
				g.err = nil
			}
		}
	})
}

// TestSharedBudgetStops: a request that is given up says so, holds nobody, and leaves its time to the one behind it, unless
// that comes much later.
func TestSharedBudgetStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &grants{}
		s := newSharedBudget(g, zerolog.Nop())
		for range globalBurst {
			must(t, s.wait(t.Context()))
		}
		short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		begin := time.Now()
		if err := s.wait(short); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != 0 {
			t.Errorf("a wait that outlasts the deadline ended with %v after %v", err, time.Since(begin))
		}
		asked := len(g.asked)
		must(t, s.wait(t.Context()))
		if took := time.Since(begin); took.Round(time.Microsecond) != (time.Second/globalPerSecond).Round(time.Microsecond) || len(g.asked) != asked {
			t.Errorf("the next went after %v and asked %d times more", took, len(g.asked)-asked)
		}
		gone, leave := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Millisecond, func() { leave(errors.New("killed")) })
		if err := s.wait(gone); err == nil || err.Error() != "killed" {
			t.Errorf("a killed one ended with %v", err)
		}
		must(t, pause(t.Context(), time.Minute))
		asked = len(g.asked)
		if must(t, s.wait(t.Context())); len(g.asked) != asked+1 {
			t.Error("a time that is long over was used")
		}
	})
}

// TestSharedBudgetThatHangsIsLeft: a request that is killed while the budget is asked ends at once, and the budget does not
// count as away for it.
func TestSharedBudgetThatHangsIsLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &grants{hang: true}
		s := newSharedBudget(g, zerolog.Nop())
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := s.wait(ctx); !errors.Is(err, context.DeadlineExceeded) || !s.awayTo.IsZero() {
			t.Errorf("ended with %v, away to %v", err, s.awayTo)
		}
	})
}

func TestNoSharedBudget(t *testing.T) {
	t.Parallel()
	must(t, newSharedBudget(nil, zerolog.Nop()).wait(t.Context()))
}
