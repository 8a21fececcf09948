package providers

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"time"
)

// The bounds of retrying.
const (
	defaultRetries = 2
	firstBackoff   = 500 * time.Millisecond
	maxBackoff     = 8 * time.Second
	// maxRetryAfter is the longest wait asked for by a vendor that is worth sitting out inside a turn.
	maxRetryAfter = time.Minute
)

// RetryPolicy tunes Retrying; the zero value is the default policy.
type RetryPolicy struct {
	// Max is how many times a failed request is sent again; 0 means 2, a negative value never.
	Max int
	// Jitter spreads a back-off so that clients do not return in step; nil takes a random half to whole of it. A wait
	// that the vendor named is never shortened.
	Jitter func(time.Duration) time.Duration
}

// Retrying returns p with failed requests sent again: only those whose *Error says Retryable, and only while nothing of
// the answer was passed on, since text may already be shown and tools may have run. Each retry counts Request.Attempt up.
func Retrying(p Provider, policy RetryPolicy) Provider {
	if policy.Max == 0 {
		policy.Max = defaultRetries
	}
	if policy.Jitter == nil {
		policy.Jitter = func(d time.Duration) time.Duration { return d/2 + rand.N(d/2+1) }
	}
	return retrying{p, policy}
}

type retrying struct {
	Provider
	policy RetryPolicy
}

func (r retrying) Stream(ctx context.Context, req Request) iter.Seq2[Fragment, error] {
	return func(yield func(Fragment, error) bool) {
		for try := 0; ; try++ {
			err, again := r.once(ctx, req, yield)
			if !again {
				return
			}
			wait, ok := r.wait(err, try)
			if !ok {
				yield(nil, err)
				return
			}
			if err := sleep(ctx, wait); err != nil {
				yield(nil, err)
				return
			}
			req.Attempt++
		}
	}
}

// once streams one attempt. again is true when it failed before anything was passed on; the failure is then returned
// instead of yielded.
func (r retrying) once(ctx context.Context, req Request, yield func(Fragment, error) bool) (err error, again bool) {
	begun := false
	for f, err := range r.Provider.Stream(ctx, req) {
		if err != nil {
			if !begun {
				return err, true
			}
			yield(nil, err)
			return nil, false
		}
		switch f.(type) {
		case Beat, UsageReport:
			// Neither says anything of the answer.
		case TextDelta, ThinkingDelta, ThinkingDone, CallDelta, End:
			begun = true
		}
		if !yield(f, nil) {
			return nil, false
		}
	}
	return nil, false
}

// wait decides whether a failure is worth another try, and after how long.
func (r retrying) wait(err error, try int) (time.Duration, bool) {
	e, ok := errors.AsType[*Error](err)
	if !ok || !e.Retryable || try >= r.policy.Max || e.RetryAfter > maxRetryAfter {
		return 0, false
	}
	if e.RetryAfter > 0 {
		return e.RetryAfter, true
	}
	return r.policy.Jitter(min(firstBackoff<<min(try, 10), maxBackoff)), true
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
