package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/parleybot/parley/store"
)

// fail says in the words of package store what went wrong while doing something; nil stays nil.
func (db *DB) fail(ctx context.Context, doing string, err error) error {
	if err == nil {
		return nil
	}
	if sentinel(err) {
		return fmt.Errorf("%s: %w", doing, err)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%s: %w", doing, store.ErrNotFound)
	}
	if db.closed.Load() {
		return fmt.Errorf("%s: the store is closed: %w", doing, store.ErrUnavailable)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", doing, context.Cause(ctx))
	}
	failure, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return fmt.Errorf("%s: %w: %w", doing, store.ErrUnavailable, err)
	}
	switch failure.Code() {
	case codes.SQLITE_CONSTRAINT_UNIQUE, codes.SQLITE_CONSTRAINT_PRIMARYKEY:
		return fmt.Errorf("%s: %w", doing, store.ErrExists)
	case codes.SQLITE_CONSTRAINT_FOREIGNKEY:
		return fmt.Errorf("%s: %w", doing, store.ErrNotFound)
	case codes.SQLITE_CONSTRAINT_CHECK:
		return fmt.Errorf("%s: %w: %w", doing, store.ErrInvalid, err)
	}
	if remedy := remedies[failure.Code()&0xff]; remedy != "" {
		return fmt.Errorf("%s: store %s: %s: %w: %w", doing, db.path, remedy, store.ErrUnavailable, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// sentinel says whether err already is in the words of package store.
func sentinel(err error) bool {
	for _, known := range []error{
		store.ErrNotFound, store.ErrExists, store.ErrLimit, store.ErrTaken, store.ErrBusy, store.ErrErased, store.ErrInvalid, store.ErrCorrupt,
		store.ErrUnavailable,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// remedies tells an operator, by SQLite's primary code, what is the matter with the file and what to do.
var remedies = map[int]string{
	codes.SQLITE_FULL:     "the disk is full; free some space, nothing that was stored is lost",
	codes.SQLITE_IOERR:    "the disk failed to read or write; check it and its free space",
	codes.SQLITE_READONLY: "the file is read-only; make it and its folder writable for the user that runs Parley",
	codes.SQLITE_PERM:     "the file may not be used; make it and its folder writable for the user that runs Parley",
	codes.SQLITE_CANTOPEN: "the file cannot be opened; make it and its folder writable for the user that runs Parley",
	codes.SQLITE_NOTADB:   "the file is not a SQLite database; move it away to start empty, or name another folder in DATA_DIR",
	codes.SQLITE_CORRUPT:  "the file is damaged; move it away and restore a backup (sqlite3 FILE .recover may save what is in it)",
	codes.SQLITE_BUSY:     "another program holds the file; end it (a backup tool, a sqlite3 shell)",
	codes.SQLITE_LOCKED:   "another program holds the file; end it (a backup tool, a sqlite3 shell)",
	codes.SQLITE_NOMEM:    "out of memory",
}

// openError is fail for a store that is not open yet.
func openError(path string, err error) error {
	if failure, ok := errors.AsType[*sqlite.Error](err); ok {
		if remedy := remedies[failure.Code()&0xff]; remedy != "" {
			return fmt.Errorf("open store %s: %s: %w: %w", path, remedy, store.ErrUnavailable, err)
		}
	}
	return fmt.Errorf("open store %s: %w", path, err)
}
