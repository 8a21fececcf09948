// Package sqlite is the embedded store: one file in the data folder, no server. It implements every repository of package
// store. One process owns a folder at a time (windows and claims rely on it), one connection writes, a few read.
//
// Durability: every acknowledged write survives the end of the process, however it ends. With the loss of power the
// newest writes may be missing (synchronous=NORMAL under WAL); the file is consistent all the same.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // the driver named "sqlite"

	"github.com/parleybot/parley/store"
)

const (
	fileName = "parley.db"
	// readers bounds the connections that read at the same time. Writers don't wait for them nor they for the writer.
	readers = 4
	// busyTimeout is how long a statement waits for a lock of the file, in milliseconds. Within one process only a
	// checkpoint can make it wait; from outside, say, a backup tool.
	busyTimeout = "5000"
)

// Config says where the store lives.
type Config struct {
	// Dir is the data folder; it is made, for its owner alone, if it does not exist.
	Dir string
	// Now gives the time for records that come without one; nil means time.Now.
	Now func() time.Time
}

// DB is an open store. It implements all repositories of package store and is safe for concurrent use.
type DB struct {
	path   string
	now    func() time.Time
	lock   *lock
	write  *writer
	read   *reader
	claims atomic.Uint64 // claims made; see Claim

	closing sync.Once
	closed  atomic.Bool
	closeTo error
}

var (
	_ store.Memories        = (*DB)(nil)
	_ store.Turns           = (*DB)(nil)
	_ store.Journal         = (*DB)(nil)
	_ store.Triggers        = (*DB)(nil)
	_ store.ShortTerms      = (*DB)(nil)
	_ store.Ledger          = (*DB)(nil)
	_ store.Audit           = (*DB)(nil)
	_ store.Approvals       = (*DB)(nil)
	_ store.Pruner          = (*DB)(nil)
	_ store.Settings        = (*DB)(nil)
	_ store.Claims          = (*DB)(nil)
	_ store.Windows         = (*DB)(nil)
	_ store.Members         = (*DB)(nil)
	_ store.FleetingMembers = (*DB)(nil)
)

// Open opens the store in cfg.Dir, creating it if there is none, and brings its schema up to date. It refuses a folder
// that another process uses, a file that is not a database and a schema newer than this binary knows; each error names
// the path and what to do about it. The caller closes the store.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	if cfg.Dir == "" {
		return nil, fmt.Errorf("open store: no data folder given: %w", store.ErrInvalid)
	}
	path, err := filepath.Abs(filepath.Join(cfg.Dir, fileName))
	if err != nil {
		return nil, fmt.Errorf("open store in %s: %w", cfg.Dir, err)
	}
	db := &DB{path: path, now: cfg.Now}
	if db.now == nil {
		db.now = time.Now
	}
	if err := makeFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	if db.lock, err = acquire(filepath.Dir(path)); err != nil {
		return nil, err
	}
	if err := db.connect(ctx); err != nil {
		return nil, errors.Join(err, db.release())
	}
	return db, nil
}

// connect opens the writer, migrates with it, and opens the readers.
func (db *DB) connect(ctx context.Context) error {
	if err := makeFile(db.path); err != nil {
		return err
	}
	pool, err := sql.Open("sqlite", source(db.path, false))
	if err != nil {
		return fmt.Errorf("open store %s: %w", db.path, err)
	}
	pool.SetMaxOpenConns(1)
	if err := migrate(ctx, pool, db.path); err != nil {
		return errors.Join(err, pool.Close())
	}
	if db.write, err = newWriter(ctx, pool); err != nil {
		return errors.Join(openError(db.path, err), pool.Close())
	}
	if db.read, err = newReader(source(db.path, true)); err != nil {
		return openError(db.path, err)
	}
	return nil
}

// source is the driver's name for the file and the state of each connection to it.
func source(path string, queryOnly bool) string {
	options := url.Values{
		"_txlock":       {"immediate"},
		"_busy_timeout": {busyTimeout},
		"_foreign_keys": {"on"},
		"_journal_mode": {"WAL"},
		"_synchronous":  {"NORMAL"},
		"_dqs":          {"false"}, // a misspelt column is an error, not a text
		"_error_rc":     {"true"},
		// What a member has erased is overwritten in the file, not just unlinked.
		"_pragma": {"secure_delete(1)", "temp_store(MEMORY)"},
	}
	if queryOnly {
		options.Set("_query_only", "on")
	}
	// As a URI, so that a '?' or '#' in the folder's name is part of the name.
	return (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: options.Encode()}).String()
}

// makeFolder makes the data folder and proves that it can be written to.
func makeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the data folder %s: %w; give Parley a folder it may write to, in DATA_DIR", dir, err)
	}
	probe, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return fmt.Errorf("write to the data folder %s: %w; make it writable for the user that runs Parley, or name another in DATA_DIR", dir, err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// makeFile creates the file for its owner alone: the folder may be older and open to others.
func makeFile(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("open store %s: %w; make the file readable and writable for the user that runs Parley", path, err)
	}
	return file.Close()
}

// Path returns the path of the database file.
func (db *DB) Path() string { return db.path }

// Ping says whether the store answers.
func (db *DB) Ping(ctx context.Context) error {
	return db.fail(ctx, "ping", db.read.query(ctx, `SELECT count(*) FROM sqlite_schema`, nil, noRow))
}

// Close waits for the running statements, writes the log back into the file and gives the folder free. Later calls
// return what the first returned.
func (db *DB) Close() error {
	db.closing.Do(func() {
		db.closed.Store(true)
		db.closeTo = db.release()
	})
	return db.closeTo
}

// release closes what has been opened so far: readers first, since a reader holds the log's checkpoint back.
func (db *DB) release() error {
	var problems []error
	if db.read != nil {
		problems = append(problems, db.read.close())
	}
	if db.write != nil {
		problems = append(problems, db.write.close())
	}
	problems = append(problems, db.lock.release())
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("close store %s: %w", db.path, err)
	}
	return nil
}
