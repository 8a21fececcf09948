package app_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/parleybot/parley/internal/app"
	"github.com/parleybot/parley/internal/config"
	"github.com/parleybot/parley/internal/discordsim"
	"github.com/parleybot/parley/internal/discordspec"
	"github.com/parleybot/parley/internal/observe"
	"github.com/parleybot/parley/providers/openai"
	"github.com/parleybot/parley/toolloop"
	"github.com/parleybot/parley/turn"
)

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		os.Exit(childBot())
	}
	goleak.VerifyTestMain(m)
}

// TestWholeBot starts the real bot on a simulated Discord, asks it to remember something and to recall it, and ends it.
func TestWholeBot(t *testing.T) {
	t.Parallel()
	spec := discordspec.New(t)
	sim := discordsim.New(discordsim.Config{Validator: spec})
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
	if err := w.Join(guild, ada.ID); err != nil {
		t.Fatal(err)
	}
	if err := w.Join(guild, w.Bot()); err != nil {
		t.Fatal(err)
	}
	cfg, _, err := config.Load([]string{"DISCORD_TOKEN=" + w.Token(), "MODEL=rehearsal", "DATA_DIR=" + t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	log, err := observe.NewLogger(observe.LogConfig{Output: testWriter{t}, Level: "debug", Format: "json"})
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(t.Context(), app.Options{Config: cfg, Log: log, DiscordAPI: sim.URL(), Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	select {
	case <-a.Ready():
	case err := <-ended:
		t.Fatalf("the bot ended before it was ready: %v", err)
	}
	ask := func(text, want string) {
		t.Helper()
		if _, err := ada.Say(channel, "<@"+string(w.Bot())+"> "+text); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := w.Wait(ctx, func(v discordsim.View) bool {
			for _, m := range v.MessagesBy(channel, w.Bot()) {
				if strings.Contains(m.Content, want) {
					return true
				}
			}
			return false
		}); err != nil {
			t.Errorf("after %q nobody says %q; said: %+v", text, want, w.Messages(channel))
		}
	}
	ask("remember that I like tea", "tea")
	ask("what do you know about me", "like tea")
	stop()
	if err := <-ended; err != nil {
		t.Errorf("the bot ended with %v", err)
	}
}

// TestLimitsAgree: the loop's and the turns' own defaults are what the environment's documentation says.
func TestLimitsAgree(t *testing.T) {
	t.Parallel()
	cfg, _, err := config.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := app.LoopLimits(cfg.Limits), toolloop.DefaultLimits(); got != want {
		t.Errorf("loop limits from an empty environment are %+v, the loop's defaults %+v", got, want)
	}
	if got, want := app.TurnLimits(cfg.Limits), turn.DefaultLimits(); got != want {
		t.Errorf("turn limits from an empty environment are %+v, the turns' defaults %+v", got, want)
	}
}

// testWriter puts the bot's log into the test's.
type testWriter struct{ t *testing.T }

func (w testWriter) Write(p []byte) (int, error) {
	if os.Getenv("PARLEY_TEST_LOG") != "" {
		w.t.Log(strings.TrimSpace(string(p)))
	}
	return len(p), nil
}

// Every vendor that MODEL can name has a wire, and every service that a wire knows can be named.
func TestVendorsHaveWires(t *testing.T) {
	t.Parallel()
	spoken := map[string]bool{"anthropic": true}
	for _, v := range openai.Vendors() {
		spoken[v.Name] = true
	}
	for _, v := range (config.Services{}).Vendors() {
		if !spoken[v.Name] {
			t.Errorf("no wire speaks to %s", v.Name)
		}
		if known, ok := openai.VendorNamed(v.Name); ok && known.NeedsKey == v.Local {
			t.Errorf("%s: it needs a key %t, and %t by the environment's table", v.Name, known.NeedsKey, !v.Local)
		}
		delete(spoken, v.Name)
		cfg, _, err := config.Load([]string{"MODEL=" + v.Name + ":m", v.KeyVariable + "=k"})
		if err != nil {
			t.Fatal(err)
		}
		chain, err := app.Models(cfg)
		if err != nil || len(chain) != 1 || chain[0].Provider.Name() != v.Name || chain[0].Name != "m" || chain[0].Label != v.Name+":m" {
			t.Errorf("%s: %+v, %v", v.Name, chain, err)
		}
	}
	for name := range spoken {
		t.Errorf("MODEL cannot name %s", name)
	}
}
