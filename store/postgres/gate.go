package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/parleybot/parley/store"
)

// gate is the pool. Nobody waits in it for a server that says nothing, except those who have the time.
type gate struct {
	*pgxpool.Pool
	pulse *store.Pulse
}

func newGate(ctx context.Context, settings *pgxpool.Config, name string, told func(silent bool)) (gate, error) {
	pool, err := pgxpool.NewWithConfig(ctx, settings)
	if err != nil {
		return gate{}, err
	}
	return gate{Pool: pool, pulse: store.NewPulse(ctx, name, answers(settings.ConnConfig.Copy()), told)}, nil
}

// answers asks for a new connection. One that is refused in the server's own words is an answer too.
func answers(config *pgx.ConnConfig) func(ctx context.Context) error {
	config.RuntimeParams["application_name"] = "parley pulse"
	return func(ctx context.Context) error {
		conn, err := pgx.ConnectConfig(ctx, config)
		if _, said := errors.AsType[*pgconn.PgError](err); said {
			return nil
		}
		if err == nil {
			_ = conn.Close(ctx) // nothing is lost with it
		}
		return err
	}
}

// Close waits for what runs.
func (g gate) Close() {
	g.pulse.Close()
	g.Pool.Close()
}

// Exec implements queries.DBTX.
func (g gate) Exec(ctx context.Context, text string, values ...any) (pgconn.CommandTag, error) {
	if err := g.pulse.Ready(ctx); err != nil {
		return pgconn.CommandTag{}, err
	}
	return g.Pool.Exec(ctx, text, values...)
}

// Query implements queries.DBTX.
func (g gate) Query(ctx context.Context, text string, values ...any) (pgx.Rows, error) {
	if err := g.pulse.Ready(ctx); err != nil {
		return nil, err
	}
	return g.Pool.Query(ctx, text, values...)
}

// QueryRow implements queries.DBTX.
func (g gate) QueryRow(ctx context.Context, text string, values ...any) pgx.Row {
	if err := g.pulse.Ready(ctx); err != nil {
		return noRow{err}
	}
	return g.Pool.QueryRow(ctx, text, values...)
}

// BeginTx begins a transaction; its statements ask nobody any more.
func (g gate) BeginTx(ctx context.Context, options pgx.TxOptions) (pgx.Tx, error) {
	if err := g.pulse.Ready(ctx); err != nil {
		return nil, err
	}
	return g.Pool.BeginTx(ctx, options)
}

type noRow struct{ err error }

// Scan implements pgx.Row.
func (r noRow) Scan(...any) error { return r.err }
