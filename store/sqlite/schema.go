package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/pressly/goose/v3"

	"github.com/parleybot/parley/migrations"
)

// migrate brings the schema up to what this binary knows, each step in its own transaction. The folder's lock is held,
// so no other process migrates at the same time.
func migrate(ctx context.Context, pool *sql.DB, path string) error {
	provider, err := goose.NewProvider(goose.DialectSQLite3, pool, migrations.SQLite(),
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return fmt.Errorf("read the migrations in this binary: %w", err)
	}
	have, known, err := provider.GetVersions(ctx)
	if err != nil {
		return openError(path, err)
	}
	if have > known {
		return fmt.Errorf("open store %s: its schema is version %d and this binary knows up to version %d; "+
			"run the newer Parley that wrote it, or restore a backup from before the upgrade", path, have, known)
	}
	if have == known {
		return nil
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("bring the schema from version %d to %d: %w", have, known, openError(path, err))
	}
	return nil
}
