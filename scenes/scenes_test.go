// Package scenes_test plays every scene of this folder against the whole bot: the real one, on a simulated Discord whose
// exchanges are held to Discord's published description.
package scenes_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"testing"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/parleybot/parley/bot"
	"github.com/parleybot/parley/internal/app"
	"github.com/parleybot/parley/internal/config"
	"github.com/parleybot/parley/internal/discordspec"
	"github.com/parleybot/parley/internal/observe"
	"github.com/parleybot/parley/internal/scene"
	"github.com/parleybot/parley/internal/testreport"
)

// childArgument makes this test binary the bot, for scenes that want to kill it.
const childArgument = "be-the-bot"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == childArgument {
		if err := runBot(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	bot.InstallLogger(zerolog.Nop())
	code := m.Run()
	testreport.Line("%s", discordspec.Summary())
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// runBot is `bot run` without its command line.
func runBot() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	cfg, _, err := config.Load(os.Environ())
	if err != nil {
		return err
	}
	log, err := observe.NewLogger(observe.LogConfig{
		Output: os.Stderr, Level: string(cfg.Log.Level), Format: string(cfg.Log.Format), Redactor: observe.NewRedactor(cfg.Secrets()...),
	})
	if err != nil {
		return err
	}
	bot.InstallLogger(log)
	a, err := app.New(ctx, app.Options{
		Config: cfg, Log: log, DiscordAPI: cfg.Discord.APIBase, Practice: cfg.Tools.Practice, Version: "scene",
	})
	if err != nil {
		return err
	}
	return a.Run(ctx)
}

// TestScenes plays the scene files. They mostly wait, so that more run at once than there are processors.
func TestScenes(t *testing.T) {
	scenes, err := scene.Load(".")
	if err != nil {
		t.Fatal(err)
	}
	play(t, scenes, app.SceneBooter(childArgument))
}

// TestScenesOnServers plays them once more on Postgres and Redis.
func TestScenesOnServers(t *testing.T) {
	scenes, err := scene.Load(".")
	if err != nil {
		t.Fatal(err)
	}
	play(t, scenes, newServers(t, app.SceneBooter(childArgument)))
}

var fence = regexp.MustCompile("(?ms)^```scene\n(.*?)^```")

// TestExamples plays the examples of docs/scenes.md.
func TestExamples(t *testing.T) {
	data, err := os.ReadFile("../docs/scenes.md")
	if err != nil {
		t.Fatal(err)
	}
	var scenes []*scene.Scene
	for i, m := range fence.FindAllSubmatchIndex(data, -1) {
		line := 1 + bytes.Count(data[:m[2]], []byte("\n"))
		sc, err := scene.Parse(fmt.Sprintf("example_%02d_at_line_%d", i+1, line), string(data[m[2]:m[3]]))
		if err != nil {
			t.Fatal(err)
		}
		scenes = append(scenes, sc)
	}
	if len(scenes) < 20 {
		t.Fatalf("docs/scenes.md has %d examples; there were more", len(scenes))
	}
	play(t, scenes, app.SceneBooter(childArgument))
}

// play runs scenes beside each other and tells each result as a test of its name.
func play(t *testing.T, scenes []*scene.Scene, booter scene.Booter) {
	t.Helper()
	options := scene.Options{Booter: booter, Validator: discordspec.New(t)}
	scene.RunAll(t.Context(), scenes, options, func(r scene.Result) {
		t.Run(r.Scene.Name(), func(t *testing.T) {
			if r.Err != nil {
				t.Errorf("%s\n%v\n\nthe transcript:\n%s", r.Scene.About, r.Err, r.Transcript)
			}
		})
	})
}
