package app_test

import (
	"context"
	"crypto/rand"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleybot/parley/internal/app"
	"github.com/parleybot/parley/internal/config"
	"github.com/parleybot/parley/internal/discordsim"
	"github.com/parleybot/parley/internal/pgtest"
	"github.com/parleybot/parley/migrations"
	"github.com/parleybot/parley/store/postgres"
	"github.com/parleybot/parley/turn"
)

// servers gives the test a database and a prefix in Redis, as environment.
func servers(t *testing.T) []string {
	t.Helper()
	database := pgtest.Database(t, migrations.Postgres(), func(ctx context.Context, url string) error {
		return postgres.Migrate(ctx, postgres.Config{URL: url})
	})
	addr := os.Getenv("REDIS_ADDR")
	if addr == "" {
		addr = net.JoinHostPort("127.0.0.1", "6379")
	}
	return []string{"DATABASE_URL=" + database, "REDIS_URL=redis://" + addr + "/10", "REDIS_PREFIX=parley-test-" + rand.Text() + ":"}
}

// TestKillReachesAnotherProcess: a turn runs in one App, the kill arrives at another that shares its servers.
func TestKillReachesAnotherProcess(t *testing.T) {
	t.Parallel()
	sim := discordsim.New(discordsim.Config{})
	if err := sim.Start(); err != nil {
		t.Fatal(err)
	}
	defer sim.Close()
	w := sim.World()
	guild := w.AddGuild(discordsim.GuildSpec{Name: "home"})
	channel, err := w.AddChannel(guild, discordsim.ChannelSpec{Name: "general"})
	if err != nil {
		t.Fatal(err)
	}
	ada := w.Person("Ada")
	for _, who := range []discordsim.ID{ada.ID, w.Bot()} {
		if err := w.Join(guild, who); err != nil {
			t.Fatal(err)
		}
	}
	environ := append(servers(t), "DISCORD_TOKEN="+w.Token(), "MODEL=rehearsal", "SHUTDOWN_GRACE_MS=0")
	cfg, _, err := config.Load(environ)
	if err != nil {
		t.Fatal(err)
	}
	open := func() *app.App {
		a, err := app.New(t.Context(), app.Options{Config: cfg, Log: zerolog.New(testWriter{t}), DiscordAPI: sim.URL(), Practice: true, Version: "test"})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	runs, hears := open(), open()
	defer func() {
		if err := hears.Close(); err != nil {
			t.Error(err)
		}
	}()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- runs.Run(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the bot ended with %v", err)
		}
	}()
	select {
	case <-runs.Ready():
	case err := <-ended:
		t.Fatalf("the bot ended before it was ready: %v", err)
	}
	if _, err := ada.Say(channel, "<@"+string(w.Bot())+"> say one moment; call slow_task {\"seconds\":60}"); err != nil {
		t.Fatal(err)
	}
	says := func(text string, within time.Duration) bool {
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		return w.Wait(ctx, func(v discordsim.View) bool {
			for _, m := range v.MessagesBy(channel, w.Bot()) {
				if strings.Contains(m.Content, text) {
					return true
				}
			}
			return false
		}) == nil
	}
	if !says("one moment", 10*time.Second) {
		t.Fatalf("the slow tool does not run; said: %+v", w.Messages(channel))
	}
	req := turn.KillRequest{ChannelID: string(channel), GuildID: string(guild), Actor: turn.Actor{ID: string(ada.ID), Name: "Ada"}}
	for range 20 { // the first order may come before the other process listens
		if report := app.Kill(t.Context(), hears, req); len(report.Killed) > 0 {
			t.Fatalf("the turn ran in the wrong process: %+v", report)
		}
		if says("topped", 500*time.Millisecond) {
			return
		}
	}
	t.Errorf("the kill did not arrive; said: %+v", w.Messages(channel))
}
