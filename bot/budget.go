package bot

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"
)

const (
	// ownPerSecond is what a process sends without asking, so that a quiet bot never asks. It comes on top of what the
	// processes share: two that are both busy were measured at up to 86 requests in one second, over Discord's 50.
	ownPerSecond = 5
	// sharedPerSecond is what all processes together send beyond that.
	sharedPerSecond = globalPerSecond - ownPerSecond
	// budgetBatch is how many requests are asked for at once. What is not sent within budgetFresh is lost.
	budgetBatch = 10
	budgetFresh = time.Second
	// budgetPatience bounds one question; after one without an answer nobody is asked for budgetRetry.
	budgetPatience = 300 * time.Millisecond
	budgetRetry    = 5 * time.Second
)

// Budget spaces the requests that all processes of one bot send; see store.Budget.
type Budget interface {
	TakeRequests(ctx context.Context, n, perSecond int, now time.Time) (wait time.Duration, err error)
}

// sharedBudget keeps this process within what all processes of the bot may send. While nobody answers, the process's own
// limit is all that holds. A nil one never waits. Safe for concurrent use.
type sharedBudget struct {
	budget Budget
	log    zerolog.Logger
	own    *rate.Limiter
	asking *semaphore.Weighted // FIFO; held over a question and its wait, so that those behind wait too

	mu      sync.Mutex
	stock   int
	freshTo time.Time
	awayTo  time.Time
}

func newSharedBudget(b Budget, log zerolog.Logger) *sharedBudget {
	if b == nil {
		return nil
	}
	return &sharedBudget{budget: b, log: log, own: rate.NewLimiter(ownPerSecond, ownPerSecond), asking: semaphore.NewWeighted(1)}
}

// wait returns when one more request may be sent, or with ctx's end.
func (s *sharedBudget) wait(ctx context.Context) error {
	if s == nil || s.own.Allow() {
		return nil
	}
	if err := s.asking.Acquire(ctx, 1); err != nil {
		return fmt.Errorf("waiting for the requests before this one: %w", err)
	}
	defer s.asking.Release(1)
	if s.spend(time.Now()) {
		return nil
	}
	asking, cancel := context.WithTimeout(ctx, budgetPatience)
	defer cancel()
	d, err := s.budget.TakeRequests(asking, budgetBatch, sharedPerSecond, time.Now())
	if ctx.Err() != nil {
		return fmt.Errorf("waiting for the shared rate limit: %w", context.Cause(ctx))
	}
	s.learn(d, err, time.Now())
	if err := pause(ctx, d); err != nil {
		return fmt.Errorf("waiting for the shared rate limit: %w", err)
	}
	return nil
}

// spend takes one request of the stock; it also answers true while nobody can be asked.
func (s *sharedBudget) spend(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Before(s.awayTo) {
		return true
	}
	if s.stock == 0 || !now.Before(s.freshTo) {
		return false
	}
	s.stock--
	return true
}

// learn keeps what an answer granted beyond the request that asked.
func (s *sharedBudget) learn(wait time.Duration, err error, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.stock, s.awayTo = 0, now.Add(budgetRetry)
		s.log.Warn().Err(err).Dur("next", budgetRetry).Msg("rest.budget_away")
		return
	}
	s.stock, s.freshTo = budgetBatch-1, now.Add(wait+budgetFresh)
}
