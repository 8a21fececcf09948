package app

import (
	"context"

	"github.com/parleybot/parley/turn"
)

// For tests of what the composition root derives from the configuration.
var (
	LoopLimits = loopLimits
	TurnLimits = turnLimits
)

// Kill is a kill that arrives at this process, as the edge passes it on.
func Kill(ctx context.Context, a *App, req turn.KillRequest) turn.KillReport {
	return everywhere{a.manager, a}.Kill(ctx, req)
}
