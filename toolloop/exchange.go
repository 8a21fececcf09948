package toolloop

import (
	"context"
	"time"

	"github.com/parleybot/parley/providers"
)

// exchange is one Run: an attempt at a turn, and what bounds it.
type exchange struct {
	// ctx ends when the turn ends.
	ctx     context.Context //nolint:containedctx // an exchange lives exactly as long as Run
	turn    *Turn
	attempt Attempt

	// sent is the conversation as it was sent last; copied is how many of the turn's messages it holds.
	sent   []providers.Message
	copied int

	// final outlives ctx by stopGrace: all writes that must happen although the turn has ended share that time, so no
	// store can hold a stop.
	final context.Context //nolint:containedctx // as above
	// writes is the context of the current write; patience ends it. Both are made anew only after a write that hung,
	// since making them costs more than a whole write to a fast store.
	writes   context.Context //nolint:containedctx // as above
	patience *time.Timer
}

func newExchange(ctx context.Context, t *Turn, a Attempt) (*exchange, func()) {
	final, cancel := context.WithCancel(context.WithoutCancel(ctx))
	unhook := context.AfterFunc(ctx, func() { time.AfterFunc(stopGrace, cancel) })
	return &exchange{ctx: ctx, final: final, turn: t, attempt: a}, func() { unhook(); cancel() }
}

// write does one write to a store or to the edge that must happen although the turn may have ended. It gets writeTimeout,
// and from the end of the turn at most what is left of stopGrace.
func (e *exchange) write(do func(ctx context.Context) error) error {
	if e.writes == nil {
		ctx, cancel := context.WithCancel(e.final)
		e.writes, e.patience = ctx, time.AfterFunc(writeTimeout, cancel)
	} else {
		e.patience.Reset(writeTimeout)
	}
	err := do(e.writes)
	if !e.patience.Stop() {
		e.writes = nil
	}
	return err
}
