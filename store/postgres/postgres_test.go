package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"testing"
	"time"

	"github.com/parleybot/parley/internal/pgtest"
	"github.com/parleybot/parley/migrations"
	"github.com/parleybot/parley/store/storetest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) storetest.Engine { return engine(t, database(t)) })
}

func engine(t *testing.T, url string) storetest.Engine {
	t.Helper()
	db := open(t, url)
	return storetest.Engine{
		Memories: db, Turns: db, Journal: db, Triggers: db, Settings: db,
		Reopen: func(t *testing.T) storetest.Engine {
			t.Helper()
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			return engine(t, url)
		},
	}
}

// database gives the test a database with the schema of this binary.
func database(t testing.TB) string {
	t.Helper()
	return pgtest.Database(t, schemaHash(t), func(ctx context.Context, url string) error {
		return Migrate(ctx, Config{URL: url})
	})
}

// schemaHash changes when a migration does.
func schemaHash(t testing.TB) string {
	t.Helper()
	sum := sha256.New()
	err := fs.WalkDir(migrations.Postgres(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(migrations.Postgres(), path)
		sum.Write(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// open opens a store that the test closes.
func open(t testing.TB, url string) *DB {
	t.Helper()
	db, err := Open(t.Context(), Config{URL: url, Patience: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(db.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	return db
}
