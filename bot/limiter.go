package bot

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"
)

const (
	// Discord grants a bot 50 requests a second, wherever that second begins. Spread evenly, so many a second and so many at
	// once after silence are 47 together, and 50 where some miss their time by budgetFresh. (Where all of a second went at
	// once, those of the next would meet them.)
	globalPerSecond = 45
	globalBurst     = 3
	// laneIdle is how long the state of an unused lane is kept; interaction tokens make a new lane each.
	laneIdle = time.Minute
	// sweepEvery is the number of requests between two sweeps of what is idle.
	sweepEvery = 256
)

// route is what Discord's limits are counted by: a method, a path template and the ids of the path that are counted
// separately (channel, guild, webhook or interaction).
type route struct {
	method   string
	template string
	major    string
	// free routes (interaction callbacks and their webhooks) don't count towards the global limit.
	free bool
}

func (r route) key() string { return r.method + " " + r.template }

// limiter keeps requests inside Discord's limits. Requests of one route and major id are sent one at a time in the order
// they came, which keeps the messages of a channel in order also when one of them has to wait. Safe for concurrent use.
type limiter struct {
	global *rate.Limiter
	shared *sharedBudget // nil when this process is the only one

	mu          sync.Mutex
	pausedUntil time.Time // no request at all before that (a global 429)
	lanes       map[string]*lane
	hashes      map[string]string  // route key -> the bucket Discord names for it
	windows     map[string]*window // bucket and major id -> what is left of it
	uses        int
}

type lane struct {
	turn  *semaphore.Weighted // FIFO
	users int
	used  time.Time
}

type window struct {
	remaining int
	resets    time.Time
}

func newLimiter() *limiter {
	return &limiter{
		global:  rate.NewLimiter(globalPerSecond, globalBurst),
		lanes:   map[string]*lane{},
		hashes:  map[string]string{},
		windows: map[string]*window{},
	}
}

// pass is the right to be the one request of a lane, until leave.
type pass struct {
	l     *limiter
	route route
	lane  *lane
}

// enter waits for the lane of a route to be free.
func (l *limiter) enter(ctx context.Context, r route) (*pass, error) {
	key := r.key() + " " + r.major
	l.mu.Lock()
	if l.uses++; l.uses%sweepEvery == 0 {
		l.sweep(time.Now())
	}
	ln := l.lanes[key]
	if ln == nil {
		ln = &lane{turn: semaphore.NewWeighted(1)}
		l.lanes[key] = ln
	}
	ln.users++
	l.mu.Unlock()
	if err := ln.turn.Acquire(ctx, 1); err != nil {
		l.forget(ln)
		return nil, fmt.Errorf("waiting for the requests before this one: %w", err)
	}
	return &pass{l: l, route: r, lane: ln}, nil
}

func (l *limiter) forget(ln *lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln.users--
	ln.used = time.Now()
}

// sweep drops lanes nobody uses and windows that are over.
func (l *limiter) sweep(now time.Time) {
	for key, ln := range l.lanes {
		if ln.users == 0 && now.Sub(ln.used) >= laneIdle {
			delete(l.lanes, key)
		}
	}
	for key, w := range l.windows {
		if !now.Before(w.resets) {
			delete(l.windows, key)
		}
	}
}

// leave lets the next request of the lane go.
func (p *pass) leave() {
	p.lane.turn.Release(1)
	p.l.forget(p.lane)
}

// wait returns when the request may be sent, and takes its place in the counts. It gives up as soon as it is known that
// the wait would outlast ctx's deadline.
func (p *pass) wait(ctx context.Context) error {
	for {
		d := p.l.reserve(p.route, time.Now())
		if d <= 0 {
			break
		}
		if err := pauseWithin(ctx, d); err != nil {
			return fmt.Errorf("waiting for the rate limit of %s: %w", p.route.key(), err)
		}
	}
	if p.route.free {
		return nil
	}
	if err := p.l.shared.wait(ctx); err != nil {
		return fmt.Errorf("waiting for the global rate limit: %w", err)
	}
	// Last, since it counts what really goes: a process that is slow uses late and together what it was given one by one.
	if err := p.l.global.Wait(ctx); err != nil {
		return fmt.Errorf("waiting for the global rate limit: %w", err)
	}
	return nil
}

// reserve takes one request of the window, or says how long to wait for it.
func (l *limiter) reserve(r route, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d := l.pausedUntil.Sub(now); d > 0 && !r.free {
		return d
	}
	w := l.windows[l.bucket(r)]
	if w == nil || !now.Before(w.resets) {
		return 0
	}
	if w.remaining <= 0 {
		return w.resets.Sub(now)
	}
	w.remaining--
	return 0
}

// bucket is the key of the window a route counts in: Discord's own bucket when it has named it, since routes share them.
func (l *limiter) bucket(r route) string {
	if hash := l.hashes[r.key()]; hash != "" {
		return hash + " " + r.major
	}
	return r.key() + " " + r.major
}

// observe learns from the headers of an answer.
func (p *pass) observe(h http.Header) {
	now := time.Now()
	l := p.l
	l.mu.Lock()
	defer l.mu.Unlock()
	if hash := h.Get("X-RateLimit-Bucket"); hash != "" {
		l.hashes[p.route.key()] = hash
	}
	remaining, err := strconv.Atoi(h.Get("X-RateLimit-Remaining"))
	if err != nil {
		return
	}
	after, err := parseSeconds(h.Get("X-RateLimit-Reset-After"))
	if err != nil {
		return
	}
	key := l.bucket(p.route)
	resets := now.Add(after)
	if w := l.windows[key]; w != nil && now.Before(w.resets) {
		// Answers may arrive out of order: within one window the smaller rest is the newer one.
		w.remaining = min(w.remaining, remaining)
		w.resets = later(w.resets, resets)
		return
	}
	l.windows[key] = &window{remaining: remaining, resets: resets}
}

// limited records a 429: nothing of that bucket, or nothing at all, before the delay is over.
func (p *pass) limited(after time.Duration, global bool) {
	until := time.Now().Add(after)
	l := p.l
	l.mu.Lock()
	defer l.mu.Unlock()
	if global {
		l.pausedUntil = later(l.pausedUntil, until)
		if !p.route.free {
			return
		}
	}
	l.windows[l.bucket(p.route)] = &window{resets: until}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// parseSeconds reads Discord's seconds, which may have decimals.
func parseSeconds(s string) (time.Duration, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, fmt.Errorf("reading seconds: %w", err)
	}
	if !(f >= 0 && f < 1e6) {
		return 0, fmt.Errorf("reading seconds: %q is out of range", s)
	}
	return time.Duration(f * float64(time.Second)), nil
}

// pause waits for d or for the end of ctx, and returns ctx's cause then.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// pauseWithin is pause, but gives up at once when the wait would outlast ctx's deadline.
func pauseWithin(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < d {
		return fmt.Errorf("another %s: %w", d.Round(time.Millisecond), context.DeadlineExceeded)
	}
	return pause(ctx, d)
}
