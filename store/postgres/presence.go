package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// lockSpace is the first half of the advisory locks that say which processes live; the second is the process's number.
const lockSpace = 0x5041524c // "PARL"

// longestAbsence bounds the time between two attempts to take the lock again.
const longestAbsence = time.Second

// presence is this process's number and the lock that says it lives. The server drops the lock when the connection ends,
// however the process ends, so what it left running can be told from what runs elsewhere at once and without a clock.
// When the connection is lost while the process lives, the lock is taken again as soon as the server is back; a process
// that starts in between takes this one for gone. Then what this one is running ends as it ends (FinishTurn, CloseCall), and what
// waited for it is the other's (BeginWaited).
type presence struct {
	number int32
	config *pgx.ConnConfig
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// arrive draws a number and holds its lock until leave.
func arrive(ctx context.Context, config *pgx.ConnConfig) (*presence, error) {
	config = config.Copy()
	config.RuntimeParams["application_name"] = "parley presence"
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	p := &presence{config: config}
	if err := conn.QueryRow(ctx, `SELECT nextval('processes')`).Scan(&p.number); err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	if err := p.hold(ctx, conn); err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p.cancel = cancel
	p.done.Go(func() { p.stay(life, conn) })
	return p, nil
}

func (p *presence) hold(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `SELECT pg_advisory_lock($1, $2)`, int32(lockSpace), p.number)
	if err != nil {
		return fmt.Errorf("hold the lock of process %d: %w", p.number, err)
	}
	return nil
}

// stay keeps a connection that holds the lock. Nothing is ever notified on it, so waiting ends when it breaks.
func (p *presence) stay(ctx context.Context, conn *pgx.Conn) {
	for {
		for conn != nil {
			if _, err := conn.WaitForNotification(ctx); err != nil {
				closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
				_ = conn.Close(closing) // it is broken, or this is the end
				cancel()
				conn = nil
			}
		}
		conn = p.again(ctx)
		if conn == nil {
			return
		}
	}
}

// again connects until it holds the lock; nil when ctx ended.
func (p *presence) again(ctx context.Context) *pgx.Conn {
	for wait := firstWait; ctx.Err() == nil; wait = min(2*wait, longestAbsence) {
		conn, err := pgx.ConnectConfig(ctx, p.config)
		if err == nil {
			if err = p.hold(ctx, conn); err == nil {
				return conn
			}
			_ = conn.Close(ctx) // what matters is that it failed
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
	return nil
}

// leave gives the lock up.
func (p *presence) leave() error {
	p.cancel()
	p.done.Wait()
	return nil
}
