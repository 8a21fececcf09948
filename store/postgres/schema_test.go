package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/parleybot/parley/internal/pgtest"
	"github.com/parleybot/parley/migrations"
	"github.com/parleybot/parley/store"
)

// TestMigrateAtOnce: of several processes that start at once on an empty database, one makes the schema.
func TestMigrateAtOnce(t *testing.T) {
	t.Parallel()
	url := pgtest.Empty(t)
	const processes = 4
	answers := make(chan error, processes)
	for range processes {
		go func() {
			db, err := Open(t.Context(), Config{URL: url})
			if err == nil {
				err = errors.Join(db.PutSetting(t.Context(), store.Setting{Scope: store.SettingGuild, ID: "1", Name: "n", Value: "v"}), db.Close())
			}
			answers <- err
		}()
	}
	for range processes {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
	db := open(t, url)
	applied, err := query(t.Context(), db.pool, `SELECT version_id FROM goose_db_version WHERE version_id > 0 ORDER BY id`, nil, pgx.RowTo[int64])
	if err != nil {
		t.Fatal(err)
	}
	for i, version := range applied {
		if version != int64(i+1) {
			t.Errorf("versions were applied as %v", applied)
		}
	}
}

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

// TestMigrateFromEachVersion brings a database with data from every earlier version to this one. The data of a version
// is testdata/vN.sql, as that version wrote it.
func TestMigrateFromEachVersion(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/v*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files of data, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			var version int64
			if _, err := fmt.Sscanf(filepath.Base(file), "v%d.sql", &version); err != nil {
				t.Fatal(err)
			}
			url := pgtest.Empty(t)
			writeVersion(t, url, version, file)
			db := open(t, url)
			ctx := t.Context()
			found, err := db.FindMemories(ctx, store.MemoryQuery{GuildID: "1", MemberID: "ana", Text: "what about teas"})
			if err != nil || len(found) != 1 || found[0].Content != "likes tea" {
				t.Errorf("memories: %+v, %v", found, err)
			}
			turns, err := db.RecentTurns(ctx, "c", 10)
			if err != nil || len(turns) != 1 || turns[0].Answer != "hello ana" ||
				turns[0].Usage.Unpriced != (turns[0].Usage.Input+turns[0].Usage.Output > 0) {
				t.Errorf("turns: %+v, %v", turns, err)
			}
			calls, err := db.Calls(ctx, "t1")
			if err != nil || len(calls) != 1 || calls[0].Tool != "write_file" {
				t.Errorf("calls: %+v, %v", calls, err)
			}
			waiting, err := db.AllWaiting(ctx)
			if err != nil || len(waiting) != 1 || waiting[0].MessageID != "m" {
				t.Errorf("waiting: %+v, %v", waiting, err)
			}
			settings, err := db.SettingsOf(ctx, store.SettingGuild, "1")
			if err != nil || settings["tools"] != "off" {
				t.Errorf("settings: %v, %v", settings, err)
			}
		})
	}
}

// writeVersion makes the schema of an earlier version and runs its data.
func writeVersion(t *testing.T, url string, version int64, file string) {
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
	if _, err := provider.UpTo(t.Context(), version); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pool.ExecContext(t.Context(), string(text)); err != nil {
		t.Fatal(err)
	}
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
