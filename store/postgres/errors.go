package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/parleybot/parley/store"
)

// fail says in the words of package store what went wrong while doing something; nil stays nil.
func (db *DB) fail(ctx context.Context, doing string, err error) error {
	if err != nil && (pgconn.Timeout(err) || errors.Is(ctx.Err(), context.DeadlineExceeded)) {
		db.pool.pulse.Missed()
	}
	switch {
	case err == nil:
		return nil
	case sentinel(err):
		return fmt.Errorf("%s: %w", doing, err)
	case errors.Is(err, pgx.ErrNoRows):
		return fmt.Errorf("%s: %w", doing, store.ErrNotFound)
	case db.closed.Load():
		return fmt.Errorf("%s: the store is closed: %w", doing, store.ErrUnavailable)
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", doing, context.Cause(ctx))
	}
	failure, ok := errors.AsType[*pgconn.PgError](err)
	if !ok { // the connection, not the statement
		return fmt.Errorf("%s: store %s: %w: %w", doing, db.name, store.ErrUnavailable, err)
	}
	switch failure.Code {
	case "23505":
		return fmt.Errorf("%s: %w", doing, store.ErrExists)
	case "23503":
		return fmt.Errorf("%s: %w", doing, store.ErrNotFound)
	case "23514":
		return fmt.Errorf("%s: %w: %w", doing, store.ErrInvalid, err)
	}
	if remedy := remedyOf(failure.Code); remedy != "" {
		return fmt.Errorf("%s: store %s: %s: %w: %w", doing, db.name, remedy, store.ErrUnavailable, err)
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

// remedyOf tells an operator what is the matter with the server and what to do; empty when the statement is at fault.
func remedyOf(code string) string {
	switch code {
	case "57014":
		return "a statement took longer than its timeout; the server is overloaded or something holds a lock"
	case "55P03", "40001", "40P01":
		return "another transaction is in the way; try again"
	case "53100":
		return "the server's disk is full; free some space, nothing that was stored is lost"
	case "53300":
		return "the server has no connection left; raise its max_connections or lower pool_max_conns in DATABASE_URL"
	case "25006":
		return "the server is read-only; point DATABASE_URL at the primary"
	}
	switch code[:min(2, len(code))] {
	case "08", "57", "58", "53":
		return "the server is stopping, starting or out of resources"
	case "XX":
		return "the server reports an internal error or damage; look into its log"
	}
	return ""
}

// refusal tells what is wrong with DATABASE_URL when the server has answered and waiting would not help.
func refusal(err error) string {
	failure, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return ""
	}
	switch failure.Code {
	case "28P01", "28000":
		return "the server refuses this user or password; mend DATABASE_URL"
	case "3D000":
		return "there is no such database; create it or mend DATABASE_URL"
	case "42501":
		return "the user may not use this database; grant it the rights or mend DATABASE_URL"
	}
	return ""
}
