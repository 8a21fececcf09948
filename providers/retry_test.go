package providers

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parleybot/parley/providers/internal/rows"
)

// flaky answers each request with the next of its streams.
type flaky struct {
	streams  []iter.Seq2[Fragment, error]
	attempts []int
}

func (f *flaky) Name() string { return "flaky" }

func (f *flaky) Stream(_ context.Context, req Request) iter.Seq2[Fragment, error] {
	f.attempts = append(f.attempts, req.Attempt)
	return f.streams[min(len(f.attempts), len(f.streams))-1]
}

func TestCD122Retrying(t *testing.T) {
	t.Parallel()
	rows.Ran(t, "CD122")
	busy := &Error{Provider: "x", Kind: KindRateLimit, Status: 429, Retryable: true}
	after := func(d time.Duration) *Error {
		e := *busy
		e.RetryAfter = d
		return &e
	}
	fine := stream(nil, TextDelta{"hi"}, End{Reason: FinishStop})
	for _, c := range []struct {
		name     string
		streams  []iter.Seq2[Fragment, error]
		requests int
		took     time.Duration
		text     string
		kind     ErrorKind
	}{
		{"the wait the vendor asked for", []iter.Seq2[Fragment, error]{stream(after(2 * time.Second)), fine}, 2, 2 * time.Second, "hi", ""},
		{"a beat and usage are no answer", []iter.Seq2[Fragment, error]{stream(busy, Beat{}, UsageReport{}), fine}, 2, 500 * time.Millisecond, "hi", ""},
		{"back-off doubles, two retries at most", []iter.Seq2[Fragment, error]{stream(busy)}, 3, 1500 * time.Millisecond, "", KindRateLimit},
		{"none after output began", []iter.Seq2[Fragment, error]{stream(busy, TextDelta{"so"}), fine}, 1, 0, "so", KindRateLimit},
		{"none after a wait of over a minute", []iter.Seq2[Fragment, error]{stream(after(61 * time.Second)), fine}, 1, 0, "", KindRateLimit},
		{"none for what can't succeed", []iter.Seq2[Fragment, error]{stream(&Error{Kind: KindAuth, Status: 401}), fine}, 1, 0, "", KindAuth},
		{"none for a stream that ends early", []iter.Seq2[Fragment, error]{stream(nil, TextDelta{"so"}), fine}, 1, 0, "so", KindTruncated},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := &flaky{streams: c.streams}
				r := Retrying(p, RetryPolicy{Jitter: func(d time.Duration) time.Duration { return d }})
				start := time.Now()
				got, err := Collect(r.Stream(t.Context(), Request{Attempt: 1}), nil)
				if len(p.attempts) != c.requests || time.Since(start) != c.took || got.Text != c.text || KindOf(err) != c.kind {
					t.Errorf("attempts %v, took %v, text %q, error %v", p.attempts, time.Since(start), got.Text, err)
				}
				if last := p.attempts[len(p.attempts)-1]; last != c.requests {
					t.Errorf("last attempt is numbered %d", last)
				}
				if r.Name() != "flaky" {
					t.Errorf("name %q", r.Name())
				}
			})
		})
	}
}

func TestRetryingStopsWaitingWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &flaky{streams: []iter.Seq2[Fragment, error]{stream(&Error{Retryable: true, RetryAfter: 30 * time.Second})}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := Collect(Retrying(p, RetryPolicy{}).Stream(ctx, Request{}), nil)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("error %v after %v", err, time.Since(start))
		}
	})
}

func TestRetryingJitterStaysInBounds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &flaky{streams: []iter.Seq2[Fragment, error]{stream(&Error{Retryable: true})}}
		start := time.Now()
		_, _ = Collect(Retrying(p, RetryPolicy{Max: 6}).Stream(t.Context(), Request{}), nil)
		// Half to whole of 0.5+1+2+4+8+8 s.
		if took := time.Since(start); took < 11750*time.Millisecond || took > 23500*time.Millisecond {
			t.Errorf("took %v", took)
		}
	})
}
