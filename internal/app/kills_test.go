package app_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleybot/parley/internal/app"
	"github.com/parleybot/parley/internal/config"
	"github.com/parleybot/parley/internal/pgtest"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/store/storetest"
	"github.com/parleybot/parley/turn"
)

// childEnv makes the test binary a bot instead of tests.
const childEnv = "PARLEY_TEST_CHILD"

// childBot is what a child process does: it runs the bot of its environment until it is interrupted.
func childBot() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	cfg, _, err := config.Load(os.Environ())
	if err == nil {
		var a *app.App
		a, err = app.New(ctx, app.Options{
			Config: cfg, Log: zerolog.New(os.Stderr), DiscordAPI: cfg.Discord.APIBase, Practice: true, Version: "test",
		})
		if err == nil {
			err = a.Run(ctx)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// runChild runs the bot in a process of its own until the end of the test, and returns when it is ready.
func (h *home) runChild(t *testing.T, environ ...string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self) //nolint:gosec // itself; it is ended below
	cmd.Env = append(environ, childEnv+"=1", "DISCORD_TOKEN="+h.world.Token(), "MODEL=rehearsal", "SHUTDOWN_GRACE_MS=0",
		"DISCORD_API_URL="+h.sim.URL(), "HOME="+t.TempDir())
	logs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready, read := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(read)
		lines := bufio.NewScanner(logs)
		for seen := false; lines.Scan(); {
			t.Logf("child %d: %s", cmd.Process.Pid, lines.Text())
			if !seen && strings.Contains(lines.Text(), `"message":"app.ready"`) {
				seen = true
				close(ready)
			}
		}
	}()
	t.Cleanup(func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Error(err)
		}
		<-read
		if err := cmd.Wait(); err != nil {
			t.Errorf("the child ended with %v", err)
		}
	})
	select {
	case <-ready:
	case <-read:
		t.Fatal("the child ended before it was ready")
	}
}

// killHere is Ada's kill of what runs in the channel.
func (h *home) killHere() turn.KillRequest {
	return turn.KillRequest{ChannelID: string(h.channel), GuildID: string(h.guild), Actor: turn.Actor{ID: string(h.ada.ID), Name: "Ada"}}
}

// TestKillReachesAnotherProcess: a turn runs in one process of the operating system and the kill arrives at another that
// shares its servers.
func TestKillReachesAnotherProcess(t *testing.T) {
	t.Parallel()
	environ := servers(t)
	h := newHome(t)
	hears := h.open(t, environ...)
	t.Cleanup(func() {
		if err := hears.Close(); err != nil {
			t.Error(err)
		}
	})
	h.runChild(t, environ...)
	h.ask(t, `say one moment; call slow_task {"seconds":60}`)
	h.must(t, "one moment")
	for range 20 { // the first order may come before the other process listens
		if report := app.Kill(t.Context(), hears, h.killHere()); len(report.Killed) > 0 {
			t.Fatalf("the turn ran in the wrong process: %+v", report)
		}
		if h.says(t, "topped", 500*time.Millisecond) {
			return
		}
	}
	t.Errorf("the kill did not arrive; said: %q", h.said())
}

// TestKillReachesAProcessThatWasAway: Redis can't be reached by the process in which the turn runs while the kill is given at
// another, or by the one at which it is given. The turn ends as soon as both can.
func TestKillReachesAProcessThatWasAway(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]struct{ gives, runs bool }{"the one that runs it": {runs: true}, "the one that is told": {gives: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			direct := servers(t)
			at, err := url.Parse(strings.TrimPrefix(direct[1], "REDIS_URL="))
			if err != nil {
				t.Fatal(err)
			}
			through := func() ([]string, *storetest.Proxy) {
				proxy, own := storetest.NewProxy(t, at.Host), *at
				own.Host = proxy.Addr()
				return []string{direct[0], "REDIS_URL=" + own.String(), direct[2]}, proxy
			}
			runsIn, runsCache := through()
			givenTo, givenCache := through()
			hears := make(chan struct{})
			heard := sync.OnceFunc(func() { close(hears) })
			runsCache.Watch(func(_ int, piece []byte) {
				if bytes.Contains(bytes.ToLower(piece), []byte("xread")) {
					heard()
				}
			})
			h := newHome(t)
			gives, runs := h.open(t, givenTo...), h.open(t, runsIn...)
			t.Cleanup(func() {
				if err := gives.Close(); err != nil {
					t.Error(err)
				}
			})
			run(t, runs)
			<-hears
			h.ask(t, `say one moment; call slow_task {"seconds":60}`)
			h.must(t, "one moment")
			proxy := givenCache
			if cut.runs {
				proxy = runsCache
			}
			proxy.Cut()
			if report := app.Kill(t.Context(), gives, h.killHere()); len(report.Killed) > 0 {
				t.Fatalf("the turn ran in the wrong process: %+v", report)
			}
			if h.says(t, "topped", 300*time.Millisecond) {
				t.Error("the kill arrived although nobody could carry it")
			}
			proxy.Restore(t)
			h.must(t, "topped")
		})
	}
}

// holdLimit is how long the stores may hold a stop before a test says that they do. It is less than any time after which a
// statement is given up, so none of those is what ends the wait.
const holdLimit = 4 * time.Second

// stalls are a bot whose stores stop answering, and the ends of its turns.
type stalls struct {
	*home
	bot             *app.App
	database, cache *storetest.Proxy
	done            chan turn.Event
	began           chan int // what the database had been asked when it stopped answering
}

// newStalls makes a bot. Both stores stop answering when the first event of that kind is told; none: when begin is called.
func newStalls(t *testing.T, when turn.EventKind) *stalls {
	t.Helper()
	environ, database, cache := behind(t)
	s := &stalls{home: newHome(t), database: database, cache: cache, done: make(chan turn.Event, 10), began: make(chan int, 10)}
	s.bot = s.openWatched(t, func(e turn.Event) {
		if e.Kind == when {
			s.begin()
		}
		if e.Kind == turn.EventDone {
			s.done <- e
		}
	}, environ...)
	run(t, s.bot)
	t.Cleanup(func() { // before the bot ends
		database.Delay(0)
		cache.Delay(0)
	})
	return s
}

// begin keeps whatever is asked of a store, and answered by it, back for longer than anybody waits.
func (s *stalls) begin() {
	s.database.Delay(time.Hour)
	s.cache.Delay(time.Hour)
	s.began <- s.database.Asked()
}

// asked returns when something is asked of the database, which does not answer.
func (s *stalls) asked(t *testing.T) {
	t.Helper()
	patience := time.After(20 * time.Second)
	for before := -1; before < 0 || s.database.Asked() == before; {
		select {
		case before = <-s.began:
		case <-time.After(time.Millisecond):
		case <-patience:
			t.Fatal("nothing is asked of the database")
		}
	}
}

// stop kills what runs in the channel, which must be free before any store has answered.
func (s *stalls) stop(t *testing.T) {
	t.Helper()
	begin := time.Now()
	if report := app.Kill(t.Context(), s.bot, s.killHere()); len(report.Killed) != 1 {
		t.Fatalf("killed: %+v; said: %q", report, s.said())
	}
	if took := time.Since(begin); took > holdLimit {
		t.Errorf("the kill took %v", took)
	}
	select {
	case e := <-s.done:
		if e.Status != store.TurnStoppedByUser {
			t.Errorf("the turn ended as %s", e.Status)
		}
		t.Logf("the channel was free %v after the kill", time.Since(begin))
	case <-time.After(holdLimit):
		t.Error("the channel is not free while the stores don't answer")
	}
	s.must(t, "topped")
}

// TestSlowStoresHoldNoKill: while every query and command is kept back, a kill still ends the turn, and the channel is
// free before any of them is answered, whatever the turn is doing.
func TestSlowStoresHoldNoKill(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		when turn.EventKind // the stores stop answering, and the kill comes once something is asked of them
	}{
		{"while it asks what it should know", turn.EventStarted},
		{"while its call is journalled", turn.EventToolCall},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newStalls(t, test.when)
			s.ask(t, `say one moment; call recall_memory {}`)
			s.asked(t)
			s.stop(t)
		})
	}
	t.Run("while it works on something else", func(t *testing.T) {
		t.Parallel()
		s := newStalls(t, "")
		s.ask(t, `say one moment; call slow_task {"seconds":60}`)
		s.must(t, "one moment")
		s.begin()
		s.stop(t)
	})
}

// TestSlowQueryHoldsNoKill: a tool waits for a query that the server is at, and that would take longer than anybody waits.
func TestSlowQueryHoldsNoKill(t *testing.T) {
	t.Parallel()
	environ := servers(t)
	_, url, _ := strings.Cut(environ[0], "=")
	h := newHome(t)
	locked, done := make(chan *pgtest.Lock, 1), make(chan turn.Event, 1)
	a := h.openWatched(t, func(e turn.Event) {
		if e.Kind == turn.EventToolCall { // what the turn itself reads of this table it has read
			lock, err := pgtest.LockTable(context.WithoutCancel(t.Context()), url, "memories")
			if err != nil {
				t.Error(err)
			}
			locked <- lock
		}
		if e.Kind == turn.EventDone {
			done <- e
		}
	}, environ...)
	run(t, a)
	h.ask(t, `say one moment; call recall_memory {}; then; say never`)
	lock := <-locked
	if lock == nil {
		return
	}
	defer func() {
		if err := lock.Release(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	if err := lock.Awaited(t.Context()); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if report := app.Kill(t.Context(), a, h.killHere()); len(report.Killed) != 1 {
		t.Errorf("killed: %+v", report)
	}
	select {
	case e := <-done:
		if e.Status != store.TurnStoppedByUser {
			t.Errorf("the turn ended as %s", e.Status)
		}
		t.Logf("the channel was free %v after the kill, the query was not answered", time.Since(begin))
	case <-time.After(holdLimit):
		t.Error("the channel is not free while the query runs")
	}
}

// TestSlowStoresKeepNoMessage: what is still being claimed when the kill comes is removed at once, and never answered.
func TestSlowStoresKeepNoMessage(t *testing.T) {
	t.Parallel()
	s := newStalls(t, "")
	s.begin()
	s.ask(t, "say never")
	for app.Manager(s.bot).Status(string(s.channel)).Waiting == 0 {
		<-time.After(time.Millisecond) // until it has come
	}
	s.asked(t)
	begin := time.Now()
	if report := app.Kill(t.Context(), s.bot, s.killHere()); report.Discarded != 1 || time.Since(begin) > holdLimit {
		t.Errorf("after %v: %+v, want what waited removed", time.Since(begin), report)
	}
	s.database.Delay(0)
	s.cache.Delay(0)
	app.Idle(t, s.bot)
	if s.says(t, "never", 0) {
		t.Error("what was removed is answered")
	}
}
