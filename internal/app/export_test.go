package app

import (
	"context"
	"runtime"
	"testing"
	"time"

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

// Manager is the turns of a bot.
func Manager(a *App) *turn.Manager { return a.manager }

// Idle returns when no turn runs in the process, and all are recorded.
func Idle(t *testing.T, a *App) {
	t.Helper()
	busy := func() bool { totals := a.manager.Totals(); return totals.ActiveChannels+totals.Writing > 0 }
	for deadline := time.Now().Add(40 * time.Second); busy(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("a turn does not end")
		}
	}
}

// Models is the chain of models of a configuration.
var Models = models
