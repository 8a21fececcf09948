package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/parleybot/parley/internal/pgtest"
	"github.com/parleybot/parley/migrations"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/store/storetest"
)

func TestNewerSchemaIsRefused(t *testing.T) {
	t.Parallel()
	url := database(t)
	db := open(t, url)
	if _, err := db.pool.Exec(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9000, true)`); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), Config{URL: url})
	if err == nil || !strings.Contains(err.Error(), "version 9000") || !strings.Contains(err.Error(), "newer Parley") {
		t.Errorf("opened a newer schema: %v", err)
	}
}

// ledgersSince is the version that brought the ledgers.
const ledgersSince = 2

// TestMigrateFromEachVersion brings a database with data from every earlier version to this one.
func TestMigrateFromEachVersion(t *testing.T) {
	t.Parallel()
	newest := writeVersion(t, pgtest.Empty(t), 0)
	for version := int64(1); version < newest; version++ {
		t.Run(fmt.Sprintf("v%d", version), func(t *testing.T) {
			t.Parallel()
			url := pgtest.Empty(t)
			writeVersion(t, url, version)
			storetest.Earlier(t, engine(t, url), version >= ledgersSince)
		})
	}
}

// writeVersion makes the schema of an earlier version with its data, and returns the newest version there is.
func writeVersion(t *testing.T, url string, version int64) (newest int64) {
	t.Helper()
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	pool := stdlib.OpenDB(*config)
	defer func() { _ = pool.Close() }() // nothing is lost with it
	provider, err := goose.NewProvider(goose.DialectPostgres, pool, migrations.Postgres(), goose.WithDisableGlobalRegistry(true))
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

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	pgtest.Empty(t) // skips without a server
	at := func(user, name string) string {
		return strings.Replace(pgtest.URL(name), "postgres@", user+"@", 1)
	}
	for _, test := range []struct {
		name, url, says string
		unavailable     bool
	}{
		{"nothing", "", "DATABASE_URL cannot be read", false},
		{"garbage", "postgres://u:hunter2@[::1/db", "DATABASE_URL cannot be read", false},
		{"no such database", at("postgres:hunter2", "parley_test_nowhere"), "there is no such database", false},
		{"no such user", at("nobody_here:hunter2", "postgres"), "refuses this user", false},
		{"a server that is away", "postgres://u:hunter2@127.0.0.1:1/db", "the server is away", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			db, err := Open(ctx, Config{URL: test.url, Patience: -1})
			if err == nil {
				t.Fatal("opened", db.Close())
			}
			if !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error is %q; want it to say %q and no password", err, test.says)
			}
			if errors.Is(err, store.ErrUnavailable) != test.unavailable {
				t.Errorf("ErrUnavailable is %t: %v", !test.unavailable, err)
			}
		})
	}
}
