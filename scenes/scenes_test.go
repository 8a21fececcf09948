// Package scenes_test plays every scene of this folder against the whole bot: the real one, on a simulated Discord whose
// exchanges are held to Discord's published description.
package scenes_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"testing"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/parleybot/parley/bot"
	"github.com/parleybot/parley/internal/app"
	"github.com/parleybot/parley/internal/config"
	"github.com/parleybot/parley/internal/discordspec"
	"github.com/parleybot/parley/internal/observe"
	"github.com/parleybot/parley/internal/scene"
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
	fmt.Println(discordspec.Summary())
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

func TestScenes(t *testing.T) {
	t.Parallel()
	scenes, err := scene.Load(".")
	if err != nil {
		t.Fatal(err)
	}
	booter := app.SceneBooter(childArgument)
	for _, sc := range scenes {
		t.Run(sc.Name(), func(t *testing.T) {
			t.Parallel()
			r := scene.Run(t.Context(), sc, scene.Options{Booter: booter, Validator: discordspec.New(t)})
			if r.Err != nil {
				t.Errorf("%s\n%v\n\nthe transcript:\n%s", sc.About, r.Err, r.Transcript)
			}
		})
	}
}
