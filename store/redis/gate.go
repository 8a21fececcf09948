package redis

import (
	"context"
	"errors"
	"net"

	"github.com/redis/go-redis/v9"

	"github.com/parleybot/parley/store"
)

// gate lets nobody wait for a server that says nothing, except those who have the time.
type gate struct{ pulse *store.Pulse }

// DialHook implements redis.Hook.
func (gate) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (g gate) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if err := g.pulse.Ready(ctx); err != nil {
			cmd.SetErr(err)
			return err
		}
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook implements redis.Hook.
func (g gate) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if err := g.pulse.Ready(ctx); err != nil {
			for _, cmd := range cmds {
				cmd.SetErr(err)
			}
			return err
		}
		return next(ctx, cmds)
	}
}

// answers asks on a connection of its own. What the server says in its own words, even a refusal, is an answer.
func answers(options *redis.Options) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		own := *options
		own.PoolSize, own.MaxActiveConns = 1, 1
		client := redis.NewClient(&own)
		err := client.Ping(ctx).Err()
		_ = client.Close() // nothing is lost with it
		if _, said := errors.AsType[redis.Error](err); said {
			return nil
		}
		return err
	}
}

// late says whether the server gave no answer in the time that the connection allows.
func late(err error) bool {
	failure, ok := errors.AsType[net.Error](err)
	return ok && failure.Timeout()
}
