package main

import (
	"context"

	"github.com/rs/zerolog"

	"github.com/parleybot/parley/bot"
	"github.com/parleybot/parley/internal/app"
	"github.com/parleybot/parley/internal/scene"
)

// runScenes plays scene files; what fails is printed with the transcript up to there.
func runScenes(ctx context.Context, p process, args []string) error {
	bot.InstallLogger(zerolog.Nop()) // it also learns with which code a connection was closed
	if code := scene.Main(ctx, args, p.stdout, p.stderr, app.SceneBooter("run")); code != 0 {
		return exitError(code)
	}
	return nil
}
