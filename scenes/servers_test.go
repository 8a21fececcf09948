package scenes_test

import (
	"context"
	"crypto/rand"
	"maps"
	"net"
	"sync"
	"testing"

	"github.com/parleybot/parley/internal/pgtest"
	"github.com/parleybot/parley/internal/scene"
	"github.com/parleybot/parley/internal/testreport"
	"github.com/parleybot/parley/migrations"
	"github.com/parleybot/parley/store/postgres"
)

// servers boots bots that keep everything in Postgres and Redis. Each scene has a database and a prefix of its own, which
// its bots find again after a restart.
type servers struct {
	t      *testing.T
	booter scene.Booter

	mu sync.Mutex
	// made is the environment of a scene by its data folder.
	made map[string]map[string]string
}

// newServers skips the test when there are none.
func newServers(t *testing.T, booter scene.Booter) *servers {
	t.Helper()
	s := &servers{t: t, booter: booter, made: map[string]map[string]string{}}
	s.environment("") // skips here, and not in the middle of a scene
	return s
}

// Boot implements scene.Booter.
func (s *servers) Boot(ctx context.Context, setup scene.Setup) (scene.Bot, error) {
	env := maps.Clone(setup.Env)
	maps.Copy(env, s.environment(setup.Env["DATA_DIR"]))
	setup.Env = env
	return s.booter.Boot(ctx, setup)
}

func (s *servers) environment(dir string) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made[dir] == nil {
		database := pgtest.Database(s.t, migrations.Postgres(), func(ctx context.Context, url string) error {
			_, err := postgres.Migrate(ctx, postgres.Config{URL: url})
			return err
		})
		addr := testreport.Reach(s.t, "Redis", "REDIS_ADDR", net.JoinHostPort("127.0.0.1", "6379"))
		s.made[dir] = map[string]string{
			// Many scenes run at once, and the server has 100 connections.
			"DATABASE_URL": database + "&pool_max_conns=3",
			"REDIS_URL":    "redis://" + addr + "/11",
			"REDIS_PREFIX": "parley-scene-" + rand.Text() + ":",
		}
	}
	return s.made[dir]
}
