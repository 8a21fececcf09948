package pgtest

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// Lock keeps everybody else from a table until it is released: whoever reads or writes it waits in the server.
type Lock struct {
	conn  *pgx.Conn
	table string
}

// LockTable takes a table of a database for itself.
func LockTable(ctx context.Context, url, table string) (*Lock, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, "BEGIN; LOCK TABLE "+pgx.Identifier{table}.Sanitize()+" IN ACCESS EXCLUSIVE MODE"); err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	return &Lock{conn: conn, table: table}, nil
}

// Awaited returns when somebody waits for the table.
func (l *Lock) Awaited(ctx context.Context) error {
	for waits := false; !waits; {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(time.Millisecond):
		}
		const ask = `SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = $1::regclass)`
		if err := l.conn.QueryRow(ctx, ask, l.table).Scan(&waits); err != nil {
			return err
		}
	}
	return nil
}

// Release lets the others at the table.
func (l *Lock) Release(ctx context.Context) error { return l.conn.Close(ctx) }
