package redis

import (
	"context"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/parleybot/parley/store"
)

// PublishKill implements store.KillBus.
func (db *DB) PublishKill(ctx context.Context, order []byte) error {
	err := db.client.Publish(ctx, db.keys.of(killsKey), db.id+" "+string(order)).Err()
	return db.fail(ctx, "publish kill", err)
}

// SubscribeKills implements store.KillBus. The library subscribes again after a lost connection, and closes a connection
// on which nothing answers.
func (db *DB) SubscribeKills(ctx context.Context, listening func(), receive func(order []byte)) error {
	const doing = "hear kills"
	bus := db.client.Subscribe(ctx, db.keys.of(killsKey))
	defer func() { _ = bus.Close() }() // nothing is lost with it
	told := false
	for events := bus.ChannelWithSubscriptions(); ; {
		select {
		case <-ctx.Done():
			return nil
		case event, ok := <-events:
			if !ok {
				return db.fail(ctx, doing, fmt.Errorf("%w: the subscription ended", store.ErrUnavailable))
			}
			switch event := event.(type) {
			case *redis.Subscription:
				if !told && listening != nil {
					listening()
				}
				told = true
			case *redis.Message:
				if from, order, ok := strings.Cut(event.Payload, " "); ok && from != db.id {
					receive([]byte(order))
				}
			}
		}
	}
}
