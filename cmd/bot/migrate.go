package main

import (
	"context"
	"fmt"

	"github.com/parleybot/parley/internal/app"
)

// runMigrate brings the schema of the store up to date and leaves it.
func runMigrate(ctx context.Context, p process, args []string) error {
	if err := noArguments(args); err != nil {
		return err
	}
	cfg, err := load(p)
	if err != nil {
		return err
	}
	log, err := logger(cfg, p.stderr)
	if err != nil {
		return err
	}
	place, err := app.Migrate(ctx, cfg.Store, log)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "%s is up to date\n", place)
	return err
}
