package delivery

import (
	"context"
	"sync"
	"time"
)

const (
	// typingEvery is how often the indicator is renewed; Discord shows it for ten seconds.
	typingEvery = 8 * time.Second
	// typingAfter is how long an answer may take before the indicator is worth a request. It also keeps a quick answer
	// from being overtaken by its own indicator, which would then stand there for ten seconds.
	typingAfter = 200 * time.Millisecond
	// typingSettle is how long the end waits for a request that is under way. Cutting it off would not unsend it.
	typingSettle = 500 * time.Millisecond
)

// typing keeps the indicator alive beside the delivery: no text waits for its
// requests and nobody hears of their errors, because the text matters more.
type typing struct {
	quit   chan struct{}
	once   sync.Once
	cancel context.CancelFunc
	done   chan struct{}
}

func newTyping(ctx context.Context, cfg Config) *typing {
	t := &typing{quit: make(chan struct{}), done: make(chan struct{})}
	ctx, t.cancel = context.WithCancel(ctx)
	if cfg.NoTyping {
		close(t.done)
		return t
	}
	go func() {
		defer close(t.done)
		timer := time.NewTimer(typingAfter)
		defer timer.Stop()
		for {
			select {
			case <-timer.C:
			case <-t.quit:
				return
			case <-ctx.Done():
				return
			}
			select {
			case <-t.quit: // both were ready
				return
			default:
			}
			_ = cfg.Port.Typing(ctx) // an indicator that fails is one that isn't seen
			timer.Reset(typingEvery)
		}
	}()
	return t
}

// stop ends the indicator without waiting: no further request begins.
func (t *typing) stop() { t.once.Do(func() { close(t.quit) }) }

// wait waits, after stop, for a request that is under way, and cuts it off when ctx ends or it takes too long.
func (t *typing) wait(ctx context.Context) bool {
	settled := time.NewTimer(typingSettle)
	defer settled.Stop()
	select {
	case <-t.done:
		return true
	case <-settled.C:
	case <-ctx.Done():
	}
	t.cancel()
	select {
	case <-t.done:
		return true
	case <-ctx.Done():
		return false
	}
}
