package app

import (
	"context"
	"encoding/json"
	"time"

	"github.com/parleybot/parley/turn"
)

const (
	// publishTimeout bounds one attempt to get an order to the bus.
	publishTimeout = 2 * time.Second
	// publishPatience is how long it is tried: about as long as an order is kept there.
	publishPatience = time.Minute
	// publishAgain is the time between two attempts.
	publishAgain = time.Second
)

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
	order, err := json.Marshal(req)
	if bus := e.app.store.kills(); bus != nil && err == nil {
		e.app.publishing.Go(func() { e.app.publishKill(context.WithoutCancel(ctx), req.Actor.ID, order) })
	}
	return report
}

// publishKill tries until the order is on the bus, or this process ends.
func (a *App) publishKill(ctx context.Context, memberID string, order []byte) {
	for begun := time.Now(); ; {
		attempt, cancel := context.WithTimeout(ctx, publishTimeout)
		err := a.store.kills().PublishKill(attempt, memberID, order)
		cancel()
		if err == nil {
			return
		}
		again := time.NewTimer(publishAgain)
		ends := time.Since(begun) > publishPatience
		select {
		case <-again.C:
		case <-a.closing:
			ends = true
		}
		again.Stop()
		if ends {
			a.log.Warn().Err(err).Msg("kill.not_published")
			return
		}
	}
}

// hearKills ends here what was killed in another process, until ctx ends.
func (a *App) hearKills(ctx context.Context) {
	bus := a.store.kills()
	if bus == nil {
		return
	}
	deaf := false
	state := func(err error) {
		switch {
		case err != nil:
			a.log.Warn().Err(err).Msg("kill.not_hearing")
		case deaf:
			a.log.Info().Msg("kill.hearing_again")
		}
		deaf = err != nil
	}
	bus.SubscribeKills(ctx, state, func(order []byte) {
		var req turn.KillRequest
		if err := json.Unmarshal(order, &req); err != nil {
			a.log.Warn().Err(err).Msg("kill.unreadable")
			return
		}
		req.Late = true
		a.manager.Kill(ctx, req) // it logs what it ends
	})
}
