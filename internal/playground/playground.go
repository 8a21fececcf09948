package playground

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/parleybot/parley/internal/discordsim"
	"github.com/parleybot/parley/turn"
)

// DefaultAddr is where the page is served unless that is taken.
const DefaultAddr = "127.0.0.1:7788"

const (
	// readyWithin is how long the bot may take to come up before the page opens.
	readyWithin = 20 * time.Second
	// stopWithin is how long the bot may take to end with the process, which must be gone 2 s after it was told to.
	stopWithin = 1500 * time.Millisecond
	// closeWithin is how long open requests may take to end after the bot has.
	closeWithin = 250 * time.Millisecond
)

// Bot is the bot that plays: it connects when Run is called and serves until ctx ends.
type Bot interface {
	Ready() <-chan struct{}
	Run(ctx context.Context) error
}

// Setup is what a bot needs to know to play here.
type Setup struct {
	// DiscordAPI is the address that stands in for Discord's.
	DiscordAPI string
	// Token is what the simulated Discord takes; it opens nothing else.
	Token string
	// Observer must be told every event of every turn.
	Observer turn.Observer
	// Model is the ID of the model that shall answer.
	Model string
}

// Config is what a playground is made of.
type Config struct {
	// Addr is the loopback address tried first; the following ports are tried when it is taken. DefaultAddr when empty.
	Addr string
	// Models are what can answer; the first one does until a page chooses another.
	Models []Model
	// Data is shown on the page: where memories go and how long they stay.
	Data string
	// Boot makes the bot. Run calls it, again whenever another model is chosen; the bot before has ended then.
	Boot func(ctx context.Context, setup Setup) (Bot, error)
}

// Playground is one simulated Discord with its page. Open makes it, Run serves it and lets go of it.
type Playground struct {
	cfg    Config
	town   *town
	feed   *feed
	models *models
	ln     net.Listener
	taken  string
	modal  modals
}

// Open builds the world and takes the address. What it opens is let go of by Run, or by Close without it.
func Open(cfg Config) (*Playground, error) {
	if cfg.Addr == "" {
		cfg.Addr = DefaultAddr
	}
	if len(cfg.Models) == 0 {
		return nil, errors.New("a playground needs a model")
	}
	ln, taken, err := listen(cfg.Addr)
	if err != nil {
		return nil, err
	}
	t, err := buildTown(time.Now)
	if err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	return &Playground{cfg: cfg, town: t, feed: newFeed(), models: newModels(cfg.Models), ln: ln, taken: taken}, nil
}

// URL is the page's address.
func (p *Playground) URL() string { return "http://" + p.ln.Addr().String() + "/" }

// Taken is the address that was asked for when it was not free, else empty.
func (p *Playground) Taken() string { return p.taken }

// Close lets go of a Playground that was never run.
func (p *Playground) Close() {
	_ = p.ln.Close()
	p.town.sim.Close()
}

// Run boots the bot, serves the page and calls ready once both are up. It returns when ctx ends, or with an error when
// the bot cannot go on; nothing is left running then.
func (p *Playground) Run(ctx context.Context, ready func()) error {
	defer p.Close()
	// Pages stay connected until the bot has ended, so that they show how its turns end.
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	wg.Go(func() { p.follow(serving) })
	wg.Go(func() { p.serve(serving) })
	return p.playAll(ctx, ready)
}

// waitForEnd waits for a bot that was told to end.
func waitForEnd(ctx context.Context, ended <-chan error, within time.Duration) error {
	late := time.NewTimer(within)
	defer late.Stop()
	select {
	case err := <-ended:
		return botEnded(ctx, err)
	case <-late.C:
		return fmt.Errorf("the bot did not stop within %s", within)
	}
}

func botEnded(ctx context.Context, err error) error {
	switch {
	case err != nil && ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		return nil
	case err != nil:
		return fmt.Errorf("running the bot: %w", err)
	case ctx.Err() == nil:
		return errors.New("the bot ended by itself")
	}
	return nil
}

// serve answers pages until ctx ends and all requests have.
func (p *Playground) serve(ctx context.Context) {
	srv := &http.Server{
		Handler:           guard(p.ln.Addr().String(), p.routes()),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       60 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		// Browsers cut connections; that is no news.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	var wg sync.WaitGroup
	wg.Go(func() { _ = srv.Serve(p.ln) })
	<-ctx.Done()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWithin)
	defer cancel()
	if srv.Shutdown(grace) != nil {
		_ = srv.Close()
	}
	wg.Wait()
}

func (p *Playground) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /", page())
	mux.HandleFunc("GET /api/stream", p.serveStream)
	mux.HandleFunc("GET /api/history", p.serveHistory)
	mux.HandleFunc("GET /api/commands", p.serveCommands)
	mux.HandleFunc("GET /api/scene", p.serveScene)
	mux.HandleFunc("GET /files/{message}/{attachment}/{name}", p.serveFile)
	mux.HandleFunc("POST /api/{action}", p.serveAction)
	return mux
}

// follow copies the world's journal into the feed until ctx ends.
func (p *Playground) follow(ctx context.Context) {
	w := p.town.world()
	after := 0
	for e := range w.Follow(ctx, 0) {
		if e.Seq != after+1 {
			p.feed.forget()
		}
		after = e.Seq
		w.Look(func(v discordsim.View) {
			if n, ok := noteOf(v, e); ok {
				p.feed.publish(n)
			}
			if l, ok := wireOf(v, e); ok {
				p.feed.wire(l)
			}
		})
	}
}
