package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/pressly/goose/v3"

	"github.com/parleybot/parley/migrations"
	"github.com/parleybot/parley/store/storetest"
)

// ledgersSince is the version that brought the ledgers.
const ledgersSince = 3

// TestMigrateFromEachVersion brings a file with data from every earlier version to this one.
func TestMigrateFromEachVersion(t *testing.T) {
	t.Parallel()
	sources := migrationsOf(t, filepath.Join(t.TempDir(), fileName), 0)
	for version := int64(1); version < sources; version++ {
		t.Run(fmt.Sprintf("v%d", version), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			migrationsOf(t, filepath.Join(dir, fileName), version)
			storetest.Earlier(t, engine(t, dir, &exercised{}), version >= ledgersSince)
		})
	}
}

// migrationsOf makes a file at a version with the data of it, and returns the newest version there is.
func migrationsOf(t *testing.T, path string, version int64) (newest int64) {
	t.Helper()
	pool, err := sql.Open("sqlite", source(path, false))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	}()
	provider, err := goose.NewProvider(goose.DialectSQLite3, pool, migrations.SQLite(), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	if version > 0 {
		if _, err := provider.UpTo(t.Context(), version); err != nil {
			t.Fatal(err)
		}
	}
	for v := int64(1); v <= version; v++ {
		text, err := os.ReadFile(fmt.Sprintf("testdata/v%d.sql", v))
		if errors.Is(err, os.ErrNotExist) { // it brought no table
			continue
		}
		if err == nil {
			_, err = pool.ExecContext(t.Context(), string(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	sources := provider.ListSources()
	return sources[len(sources)-1].Version
}
