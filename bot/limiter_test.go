package bot

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func limitHeaders(bucket string, remaining int, after string) http.Header {
	h := http.Header{}
	h.Set("X-RateLimit-Bucket", bucket)
	h.Set("X-RateLimit-Remaining", fmt.Sprint(remaining))
	h.Set("X-RateLimit-Reset-After", after)
	return h
}

func post(channel string) route {
	return channelRoute(http.MethodPost, "/channels/{channel}/messages", channel)
}

// through sends one request through the limiter, which answers with h.
func through(ctx context.Context, l *limiter, r route, h http.Header) error {
	p, err := l.enter(ctx, r)
	if err != nil {
		return err
	}
	defer p.leave()
	if err := p.wait(ctx); err != nil {
		return err
	}
	p.observe(h)
	return nil
}

func TestExhaustedBucketIsWaitedOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter()
		start := time.Now()
		must(t, through(t.Context(), l, post("1"), limitHeaders("b", 1, "2.5")))
		must(t, through(t.Context(), l, post("1"), limitHeaders("b", 0, "2.5")))
		if d := time.Since(start); d != 0 {
			t.Errorf("two free requests took %s", d)
		}
		must(t, through(t.Context(), l, post("2"), nil))
		if d := time.Since(start); d != 0 {
			t.Errorf("another channel waited %s", d)
		}
		must(t, through(t.Context(), l, post("1"), nil))
		if d := time.Since(start); d != 2500*time.Millisecond {
			t.Errorf("the third took %s", d)
		}
	})
}

// Routes that Discord counts together wait together.
func TestSharedBucket(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter()
		other := channelRoute(http.MethodDelete, "/channels/{channel}/messages/{message}", "1")
		must(t, through(t.Context(), l, other, limitHeaders("shared", 5, "1")))
		must(t, through(t.Context(), l, post("1"), limitHeaders("shared", 0, "1")))
		start := time.Now()
		must(t, through(t.Context(), l, other, nil))
		if d := time.Since(start); d != time.Second {
			t.Errorf("took %s", d)
		}
	})
}

func TestGlobalLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter()
		start := time.Now()
		var wg sync.WaitGroup
		for n := range 10 * globalPerSecond {
			wg.Go(func() {
				if err := through(t.Context(), l, post(fmt.Sprint(n)), nil); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		// A burst may go at once.
		if d := time.Since(start).Round(time.Millisecond); d != 9933*time.Millisecond {
			t.Errorf("ten seconds' worth took %s", d)
		}
		free := route{method: http.MethodPost, template: "/interactions", major: "1", free: true}
		start = time.Now()
		must(t, through(t.Context(), l, free, nil))
		if d := time.Since(start); d != 0 {
			t.Errorf("an interaction waited %s", d)
		}
	})
}

func TestGlobalPauseStopsAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter()
		p, err := l.enter(t.Context(), post("1"))
		must(t, err)
		p.limited(3*time.Second, true)
		p.leave()
		start := time.Now()
		must(t, through(t.Context(), l, post("2"), nil))
		if d := time.Since(start); d != 3*time.Second {
			t.Errorf("another channel waited %s", d)
		}
	})
}

func TestWaitThatOutlastsTheDeadlineFailsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter()
		must(t, through(t.Context(), l, post("1"), limitHeaders("b", 0, "60")))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		err := through(ctx, l, post("1"), nil)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 0 {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
}

func TestOneChannelIsServedInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter()
		first, err := l.enter(t.Context(), post("1"))
		must(t, err)
		var got []int
		var wg sync.WaitGroup
		for n := range 5 {
			wg.Go(func() {
				p, err := l.enter(t.Context(), post("1"))
				if err != nil {
					t.Error(err)
					return
				}
				got = append(got, n) // the lane is ours alone
				p.leave()
			})
			synctest.Wait()
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := l.enter(gone, post("1")); err == nil {
			t.Error("a cancelled request got in")
		}
		first.leave()
		wg.Wait()
		if fmt.Sprint(got) != "[0 1 2 3 4]" {
			t.Errorf("%v", got)
		}
	})
}

func TestIdleStateIsDropped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter()
		for n := range 10_000 {
			r := route{method: http.MethodPost, template: "/interactions", major: fmt.Sprint(n), free: true}
			must(t, through(t.Context(), l, r, limitHeaders("i", 4, "1")))
			must(t, pause(t.Context(), time.Second)) // interactions a second apart
		}
		if len(l.lanes) > 2*sweepEvery || len(l.windows) > 2*sweepEvery {
			t.Errorf("%d lanes and %d windows kept", len(l.lanes), len(l.windows))
		}
	})
}

func TestBackoffGrowsWithJitter(t *testing.T) {
	t.Parallel()
	for try, limit := range map[int]time.Duration{1: time.Second, 2: 2 * time.Second, 5: 16 * time.Second, 8: time.Minute, 1000: time.Minute} {
		for range 100 {
			if d := backoff(time.Second, time.Minute, try); d < limit/2 || d > limit {
				t.Fatalf("try %d: %s", try, d)
			}
		}
	}
}
