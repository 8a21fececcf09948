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
	"github.com/pressly/goose/v3/lock"

	"github.com/parleybot/parley/internal/pgtest"
	"github.com/parleybot/parley/migrations"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/store/storetest"
)

// newer makes the schema one that a later Parley has written.
func newer(t *testing.T, url string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err == nil {
		_, err = conn.Exec(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9000, true)`)
		err = errors.Join(err, conn.Close(t.Context()))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// refusesNewer fails the test unless err names the database, both versions and what to do.
func refusesNewer(t *testing.T, url string, err error) {
	t.Helper()
	if err == nil {
		t.Fatal("a newer schema was opened")
	}
	config, parseErr := pgx.ParseConfig(url)
	if parseErr != nil {
		t.Fatal(parseErr)
	}
	for _, part := range []string{config.Host + "/" + config.Database, "version 9000", "up to version", "newer Parley", "backup"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not say %q: %v", part, err)
		}
	}
}

func TestNewerSchemaIsRefused(t *testing.T) {
	t.Parallel()
	url := database(t)
	newer(t, url)
	for range 2 { // refusing changes nothing
		db, err := Open(t.Context(), Config{URL: url})
		if err == nil {
			_ = db.Close() // what counts is that it was opened
		}
		refusesNewer(t, url, err)
		_, err = Migrate(t.Context(), Config{URL: url})
		refusesNewer(t, url, err)
	}
}

// TestNewerSchemaIsRefusedAfterTheWait: a process that waits for its turn to migrate finds afterwards that the one before was
// a newer Parley.
func TestNewerSchemaIsRefusedAfterTheWait(t *testing.T) {
	t.Parallel()
	url := pgtest.Empty(t)
	newest := migrateTo(t, pgtest.Empty(t), 0)
	migrateTo(t, url, newest-1)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }() // nothing is lost with it
	if _, err := conn.Exec(t.Context(), `SELECT pg_advisory_lock($1)`, lock.DefaultLockID); err != nil {
		t.Fatal(err)
	}
	answer := make(chan error, 1)
	go func() {
		_, err := Migrate(t.Context(), Config{URL: url})
		answer <- err
	}()
	hold{conn}.until(t, `SELECT EXISTS (SELECT FROM pg_stat_activity, pg_sleep(0.01)
		WHERE datname = current_database() AND state = 'idle' AND query LIKE 'SELECT pg_try_advisory_lock%')`)
	migrateTo(t, url, newest)
	newer(t, url)
	if _, err := conn.Exec(t.Context(), `SELECT pg_advisory_unlock($1)`, lock.DefaultLockID); err != nil {
		t.Fatal(err)
	}
	refusesNewer(t, url, <-answer)
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
	newest = migrateTo(t, url, version)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }() // nothing is lost with it
	for v := int64(1); v <= version; v++ {
		text, err := os.ReadFile(fmt.Sprintf("testdata/v%d.sql", v))
		if errors.Is(err, os.ErrNotExist) { // it brought no table
			continue
		}
		if err == nil {
			_, err = conn.Exec(t.Context(), string(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return newest
}

// migrateTo makes the schema of a version, and returns the newest there is.
func migrateTo(t *testing.T, url string, version int64) (newest int64) {
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

// TestNewerColumns is a deployment in which a newer process has added columns while this one still runs: what this one asks
// names its columns, so it goes on, also with statements that it has prepared before.
func TestNewerColumns(t *testing.T) {
	t.Parallel()
	db := open(t, database(t))
	const member = "700000000000000001"
	use := func() {
		t.Helper()
		storetest.Fill(t, keeps(db), member)
		all, err := db.ExportMember(t.Context(), member)
		if err != nil {
			t.Fatal(err)
		}
		if len(all.Turns) == 0 || len(all.Turns[0].Calls) == 0 || len(all.Memories) == 0 {
			t.Errorf("exported %+v", all)
		}
		if _, _, err := db.EraseMember(t.Context(), store.Erasure{MemberID: member}); err != nil {
			t.Fatal(err)
		}
	}
	use()
	seen := map[string]bool{"goose_db_version": true}
	for _, c := range columns(t, db) {
		if seen[c.table] {
			continue
		}
		seen[c.table] = true
		for _, do := range []string{"TRUNCATE " + c.table + " CASCADE", "ALTER TABLE " + c.table + " ADD COLUMN newer text NOT NULL DEFAULT ''"} {
			if _, err := db.pool.Exec(t.Context(), do); err != nil {
				t.Fatal(err)
			}
		}
	}
	use()
}
