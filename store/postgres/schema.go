package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/parleybot/parley/migrations"
)

// A process that waits for another's migration asks every lockEvery seconds, at most lockTries times.
const (
	lockEvery = 1
	lockTries = 300
)

// migrate brings the schema up to what this binary knows, each step in its own transaction, under a lock of the server:
// processes that start at once take turns, and the later ones find nothing to do.
//
// A step that waits for a table, which a backup or somebody's open session may hold for long, has everybody else who uses the
// table wait behind it: so it gives way before their statements end for it, and tries again as long as cfg says.
func (db *DB) migrate(ctx context.Context, cfg Config) error {
	return db.patiently(ctx, cfg, func() (string, error) {
		err := db.migrateOnce(ctx, cfg.statementTimeout()/2)
		if failure, ok := errors.AsType[*pgconn.PgError](err); ok && failure.Code == lockNotAvailable {
			return "something holds a table that is to be changed, such as a backup or an open session; end it, then start again", err
		}
		return "", err
	})
}

// lockNotAvailable is the server's code for a lock that could not be had in time.
const lockNotAvailable = "55P03"

// migrateOnce does not wait for a table longer than it is told.
func (db *DB) migrateOnce(ctx context.Context, lockTimeout time.Duration) (err error) {
	config := db.pool.Config().ConnConfig
	config.RuntimeParams["statement_timeout"] = "0" // building an index may take as long as it takes
	config.RuntimeParams["idle_in_transaction_session_timeout"] = "0"
	config.RuntimeParams["lock_timeout"] = strconv.FormatInt(lockTimeout.Milliseconds(), 10)
	pool := stdlib.OpenDB(*config)
	defer func() { err = errors.Join(err, pool.Close()) }()
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(lockEvery, lockTries))
	if err != nil {
		return fmt.Errorf("prepare the lock for migrations: %w", err)
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, pool, migrations.Postgres(),
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()), goose.WithSessionLocker(locker))
	if err != nil {
		return fmt.Errorf("read the migrations in this binary: %w", err)
	}
	have, known, err := db.versions(ctx, provider)
	if err != nil || have == known {
		return err
	}
	if have < known {
		before := have
		if _, err := provider.Up(ctx); err != nil {
			return fmt.Errorf("bring the schema of %s from version %d to %d: %w", db.name, before, known, err)
		}
		// Whoever had the lock before may have been a newer Parley.
		if have, known, err = db.versions(ctx, provider); err != nil {
			return err
		}
	}
	if have > known {
		return fmt.Errorf("open store %s: its schema is version %d and this binary knows up to version %d; "+
			"run the newer Parley that wrote it, or restore a backup from before the upgrade", db.name, have, known)
	}
	return nil
}

// versions reads which version the database has; 0 when it has none. Goose's own way of asking would create its table
// outside the lock.
func (db *DB) versions(ctx context.Context, provider *goose.Provider) (have, known int64, err error) {
	for _, source := range provider.ListSources() {
		known = max(known, source.Version)
	}
	var exists bool
	if err := db.pool.QueryRow(ctx, `SELECT to_regclass('goose_db_version') IS NOT NULL`).Scan(&exists); err != nil || !exists {
		return 0, known, db.fail(ctx, "read the schema's version", err)
	}
	err = db.pool.QueryRow(ctx, `SELECT coalesce(max(version_id) FILTER (WHERE is_applied), 0) FROM goose_db_version`).Scan(&have)
	return have, known, db.fail(ctx, "read the schema's version", err)
}
