package postgres

import (
	"context"
	"fmt"
	"maps"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/parleybot/parley/store"
)

const (
	connectTimeout = 5 * time.Second
	// firstWait doubles with every attempt, up to longestWait.
	firstWait   = 250 * time.Millisecond
	longestWait = 5 * time.Second
)

// poolConfig reads the URL. Its own text is in no error: it may hold a password.
func poolConfig(cfg Config) (*pgxpool.Config, error) {
	settings, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil || cfg.URL == "" {
		return nil, fmt.Errorf("open store: DATABASE_URL cannot be read; its form is "+
			"postgres://user:password@host:5432/database: %w", store.ErrInvalid)
	}
	if !strings.Contains(cfg.URL, "pool_max_conns") {
		settings.MaxConns = DefaultConnections
		if cfg.Connections > 0 {
			settings.MaxConns = int32(min(cfg.Connections, 1000)) //nolint:gosec // bounded
		}
	}
	if settings.ConnConfig.ConnectTimeout == 0 || settings.ConnConfig.ConnectTimeout > connectTimeout {
		settings.ConnConfig.ConnectTimeout = connectTimeout
	}
	timeout := cfg.statementTimeout()
	maps.Copy(settings.ConnConfig.RuntimeParams, map[string]string{
		"application_name": "parley",
		"timezone":         "UTC",
		// Every statement reads by an index that fits it whatever its values are, so planning it once is enough.
		"plan_cache_mode":   "force_generic_plan",
		"statement_timeout": strconv.FormatInt(timeout.Milliseconds(), 10),
		// A transaction whose client went silent must not hold its locks.
		"idle_in_transaction_session_timeout": strconv.FormatInt(2*timeout.Milliseconds(), 10),
	})
	settings.ShouldPing = func(_ context.Context, idle pgxpool.ShouldPingParams) bool {
		return doubtful(idle.Conn.PgConn().Conn(), idle.IdleDuration)
	}
	return settings, nil
}

// doubtful says whether the pool must ask the server before it hands out a connection that has lain unused. A server that was
// restarted has ended its connections, and nothing but a look at each tells: without it every one of them fails the first
// statement that is given it, such as the write of a memory, although the server is back. One that answers is used, the others
// are thrown away and another is opened.
//
// What this does not cover is a connection that dies while a statement is under way. The statement fails and is not repeated:
// whether it was done before the end cannot be known.
func doubtful(conn net.Conn, unused time.Duration) bool { return unused > askAfter || !quiet(conn) }

// await asks the server until it answers. An answer that will not change by waiting, such as a wrong password, ends it.
func (db *DB) await(ctx context.Context, cfg Config) error {
	return db.patiently(ctx, cfg, func() (string, error) {
		err := db.pool.Ping(ctx)
		if refusal(err) != "" {
			return "", fmt.Errorf("open store %s: %s: %w", db.name, refusal(err), err)
		}
		return "the server is away; start it or mend DATABASE_URL", err
	})
}

// patiently tries again, at growing intervals and as long as cfg says, while an attempt fails and says why it may succeed later.
func (db *DB) patiently(ctx context.Context, cfg Config, try func() (later string, err error)) error {
	patience := cfg.Patience
	if patience == 0 {
		patience = DefaultPatience
	}
	deadline := time.Now().Add(patience)
	for wait := firstWait; ; wait = min(2*wait, longestWait) {
		later, err := try()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("open store %s: %w", db.name, context.Cause(ctx))
		case later == "":
			return err
		case time.Now().Add(wait).After(deadline):
			return fmt.Errorf("open store %s: %s: %w: %w", db.name, later, store.ErrUnavailable, err)
		}
		if cfg.Waiting != nil {
			cfg.Waiting(err, wait)
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}
