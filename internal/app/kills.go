package app

import (
	"context"
	"encoding/json"
	"time"

	"github.com/parleybot/parley/turn"
)

// publishTimeout bounds how long an order tries to reach the bus.
const publishTimeout = 2 * time.Second

// everywhere is the turns of this process with a kill that reaches those of the other processes too. Two processes of one
// bot overlap during a deployment; then a turn may run in one and its kill arrive at the other.
type everywhere struct {
	*turn.Manager
	app *App
}

// Kill implements bot.Turns. What runs here ends first and is what the report tells of; the other processes say in their
// channels what they ended, and each checks the actor's rights itself. The answer never waits for the bus.
func (e everywhere) Kill(ctx context.Context, req turn.KillRequest) turn.KillReport {
	report := e.Manager.Kill(ctx, req)
	bus := e.app.store.kills()
	order, err := json.Marshal(req)
	if bus == nil || err != nil {
		return report
	}
	e.app.publishing.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), publishTimeout)
		defer cancel()
		if err := bus.PublishKill(ctx, order); err != nil {
			e.app.log.Warn().Err(err).Msg("kill.not_published")
		}
	})
	return report
}

// hearKills ends here what was killed in another process, until ctx ends.
func (a *App) hearKills(ctx context.Context) {
	bus := a.store.kills()
	if bus == nil {
		return
	}
	err := bus.SubscribeKills(ctx, nil, func(order []byte) {
		var req turn.KillRequest
		if err := json.Unmarshal(order, &req); err != nil {
			a.log.Warn().Err(err).Msg("kill.unreadable")
			return
		}
		a.manager.Kill(ctx, req) // it logs what it ends
	})
	if err != nil {
		a.log.Error().Err(err).Msg("kill.bus_ended")
	}
}
