// Package postgres keeps what is remembered in PostgreSQL: memories, turns with their journal, waiting triggers and
// settings. What is fleeting lives in Redis, beside it; see package redis. It needs PostgreSQL 13 or newer and connections
// that are sessions: a pooler in between must not work per transaction.
//
// Several processes may use one database. A running turn and a waiting trigger belong to the process that wrote them;
// only what belongs to a process that is gone is swept or taken over.
package postgres

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/store/postgres/queries"
)

// The limits that an empty Config means.
const (
	// DefaultConnections bounds the pool. A turn holds a connection only while a statement runs.
	DefaultConnections = 8
	// DefaultStatementTimeout ends a statement in the server, whoever waits for it.
	DefaultStatementTimeout = 5 * time.Second
	// DefaultPatience is how long Open waits for a server that is away.
	DefaultPatience = time.Minute
)

// Config says which database to use and how.
type Config struct {
	// URL is the connection string: postgres://user:password@host:port/database?sslmode=... It may hold a password and is
	// never shown.
	URL string
	// Connections bounds the pool, unless the URL says pool_max_conns; 0 means DefaultConnections.
	Connections int
	// StatementTimeout bounds every statement; 0 means DefaultStatementTimeout.
	StatementTimeout time.Duration
	// Patience is how long to retry while the server is away, or a table that a migration changes is held by others; 0 means
	// DefaultPatience, below 0 not at all.
	Patience time.Duration
	// Waiting is told of each attempt that found it so, and when the next one is; nil means nobody is.
	Waiting func(err error, next time.Duration)
	// Silent is told when the server takes requests and says nothing, and when it answers again; nil means nobody is.
	Silent func(silent bool)
	// Now gives the time for records that come without one; nil means time.Now.
	Now func() time.Time
}

func (c Config) statementTimeout() time.Duration {
	if c.StatementTimeout <= 0 {
		return DefaultStatementTimeout
	}
	return c.StatementTimeout
}

// DB is an open store. It is safe for concurrent use.
type DB struct {
	pool     gate
	ask      *queries.Queries // the pool's
	presence *presence
	now      func() time.Time
	name     string // host and database, for people
	fuzzy    bool   // the server can compare words by their letters

	closing sync.Once
	closed  atomic.Bool
}

var (
	_ store.Memories   = (*DB)(nil)
	_ store.Turns      = (*DB)(nil)
	_ store.Journal    = (*DB)(nil)
	_ store.Triggers   = (*DB)(nil)
	_ store.ShortTerms = (*DB)(nil)
	_ store.Ledger     = (*DB)(nil)
	_ store.Audit      = (*DB)(nil)
	_ store.Approvals  = (*DB)(nil)
	_ store.Pruner     = (*DB)(nil)
	_ store.Settings   = (*DB)(nil)
	_ store.Members    = (*DB)(nil)
)

// Open connects, waiting for a server that is away as long as cfg says, and brings the schema up to date; of several
// processes that start at once, one does it. It refuses a schema newer than this binary knows. The caller closes the store.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	settings, err := poolConfig(cfg)
	if err != nil {
		return nil, err
	}
	db := &DB{now: cfg.Now, name: settings.ConnConfig.Host + "/" + settings.ConnConfig.Database}
	if db.now == nil {
		db.now = time.Now
	}
	if db.pool, err = newGate(ctx, settings, db.name, cfg.Silent); err != nil {
		return nil, fmt.Errorf("open store %s: %w", db.name, err)
	}
	db.ask = queries.New(cleaned{db.pool})
	if err := db.begin(ctx, cfg); err != nil {
		db.pool.Close()
		return nil, err
	}
	return db, nil
}

// begin waits for the server, migrates and takes this process's number.
func (db *DB) begin(ctx context.Context, cfg Config) error {
	if err := db.await(ctx, cfg); err != nil {
		return err
	}
	if err := db.migrate(ctx, cfg); err != nil {
		return err
	}
	if err := db.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm')`).Scan(&db.fuzzy); err != nil {
		return db.fail(ctx, "open store", err)
	}
	var err error
	db.presence, err = arrive(ctx, db.pool.Config().ConnConfig)
	return db.fail(ctx, "open store", err)
}

// Name returns the server and the database, without user and password.
func (db *DB) Name() string { return db.name }

// Ping says whether the store answers.
func (db *DB) Ping(ctx context.Context) error { return db.fail(ctx, "ping", db.pool.Ping(ctx)) }

// Close waits for the running statements and lets go of what belongs to this process. Later calls do nothing.
func (db *DB) Close() error {
	var err error
	db.closing.Do(func() {
		db.closed.Store(true)
		err = db.presence.leave()
		db.pool.Close()
	})
	if err != nil {
		return fmt.Errorf("close store %s: %w", db.name, err)
	}
	return nil
}

// Migrate brings the schema of the database up to date, does nothing else, and returns the database's name as Name does.
func Migrate(ctx context.Context, cfg Config) (name string, err error) {
	settings, err := poolConfig(cfg)
	if err != nil {
		return "", err
	}
	db := &DB{name: settings.ConnConfig.Host + "/" + settings.ConnConfig.Database}
	if db.pool, err = newGate(ctx, settings, db.name, nil); err != nil {
		return db.name, fmt.Errorf("open store %s: %w", db.name, err)
	}
	defer db.pool.Close()
	if err := db.await(ctx, cfg); err != nil {
		return db.name, err
	}
	return db.name, db.migrate(ctx, cfg)
}
