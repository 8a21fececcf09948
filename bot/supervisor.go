package bot

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

const (
	reconnectBase  = time.Second
	reconnectLimit = 2 * time.Minute
	// stableAfter is how long a connection must have stood for the delays to start over.
	stableAfter = time.Minute
	// minSessionStarts is the floor of the day's session starts: at zero Discord resets the token.
	minSessionStarts = 5
)

// supervise keeps a gateway connection alive until ctx ends (nil) or Discord refuses for good (*FatalError). The library's
// own loop would reconnect for ever after every close, also after one that says never to come back.
func (b *Bot) supervise(ctx context.Context) error {
	for try := 1; ; try++ {
		stood, err := b.live(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the end was asked for
		}
		if f := fatalIn(err); f != nil {
			return f
		}
		select {
		case <-b.rest.rejected:
			return rejectedToken()
		default:
		}
		if stood >= stableAfter {
			try = 1
		}
		delay := backoff(b.reconnectBase, reconnectLimit, try)
		b.log.Warn().Err(err).Int("try", try).Dur("delay", delay).Msg("gateway.reconnect")
		b.reconnects.Add(1)
		if pause(ctx, delay) != nil {
			return nil //nolint:nilerr // the end was asked for
		}
	}
}

// live opens one connection and returns when it has ended, with how long it stood and why it ended.
func (b *Bot) live(ctx context.Context) (stood time.Duration, err error) {
	if err := b.checkStarts(ctx); err != nil {
		return 0, err
	}
	c, err := b.newConnection(ctx, b.push)
	if err != nil {
		return 0, err
	}
	if err := c.open(ctx); err != nil {
		return 0, err
	}
	defer closeCodes.remove(c)
	unready := time.NewTimer(openTimeout)
	defer unready.Stop()
	start := time.Now()
	ready := c.ready
	for {
		select {
		case <-ready:
			unready.Stop()
			ready = nil
			b.connected.Store(true)
			defer b.connected.Store(false)
		case <-unready.C:
			c.link.cut(errors.New("discord did not say READY in time"))
		case <-b.rest.rejected:
			c.close()
			return time.Since(start), rejectedToken()
		case <-c.gone:
			return time.Since(start), b.whyEnded(c)
		case <-ctx.Done():
			c.close()
			return time.Since(start), nil
		}
	}
}

func (b *Bot) whyEnded(c *connection) error {
	code := int(c.closeCode.Load())
	if f := fatalClose(code); f != nil {
		return f
	}
	if err := c.link.reason(); err != nil {
		return fmt.Errorf("gateway connection ended: %w", err)
	}
	c.link.cut(errors.New("ended"))
	return fmt.Errorf("gateway connection ended with close code %d", code)
}

// gatewayInfo is Discord's answer to GET /gateway/bot.
type gatewayInfo struct {
	Shards int         `json:"shards"`
	Limit  startLimits `json:"session_start_limit"`
}

type startLimits struct {
	Total      int   `json:"total"`
	Remaining  int   `json:"remaining"`
	ResetAfter int64 `json:"reset_after"` // milliseconds
}

func (l startLimits) resetAfter() time.Duration {
	return time.Duration(l.ResetAfter) * time.Millisecond
}

func (b *Bot) askGateway(ctx context.Context) (info gatewayInfo, err error) {
	err = b.rest.do(ctx, call{
		route: route{method: http.MethodGet, template: "/gateway/bot"}, path: "/gateway/bot", repeatable: true,
	}, &info)
	return info, err
}

// checkStarts makes sure that the day has session starts left.
func (b *Bot) checkStarts(ctx context.Context) error {
	info, err := b.askGateway(ctx)
	if err != nil {
		return fmt.Errorf("asking for the gateway: %w", err)
	}
	if l := info.Limit; l.Total > 0 && l.Remaining < minSessionStarts {
		return &FatalError{
			Reason: fmt.Sprintf("only %d of %d session starts are left today", l.Remaining, l.Total),
			Remedy: fmt.Sprintf("find out what restarts the bot, then start it again in %s", l.resetAfter().Round(time.Minute)),
		}
	}
	if have := max(b.cfg.Shards, 1); info.Shards > have {
		b.log.Warn().Int("recommended", info.Shards).Int("configured", have).Msg("gateway.more_shards_recommended")
	}
	return nil
}
