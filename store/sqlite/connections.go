package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/parleybot/parley/store"
)

// writer owns the one connection that writes. Callers wait for it in order; waiting ends with the caller's context, but
// a transaction that has begun runs to its end: it takes less time than undoing it.
type writer struct {
	statements
	pool *sql.DB
	conn *sql.Conn
	gate chan struct{} // holds a token while someone writes
	shut chan struct{} // closed when nobody may begin any more
}

func newWriter(ctx context.Context, pool *sql.DB) (*writer, error) {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &writer{
		statements: statements{prepare: conn.PrepareContext},
		pool:       pool, conn: conn, gate: make(chan struct{}, 1), shut: make(chan struct{}),
	}, nil
}

// enter waits for the turn to write and returns the context to write with.
func (w *writer) enter(ctx context.Context) (context.Context, error) {
	if ctx.Err() != nil { // select picks at random when several are ready
		return nil, context.Cause(ctx)
	}
	select {
	case w.gate <- struct{}{}:
		return context.WithoutCancel(ctx), nil
	case <-w.shut:
		return nil, store.ErrUnavailable
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (w *writer) leave() { <-w.gate }

// one runs a single statement, a transaction of its own, and returns how many rows it changed.
func (w *writer) one(ctx context.Context, text string, values ...any) (int64, error) {
	ctx, err := w.enter(ctx)
	if err != nil {
		return 0, err
	}
	defer w.leave()
	return w.exec(ctx, text, values)
}

// transact runs do in one transaction: it is committed when do returns nil, and undone otherwise.
func (w *writer) transact(ctx context.Context, do func(ctx context.Context) error) (err error) {
	ctx, err = w.enter(ctx)
	if err != nil {
		return err
	}
	defer w.leave()
	if _, err := w.exec(ctx, `BEGIN IMMEDIATE`, nil); err != nil {
		return err
	}
	done := false
	defer func() {
		if done {
			return
		}
		// SQLite itself may have undone it (a full disk); then there is nothing left to undo, and that is an error here.
		if _, undo := w.exec(ctx, `ROLLBACK`, nil); undo != nil && err != nil {
			err = fmt.Errorf("%w (undo: %w)", err, undo)
		}
	}()
	if err := do(ctx); err != nil {
		return err
	}
	if _, err := w.exec(ctx, `COMMIT`, nil); err != nil {
		return err
	}
	done = true
	return nil
}

// close writes the log back into the file, so that a copy of the one file is a backup.
func (w *writer) close() error {
	close(w.shut)
	w.gate <- struct{}{} // for good: whoever writes has ended, nobody begins
	ctx := context.Background()
	problems := []error{w.statements.close()}
	_, err := w.conn.ExecContext(ctx, `PRAGMA optimize`)
	problems = append(problems, err)
	_, err = w.conn.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
	problems = append(problems, err, w.conn.Close(), w.pool.Close())
	return errors.Join(problems...)
}

// reader is the pool of connections that read.
type reader struct {
	statements
	pool *sql.DB
}

func newReader(source string) (*reader, error) {
	pool, err := sql.Open("sqlite", source)
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(readers)
	pool.SetMaxIdleConns(readers)
	return &reader{statements: statements{prepare: pool.PrepareContext}, pool: pool}, nil
}

func (r *reader) close() error { return errors.Join(r.statements.close(), r.pool.Close()) }
