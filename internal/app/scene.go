package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"github.com/parleybot/parley/internal/config"
	"github.com/parleybot/parley/internal/observe"
	"github.com/parleybot/parley/internal/scene"
	"github.com/parleybot/parley/turn"
)

// SceneBooter starts real bots for scenes. A scene that asks for a process of its own gets this executable with args,
// which must run the bot from its environment as `bot run` does.
func SceneBooter(args ...string) scene.Booter { return booter{args: args} }

// SceneBooterWith is SceneBooter for bots that are told more by their environment, such as where their servers are.
func SceneBooterWith(env map[string]string, args ...string) scene.Booter {
	return booter{env: env, args: args}
}

type booter struct {
	env  map[string]string
	args []string
}

// Boot implements scene.Booter.
func (b booter) Boot(ctx context.Context, s scene.Setup) (scene.Bot, error) {
	environ := environOf(s)
	cfg, _, err := config.Load(environ)
	if err != nil {
		return nil, err
	}
	if s.OwnProcess {
		return b.spawn(s, cfg, environ)
	}
	log, err := observe.NewLogger(observe.LogConfig{
		Output: s.Log, Level: string(cfg.Log.Level), Format: string(config.FormatJSON), Redactor: observe.NewRedactor(cfg.Secrets()...),
	})
	if err != nil {
		return nil, err
	}
	var observers []turn.Observer
	if s.Observer != nil {
		observers = append(observers, s.Observer)
	}
	a, err := New(ctx, Options{
		Config: cfg, Log: log, DiscordAPI: cfg.Discord.APIBase, Practice: cfg.Tools.Practice, Observers: observers, Version: "scene",
	})
	if err != nil {
		return nil, err
	}
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	bot := &inProcess{app: a, at: cfg.Store, stop: stop, done: make(chan struct{})}
	go func() {
		defer close(bot.done)
		if bot.err = a.Run(life); bot.err != nil {
			log.Error().Err(bot.err).Msg("app.failed")
		}
	}()
	return bot, nil
}

func environOf(s scene.Setup) []string {
	environ := []string{"DISCORD_API_URL=" + s.DiscordAPI, "LOG_FORMAT=json"}
	for k, v := range s.Env {
		environ = append(environ, k+"="+v)
	}
	return environ
}

// inProcess is a bot in this process.
type inProcess struct {
	app  *App
	at   config.Store
	stop context.CancelFunc
	done chan struct{}
	// err is set before done is closed.
	err error
}

// Ready implements scene.Bot.
func (b *inProcess) Ready(ctx context.Context) error { return ready(ctx, b.app.Ready(), b.done) }

func ready(ctx context.Context, is, done <-chan struct{}) error {
	select {
	case <-is:
		return nil
	case <-done:
		return errors.New("the bot ended before it was ready")
	case <-ctx.Done():
		return fmt.Errorf("waiting for the bot to be ready: %w", context.Cause(ctx))
	}
}

// Stop implements scene.Bot.
func (b *inProcess) Stop(ctx context.Context) error {
	b.stop()
	select {
	case <-b.done:
		return nil
	case <-ctx.Done():
	}
	b.app.Abandon()
	<-b.done
	return nil
}

// Crash implements scene.Bot.
func (b *inProcess) Crash() error { return errors.New("a bot inside this process cannot crash alone") }

// Done implements scene.Bot.
func (b *inProcess) Done() <-chan struct{} { return b.done }

// Exit implements scene.Bot.
func (b *inProcess) Exit() int {
	if b.err != nil {
		return 1
	}
	return 0
}

// Store implements scene.Bot.
func (b *inProcess) Store(ctx context.Context) (scene.StoreView, error) {
	select {
	case <-b.done:
		return openStores(ctx, b.at, 0, zerolog.Nop())
	default:
		return shared{b.app.store}, nil
	}
}

// shared is the store of a bot that runs: whoever looks at it must not close it.
type shared struct{ stores }

// Close does nothing.
func (shared) Close() error { return nil }

// spawn starts this executable as the bot.
func (b booter) spawn(s scene.Setup, cfg config.Config, environ []string) (scene.Bot, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program to start it again: %w", err)
	}
	p := &ownProcess{at: cfg.Store, ready: make(chan struct{}), done: make(chan struct{})}
	p.cmd = exec.Command(self, b.args...) //nolint:gosec,noctx // itself, and it must outlive the start
	p.cmd.Env = environ
	p.cmd.Stderr = &readiness{to: s.Log, ready: p.ready}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the bot as a process: %w", err)
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // how it ended is its exit code
	}()
	return p, nil
}

// readyMark is the log line with which a bot says that Discord has greeted it.
const readyMark = `"message":"app.ready"`

// readiness passes a child's log on and notices when it is ready.
type readiness struct {
	to    io.Writer
	ready chan struct{}
	once  sync.Once
	tail  string
}

// Write implements io.Writer.
func (r *readiness) Write(p []byte) (int, error) {
	r.tail += string(p)
	if strings.Contains(r.tail, readyMark) {
		r.once.Do(func() { close(r.ready) })
	}
	if n := len(r.tail) - len(readyMark); n > 0 {
		r.tail = r.tail[n:]
	}
	return r.to.Write(p)
}

// ownProcess is a bot in a process of its own.
type ownProcess struct {
	cmd   *exec.Cmd
	at    config.Store
	ready chan struct{}
	done  chan struct{}
}

// Ready implements scene.Bot.
func (p *ownProcess) Ready(ctx context.Context) error { return ready(ctx, p.ready, p.done) }

// Stop implements scene.Bot.
func (p *ownProcess) Stop(ctx context.Context) error {
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stopping the bot's process: %w", err)
	}
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return p.Crash()
	}
}

// Crash implements scene.Bot.
func (p *ownProcess) Crash() error {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("killing the bot's process: %w", err)
	}
	<-p.done
	return nil
}

// Done implements scene.Bot.
func (p *ownProcess) Done() <-chan struct{} { return p.done }

// Exit implements scene.Bot.
func (p *ownProcess) Exit() int { return p.cmd.ProcessState.ExitCode() }

// Store implements scene.Bot.
func (p *ownProcess) Store(ctx context.Context) (scene.StoreView, error) {
	select {
	case <-p.done:
	default:
		if !p.at.Servers() {
			return nil, errors.New("the store belongs to the bot's process until that has ended")
		}
	}
	return openStores(ctx, p.at, 0, zerolog.Nop())
}
