package store_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parleybot/parley/store"
)

// server answers questions after a delay, or not at all.
type server struct {
	mu     sync.Mutex
	delay  time.Duration
	asked  int
	silent []bool // what was told
}

func (s *server) set(delay time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delay = delay
}

func (s *server) ask(ctx context.Context) error {
	s.mu.Lock()
	s.asked++
	answered := time.After(s.delay)
	s.mu.Unlock()
	select {
	case <-answered:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *server) told(silent bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent = append(s.silent, silent)
}

func (s *server) check(t *testing.T, asked int, told ...bool) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked != asked || !slices.Equal(s.silent, told) {
		t.Errorf("asked %d times and told %v; want %d and %v", s.asked, s.silent, asked, told)
	}
}

// ready asks with a patience, and returns how long it took.
func ready(t *testing.T, p *store.Pulse, patience time.Duration) (time.Duration, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	begun := time.Now()
	err := p.Ready(ctx)
	return time.Since(begun), err
}

func TestPulse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		p := store.NewPulse(t.Context(), "here", s.ask, s.told)
		defer p.Close()
		took := func(want time.Duration, unavailable bool) {
			t.Helper()
			got, err := ready(t, p, 5*time.Second)
			if got != want || errors.Is(err, store.ErrUnavailable) != unavailable || !unavailable && err != nil {
				t.Errorf("after %v: %v; want %v, unavailable %t", got, err, want, unavailable)
			}
		}
		took(0, false)
		s.check(t, 0)

		// One that is slow with a request but answers is not silent.
		s.set(300 * time.Millisecond)
		p.Missed()
		p.Missed()
		took(300*time.Millisecond, false)
		took(0, false)
		s.check(t, 1)

		// One that says nothing holds up whoever asks while that is found out, and nobody later.
		s.set(time.Hour)
		p.Missed()
		took(2*time.Second, true)
		took(0, true)
		p.Missed()
		elapse(t, 9500*time.Millisecond)
		took(0, true)
		if got, err := ready(t, p, time.Minute); got != 0 || err != nil {
			t.Errorf("one that can wait: after %v: %v", got, err)
		}
		if err := p.Ready(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("one that waits for ever: %v", err)
		}
		s.check(t, 5, true) // one of them before, then at 0, 3, 6 and 9 seconds

		s.set(0)
		elapse(t, 3*time.Second)
		took(0, false)
		s.check(t, 6, true, false)
	})
}

// A caller whose time ends while the server is asked is told so.
func TestPulseHoldsNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &server{delay: time.Hour}
		p := store.NewPulse(t.Context(), "here", s.ask, nil)
		p.Missed()
		if took, err := ready(t, p, time.Second); took != time.Second || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after %v: %v", took, err)
		}
		p.Close() // in the middle of a question
		p.Missed()
		synctest.Wait()
		s.check(t, 1)
	})
}

func TestNoPulse(t *testing.T) {
	t.Parallel()
	var p *store.Pulse
	p.Missed()
	p.Close()
	if err := p.Ready(t.Context()); err != nil {
		t.Error(err)
	}
}

func elapse(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
	}
	synctest.Wait()
}
