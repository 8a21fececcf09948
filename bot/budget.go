package bot

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/semaphore"

	"github.com/parleybot/parley/store"
)

const (
	// budgetBatch bounds for how many requests is asked at once, so that a process with many takes no second from the others.
	budgetBatch = globalPerSecond / 5
	// budgetFresh is by how much a request may miss its time: by more, it would go beside the requests after it.
	budgetFresh = 50 * time.Millisecond
	// budgetPatience bounds the questions for a batch, of which there are up to budgetAsks while answers are slow; after that
	// nobody is asked for budgetRetry.
	budgetPatience = 300 * time.Millisecond
	budgetAsks     = 3
	budgetRetry    = 5 * time.Second
)

// Budget spaces the requests that all processes of one bot send; see store.Budget.
type Budget interface {
	TakeRequests(ctx context.Context, n int, pace store.Pace, now time.Time) (waits []time.Duration, err error)
}

// sharedBudget keeps all processes of the bot together within what Discord grants it. Each request waits for a time of its
// own that the budget gives; requests that wait together are asked for together. While nobody answers, each process's own
// pace is all that holds. A nil one never waits. Safe for concurrent use.
type sharedBudget struct {
	budget  Budget
	log     zerolog.Logger
	waiting atomic.Int64 // requests in wait

	turn   *semaphore.Weighted // FIFO, held until the request may go, so that nobody asks for the far future; guards what follows
	times  []time.Time         // granted and not used yet, in order
	awayTo time.Time
}

func newSharedBudget(b Budget, log zerolog.Logger) *sharedBudget {
	if b == nil {
		return nil
	}
	return &sharedBudget{budget: b, log: log, turn: semaphore.NewWeighted(1)}
}

// wait returns when one more request may be sent, or when ctx ends or would end before.
func (s *sharedBudget) wait(ctx context.Context) error {
	if s == nil {
		return nil
	}
	s.waiting.Add(1)
	defer s.waiting.Add(-1)
	if err := s.turn.Acquire(ctx, 1); err != nil {
		return fmt.Errorf("waiting for the requests before this one: %w", err)
	}
	defer s.turn.Release(1)
	for len(s.times) > 0 && time.Since(s.times[0]) > budgetFresh {
		s.times = s.times[1:] // who wanted it has given up
	}
	if len(s.times) == 0 {
		s.ask(ctx)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("asking for the shared rate limit: %w", context.Cause(ctx))
	}
	if len(s.times) == 0 {
		return nil
	}
	if err := pauseWithin(ctx, time.Until(s.times[0])); err != nil {
		return err // the time is left to the next request
	}
	s.times = s.times[1:]
	return nil
}

// ask asks for the times of the requests that wait, unless nobody answered lately.
func (s *sharedBudget) ask(ctx context.Context) {
	if time.Now().Before(s.awayTo) {
		return
	}
	asking, cancel := context.WithTimeout(ctx, budgetPatience)
	defer cancel()
	n := int(min(s.waiting.Load(), budgetBatch))
	for range budgetAsks {
		asked := time.Now()
		// The zero time: of the budget's clock, which all processes share.
		waits, err := s.budget.TakeRequests(asking, n, store.Pace{PerSecond: globalPerSecond, Burst: globalBurst}, time.Time{})
		if err != nil {
			s.away(ctx, err)
			return
		}
		// That clock was read somewhere on the way. After a long way nobody knows when, so the times go unused.
		way := time.Since(asked)
		if way > budgetFresh {
			continue
		}
		for _, d := range waits {
			s.times = append(s.times, asked.Add(way/2+d))
		}
		return
	}
	s.away(ctx, fmt.Errorf("it takes more than %s to answer", budgetFresh))
}

// away leaves the budget alone for a while, unless it was the request that gave up.
func (s *sharedBudget) away(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	s.awayTo = time.Now().Add(budgetRetry)
	s.log.Warn().Err(err).Dur("next", budgetRetry).Msg("rest.budget_away")
}
