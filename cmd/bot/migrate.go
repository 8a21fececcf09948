package main

import (
	"context"
	"fmt"

	"github.com/parleybot/parley/store/sqlite"
)

// runMigrate opens the store, which brings its schema up to date, and closes it.
func runMigrate(ctx context.Context, p process, args []string) error {
	if err := noArguments(args); err != nil {
		return err
	}
	cfg, err := load(p)
	if err != nil {
		return err
	}
	db, err := sqlite.Open(ctx, sqlite.Config{Dir: cfg.Store.DataDir})
	if err != nil {
		return err
	}
	if err := db.Close(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "the store in %s is up to date\n", cfg.Store.DataDir)
	return err
}
