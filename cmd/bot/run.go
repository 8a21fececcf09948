package main

import (
	"context"
	"fmt"
	"io"

	"github.com/rs/zerolog"

	"github.com/parleybot/parley/bot"
	"github.com/parleybot/parley/internal/app"
	"github.com/parleybot/parley/internal/config"
	"github.com/parleybot/parley/internal/observe"
)

// runBot runs the bot on Discord until it is told to stop.
func runBot(ctx context.Context, p process, args []string) error {
	if err := noArguments(args); err != nil {
		return err
	}
	cfg, err := load(p)
	if err != nil {
		return err
	}
	if err := cfg.CheckRun(); err != nil {
		return fmt.Errorf("%w\n`bot playground` needs none of these", err)
	}
	log, err := logger(cfg, p.stderr)
	if err != nil {
		return err
	}
	bot.InstallLogger(log)
	a, err := app.New(ctx, app.Options{
		Config: cfg, Log: log, Version: version, DiscordAPI: cfg.Discord.APIBase, Practice: cfg.Tools.Practice,
	})
	if err != nil {
		return err
	}
	log.Info().Str("version", version).Str("model", cfg.Model.Name).Str("fallbacks", cfg.Model.Fallbacks).Str("data_dir", cfg.Store.DataDir).Msg("app.start")
	if err := a.Run(ctx); err != nil {
		return err
	}
	log.Info().Msg("app.stopped")
	return nil
}

// logger makes the process's log; it knows every secret and shows none.
func logger(cfg config.Config, w io.Writer) (zerolog.Logger, error) {
	return observe.NewLogger(observe.LogConfig{
		Output: w, Level: string(cfg.Log.Level), Format: string(cfg.Log.Format),
		Redactor: observe.NewRedactor(cfg.Secrets()...),
	})
}
