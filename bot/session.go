package bot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"
)

const (
	openTimeout = 30 * time.Second
	// stuckGrace is how long an aborted Open may take to return. Past it the goroutine is given up.
	stuckGrace = 5 * time.Second

	// intents are all that is asked for: message content is privileged and must be switched on for the application.
	intents = discordgo.IntentGuilds | discordgo.IntentGuildMessages | discordgo.IntentDirectMessages |
		discordgo.IntentMessageContent
)

var errOpenAborted = errors.New("discord asked to reconnect before the session stood")

// connection is one life of the gateway connection: one fresh library session, opened once. A session is not used again,
// since the library's own goroutines of an earlier life may still close whatever it holds then.
type connection struct {
	dg    *discordgo.Session
	link  *linkState
	ready chan struct{} // closed at READY
	once  sync.Once
	gone  chan struct{} // closed when the connection has ended
	end   sync.Once
	// closeCode is Discord's close code of a connection that stood, 0 when unknown.
	closeCode atomic.Int32
}

// newConnection makes a connection that ends with ctx. push is given every event, on the library's reading goroutine.
func (b *Bot) newConnection(ctx context.Context, push func(kind string, data []byte)) (*connection, error) {
	dg, err := discordgo.New("Bot " + b.cfg.Token)
	if err != nil {
		return nil, fmt.Errorf("creating a gateway session: %w", err)
	}
	c := &connection{dg: dg, link: &linkState{}, ready: make(chan struct{}), gone: make(chan struct{})}
	dg.SyncEvents = true // order: the default starts a goroutine per event
	dg.StateEnabled = false
	dg.ShouldReconnectOnError = false
	dg.ShouldReconnectVoiceOnSessionError = false
	dg.ShouldRetryOnRateLimit = false
	dg.MaxRestRetries = 0
	dg.Identify.Intents = intents
	dg.ShardID, dg.ShardCount = b.cfg.Shard, max(b.cfg.Shards, 1)
	dg.LogLevel = discordgo.LogError
	if discordgo.Logger != nil {
		dg.LogLevel = discordgo.LogInformational // InstallLogger needs these lines
	}
	dg.Client = &http.Client{Transport: b.gatewayTransport(ctx), Timeout: requestTimeout}
	dg.Dialer = &websocket.Dialer{
		Proxy:            http.ProxyFromEnvironment,
		HandshakeTimeout: openTimeout,
		NetDialContext: func(dialCtx context.Context, network, addr string) (net.Conn, error) {
			var d net.Dialer
			conn, err := d.DialContext(dialCtx, network, addr)
			if err != nil {
				return nil, err
			}
			closeCodes.add(addr, c)
			return c.link.attach(conn), nil
		},
	}
	dg.AddHandler(func(_ *discordgo.Session, e *discordgo.Event) {
		// The library recovers no panic: one here would end the process.
		defer b.recovered("the library's handler")
		if e.Type == "READY" || e.Type == "RESUMED" {
			c.link.standing.Store(true)
			c.once.Do(func() { close(c.ready) })
		}
		push(e.Type, e.RawData)
	})
	dg.AddHandler(func(*discordgo.Session, *discordgo.Disconnect) { c.ended() })
	return c, nil
}

func (c *connection) ended() { c.end.Do(func() { close(c.gone) }) }

// open connects and identifies. It returns when Discord's first message arrived, which need not be READY. After an error
// the connection is of no use.
func (c *connection) open(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, openTimeout, errors.New("the gateway did not answer in time"))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { c.link.cut(context.Cause(ctx)) })
	defer stop()
	done := make(chan error, 1)
	go func() {
		err := errOpenAborted
		defer func() { done <- err }() // also when the log hook ended this goroutine
		err = c.dg.Open()
	}()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		grace := time.NewTimer(stuckGrace)
		defer grace.Stop()
		select {
		case err = <-done:
		case <-grace.C:
			err = errors.New("the library is stuck opening the session")
		}
	}
	if err == nil {
		return nil
	}
	c.link.cut(err)
	closeCodes.remove(c)
	if cause := context.Cause(ctx); cause != nil && errors.Is(c.link.reason(), cause) {
		err = cause
	}
	return fmt.Errorf("opening the gateway session: %w", c.scrub(err))
}

// scrub makes the library's errors safe to show: a REST error prints the whole answer.
func (c *connection) scrub(err error) error {
	if re, ok := errors.AsType[*discordgo.RESTError](err); ok && re.Response != nil {
		return newAPIError(route{method: http.MethodGet, template: "/gateway"}, re.Response.StatusCode, re.ResponseBody)
	}
	return plainError(err)
}

// close ends a standing connection so that the bot shows as offline at once. The library takes a second for it.
func (c *connection) close() {
	_ = c.dg.Close()
	c.link.cut(errors.New("closed"))
	closeCodes.remove(c)
}

// gatewayTransport serves the one REST request the library makes itself (where is the gateway). It ends with ctx, which
// the library does not pass on, and goes to the configured host.
func (b *Bot) gatewayTransport(ctx context.Context) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		base, err := url.Parse(b.cfg.APIBase)
		if err != nil {
			return nil, err
		}
		reqCtx, cancel := context.WithCancelCause(req.Context())
		defer cancel(nil)
		stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
		defer stop()
		req = req.Clone(reqCtx)
		req.URL.Scheme, req.URL.Host, req.Host = base.Scheme, base.Host, ""
		req.Header.Set("User-Agent", b.rest.agent)
		resp, err := b.transport.RoundTrip(req)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		if err != nil {
			return nil, err
		}
		resp.Body = io.NopCloser(bytes.NewReader(body))
		return resp, nil
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip calls f.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
