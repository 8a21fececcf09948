package delivery

import (
	"context"
	"time"
)

// typingEvery is how often the indicator is renewed; Discord shows it for ten seconds.
const typingEvery = 8 * time.Second

// typing keeps the indicator alive beside the delivery: nothing waits for its
// requests and nobody hears of their errors, because the text matters more.
type typing struct {
	cancel context.CancelFunc
	done   chan struct{}
}

func newTyping(ctx context.Context, cfg Config) *typing {
	t := &typing{done: make(chan struct{})}
	ctx, t.cancel = context.WithCancel(ctx)
	if cfg.NoTyping {
		close(t.done)
		return t
	}
	go func() {
		defer close(t.done)
		ticker := time.NewTicker(typingEvery)
		defer ticker.Stop()
		for ctx.Err() == nil {
			_ = cfg.Port.Typing(ctx) // an indicator that fails is one that isn't seen
			select {
			case <-ticker.C:
			case <-ctx.Done():
			}
		}
	}()
	return t
}

// stop ends the indicator and a request that is under way, without waiting.
func (t *typing) stop() { t.cancel() }

// wait waits for the end of the goroutine, after stop.
func (t *typing) wait(ctx context.Context) bool {
	select {
	case <-t.done:
		return true
	case <-ctx.Done():
		return false
	}
}
