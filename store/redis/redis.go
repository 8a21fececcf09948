// Package redis keeps what is fleeting in Redis, beside package postgres: claims, affordance windows, rate counters, the
// kill bus and the budget of requests. It needs Redis 6.2 or newer. Every key has a time to live and is in the one table
// of keys.go; every step that reads and writes is one script.
//
// Time is the caller's: what expires is compared with the now it gives. The server's own clock only removes keys.
package redis

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/parleybot/parley/store"
)

const (
	// connections bounds the pool. A turn needs one for as long as a script runs.
	connections = 16
	dialTimeout = 2 * time.Second
	// answerTimeout bounds one command, whatever time its caller has.
	answerTimeout = 2 * time.Second

	// DefaultPatience is how long Open waits for a server that is away.
	DefaultPatience = time.Minute
	// firstWait doubles with every attempt, up to longestWait.
	firstWait   = 250 * time.Millisecond
	longestWait = 5 * time.Second
)

// Config says which server to use.
type Config struct {
	// URL is redis://user:password@host:port/number, or rediss:// for TLS. It may hold a password and is never shown.
	URL string
	// Prefix begins every key and channel; empty means "parley:". Bots that share a server need one each.
	Prefix string
	// Patience is how long to retry while the server is away; 0 means DefaultPatience, below 0 not at all.
	Patience time.Duration
	// Waiting is told of each attempt that found the server away, and when the next one is; nil means nobody is.
	Waiting func(err error, next time.Duration)
	// Silent is told when the server takes requests and says nothing, and when it answers again; nil means nobody is.
	Silent func(silent bool)
}

// DB is an open store. It is safe for concurrent use.
type DB struct {
	client *redis.Client
	pulse  *store.Pulse
	keys   keys
	name   string // host and number, for people
	id     string // this process on the kill bus
	closed atomic.Bool
}

var (
	_ store.Claims          = (*DB)(nil)
	_ store.Windows         = (*DB)(nil)
	_ store.KillBus         = (*DB)(nil)
	_ store.Budget          = (*DB)(nil)
	_ store.FleetingMembers = (*DB)(nil)
)

// Open connects, waiting for a server that is away as long as cfg says. The caller closes the store.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	options, err := redis.ParseURL(cfg.URL)
	if err != nil { // its text is in no error: it may hold a password
		return nil, fmt.Errorf("open store: REDIS_URL cannot be read; its form is redis://user:password@host:6379/0: %w", store.ErrInvalid)
	}
	quiet()
	options.ContextTimeoutEnabled = true
	options.PoolSize, options.MaxActiveConns = connections, connections
	options.DialTimeout, options.DialerRetries = dialTimeout, 1
	options.ReadTimeout, options.WriteTimeout, options.PoolTimeout = answerTimeout, answerTimeout, answerTimeout
	// Not twice: a claim whose answer was lost was made, and asking again would lose it.
	options.MaxRetries = -1
	// What comes unasked is then never for us, so a connection on which something waits to be read is not handed out.
	options.Protocol = 2
	options.Dialer = dialer(options)
	options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	prefix := cfg.Prefix
	if prefix == "" {
		prefix = "parley:"
	}
	db := &DB{
		client: redis.NewClient(options), keys: keys{prefix: prefix}, id: rand.Text(),
		name: fmt.Sprintf("%s/%d", options.Addr, options.DB),
	}
	if err := db.await(ctx, cfg); err != nil {
		return nil, errors.Join(err, db.client.Close())
	}
	db.pulse = store.NewPulse(ctx, db.name, answers(options), cfg.Silent)
	db.client.AddHook(gate{db.pulse})
	return db, nil
}

// quiet stops the library from writing to standard error: what goes wrong is returned, and logged by whoever asked.
var quiet = sync.OnceFunc(func() { redis.SetLogger(silence{}) })

type silence struct{}

// Printf does nothing.
func (silence) Printf(context.Context, string, ...any) {}

// await asks the server until it answers. A refusal that will not change by waiting ends it.
func (db *DB) await(ctx context.Context, cfg Config) error {
	patience := cfg.Patience
	if patience == 0 {
		patience = DefaultPatience
	}
	deadline := time.Now().Add(patience)
	for wait := firstWait; ; wait = min(2*wait, longestWait) {
		err := db.client.Ping(ctx).Err()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("open store %s: %w", db.name, context.Cause(ctx))
		case refused(err):
			return fmt.Errorf("open store %s: the server refuses this user, password or number; mend REDIS_URL: %w", db.name, err)
		case time.Now().Add(wait).After(deadline):
			return fmt.Errorf("open store %s: the server is away; start it or mend REDIS_URL: %w: %w", db.name, store.ErrUnavailable, err)
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

func refused(err error) bool {
	for _, kind := range []string{"NOAUTH", "WRONGPASS", "NOPERM", "ERR DB index", "ERR invalid password", "ERR AUTH"} {
		if strings.HasPrefix(err.Error(), kind) {
			return true
		}
	}
	return false
}

// Name returns the server and the number of its database, without user and password.
func (db *DB) Name() string { return db.name }

// Ping says whether the store answers.
func (db *DB) Ping(ctx context.Context) error { return db.fail(ctx, "ping", db.client.Ping(ctx).Err()) }

// Close lets go of the server. Later calls do nothing.
func (db *DB) Close() error {
	if db.closed.Swap(true) {
		return nil
	}
	db.pulse.Close()
	if err := db.client.Close(); err != nil {
		return fmt.Errorf("close store %s: %w", db.name, err)
	}
	return nil
}

// fail says in the words of package store what went wrong while doing something; nil stays nil.
func (db *DB) fail(ctx context.Context, doing string, err error) error {
	if deadline, ok := ctx.Deadline(); err != nil && ok && time.Until(deadline) <= 0 {
		<-ctx.Done() // the connection has the same deadline and may notice it a moment earlier
	}
	if err != nil && (late(err) || errors.Is(ctx.Err(), context.DeadlineExceeded)) {
		db.pulse.Missed()
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrInvalid), errors.Is(err, store.ErrUnavailable):
		return fmt.Errorf("%s: %w", doing, err)
	case db.closed.Load():
		return fmt.Errorf("%s: the store is closed: %w", doing, store.ErrUnavailable)
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", doing, context.Cause(ctx))
	}
	remedy := ""
	for kind, says := range map[string]string{
		"OOM":       "the server is out of memory; raise its maxmemory: ",
		"READONLY":  "the server is a read-only replica; point REDIS_URL at the primary: ",
		"MISCONF":   "the server cannot write to its disk; look into its log: ",
		"LOADING":   "the server is starting: ",
		"WRONGTYPE": "a key holds something else; another program uses the same prefix: ",
	} {
		if strings.HasPrefix(err.Error(), kind) {
			remedy = says
		}
	}
	return fmt.Errorf("%s: store %s: %s%w: %w", doing, db.name, remedy, store.ErrUnavailable, err)
}
