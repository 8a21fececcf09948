package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleybot/parley/internal/config"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/store/postgres"
	"github.com/parleybot/parley/store/redis"
	"github.com/parleybot/parley/store/sqlite"
)

// stores is everything the bot keeps, wherever that is.
type stores interface {
	store.Memories
	store.ShortTerms
	store.Turns
	store.Journal
	store.Triggers
	store.Settings
	store.Ledger
	store.Claims
	store.Windows
	store.Members
	store.FleetingMembers
	store.Pruner
	store.Audit
	store.Approvals
	Close() error
	// kills joins this process to the others of the same bot; nil when there can be none.
	kills() store.KillBus
	// shared says whether other processes of the same bot may work with it too.
	shared() bool
	// budget is what all processes of the same bot may send to Discord; nil when there is only one.
	budget() store.Budget
	// place says where it is, for people.
	place() string
}

// embedded is the SQLite file of the data folder. One process owns it, so nobody else has to be told of a kill.
type embedded struct {
	*sqlite.DB
	dir string
}

func (embedded) kills() store.KillBus { return nil }

func (embedded) shared() bool { return false }

func (embedded) budget() store.Budget { return nil }

func (e embedded) place() string { return "the embedded store in " + e.dir }

// The two halves of servers by their part in it.
type (
	remembered = postgres.DB
	fleeting   = redis.DB
)

// servers is Postgres for what is remembered and Redis for what is fleeting.
type servers struct {
	*remembered
	*fleeting
}

// Close implements stores.
func (s servers) Close() error { return errors.Join(s.remembered.Close(), s.fleeting.Close()) }

func (s servers) kills() store.KillBus { return s.fleeting }

func (servers) shared() bool { return true }

func (s servers) budget() store.Budget { return s.fleeting }

func (s servers) place() string {
	return "the database " + s.remembered.Name() + " with Redis at " + s.fleeting.Name()
}

// openStores opens what the configuration names and brings its schema up to date. A server that is away is waited for,
// at most for patience (0: each engine's own, below 0: not at all), and the log says so.
func openStores(ctx context.Context, cfg config.Store, patience time.Duration, log zerolog.Logger) (stores, error) {
	if !cfg.Servers() {
		db, err := sqlite.Open(ctx, sqlite.Config{Dir: cfg.DataDir})
		if err != nil {
			return nil, err
		}
		return embedded{DB: db, dir: cfg.DataDir}, nil
	}
	db, err := postgres.Open(ctx, database(cfg, patience, log))
	if err != nil {
		return nil, err
	}
	cache, err := redis.Open(ctx, redis.Config{
		URL: cfg.RedisURL.Reveal(), Prefix: cfg.RedisPrefix, Patience: patience, Waiting: waiting("redis", log), Silent: silent("redis", log),
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return servers{remembered: db, fleeting: cache}, nil
}

func database(cfg config.Store, patience time.Duration, log zerolog.Logger) postgres.Config {
	return postgres.Config{
		URL: cfg.DatabaseURL.Reveal(), Patience: patience, Waiting: waiting("postgres", log), Silent: silent("postgres", log),
	}
}

// silent logs that a server which takes connections says nothing, and that it answers again.
func silent(server string, log zerolog.Logger) func(bool) {
	return func(silent bool) {
		if silent {
			log.Warn().Str("server", server).Msg("store.silent")
			return
		}
		log.Info().Str("server", server).Msg("store.answers_again")
	}
}

// waiting logs that a server is away and when it is asked again.
func waiting(server string, log zerolog.Logger) func(error, time.Duration) {
	return func(err error, next time.Duration) {
		log.Warn().Err(err).Str("server", server).Dur("next", next).Msg("store.away")
	}
}

// Migrate brings the schema of the configured store up to date and says where it is. It asks nothing of Redis, which has none.
func Migrate(ctx context.Context, cfg config.Store, log zerolog.Logger) (place string, err error) {
	if cfg.Servers() {
		name, err := postgres.Migrate(ctx, database(cfg, 0, log))
		return "the database " + name, err
	}
	db, err := openStores(ctx, cfg, 0, log)
	if err != nil {
		return "", err
	}
	if err := db.Close(); err != nil {
		return "", fmt.Errorf("letting go of the store: %w", err)
	}
	return db.place(), nil
}
