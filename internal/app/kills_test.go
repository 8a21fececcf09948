package app_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleybot/parley/internal/app"
	"github.com/parleybot/parley/internal/config"
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

// TestSlowStoresHoldNoKill: while every query and command is kept back, a kill still ends the turn, and the channel is
// free before any of them is answered.
func TestSlowStoresHoldNoKill(t *testing.T) {
	t.Parallel()
	environ, database, cache := behind(t)
	h := newHome(t)
	done := make(chan turn.Event, 1)
	a := h.openWatched(t, func(e turn.Event) {
		if e.Kind == turn.EventDone {
			done <- e
		}
	}, environ...)
	run(t, a)
	h.ask(t, `say one moment; call slow_task {"seconds":60}`)
	h.must(t, "one moment")
	database.Silence()
	cache.Silence()
	defer database.Speak()
	defer cache.Speak()
	begin := time.Now()
	if report := app.Kill(t.Context(), a, h.killHere()); len(report.Killed) != 1 {
		t.Errorf("killed: %+v", report)
	}
	if took := time.Since(begin); took > time.Second {
		t.Errorf("the kill took %v", took)
	}
	h.must(t, "topped")
	select {
	case <-done:
		t.Logf("the channel was free %v after the kill, with both stores silent", time.Since(begin))
	case <-time.After(15 * time.Second):
		t.Error("the channel is not free while the stores are silent")
	}
}
