package turn

import (
	"context"
	"sync"
	"time"

	"github.com/parleybot/parley/internal/abort"
)

// clock is a turn's wall clock. It ends the turn with abort.TurnTimeout; while it is paused (a person is asked), no time
// passes. It is safe for concurrent use.
type clock struct {
	mu      sync.Mutex
	timer   *time.Timer
	left    time.Duration
	started time.Time
	paused  int
}

func startClock(limit time.Duration, cancel context.CancelCauseFunc) *clock {
	c := &clock{left: limit, started: time.Now()}
	c.timer = time.AfterFunc(limit, func() { cancel(abort.TurnTimeout{After: limit}) })
	return c
}

// Pause stops the clock; pauses nest.
func (c *clock) Pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused++; c.paused == 1 && c.timer.Stop() {
		c.left -= time.Since(c.started)
	}
}

// Resume starts it again with what was left.
func (c *clock) Resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused--; c.paused == 0 {
		c.started = time.Now()
		c.timer.Reset(max(c.left, 0))
	}
}

// stop ends the clock for good.
func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.paused += 1 << 20
	c.timer.Stop()
}
