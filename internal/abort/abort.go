// Package abort names the reasons for which a turn's context can end. A turn carries a context made with
// context.WithCancelCause; the first cause wins and alone decides the turn's status, so nobody has to guess
// afterwards why something stopped. A follow-up is not among them: it ends one stream, never a turn.
package abort

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Cause is a reason for which a turn ends early. The set is closed.
type Cause interface {
	error
	cause()
}

// Killed is a /kill by a moderator or the owner.
type Killed struct {
	// By is the Discord user id of the actor.
	By string
	// Guild is true when the kill covered a whole guild rather than one channel.
	Guild bool
}

// Stopped is the owner's own wish to stop: a stop phrase, or the stop port without a moderator's rights.
type Stopped struct {
	// By is the Discord user id of the actor.
	By string
	// Reason says why in a few words, for the log.
	Reason string
}

// TurnTimeout is the end of a turn's wall clock.
type TurnTimeout struct{ After time.Duration }

// Shutdown is the end of the process.
type Shutdown struct{}

// Gone is the end of the place a turn runs in: its channel was deleted, or the bot has left the guild.
type Gone struct{}

func (Killed) cause()      {}
func (Stopped) cause()     {}
func (TurnTimeout) cause() {}
func (Shutdown) cause()    {}
func (Gone) cause()        {}

// Error says who killed the turn.
func (k Killed) Error() string {
	if k.Guild {
		return "killed in the whole guild by " + k.By
	}
	return "killed by " + k.By
}

// Error says who stopped the turn and why.
func (s Stopped) Error() string {
	if s.By == "" {
		return "stopped: " + s.Reason
	}
	return fmt.Sprintf("stopped by %s: %s", s.By, s.Reason)
}

// Error gives the limit that was reached.
func (t TurnTimeout) Error() string { return "turn timed out after " + t.After.String() }

// Error says that the process ends.
func (Shutdown) Error() string { return "shutting down" }

// Error says that there is no channel any more.
func (Gone) Error() string { return "the channel is gone" }

// Of returns the cause that ended ctx, or nil when ctx has not ended or ended for a reason that is none of ours
// (a plain cancel or deadline of some caller).
func Of(ctx context.Context) Cause {
	if ctx.Err() == nil {
		return nil
	}
	if c, ok := errors.AsType[Cause](context.Cause(ctx)); ok {
		return c
	}
	return nil
}

// IsStop reports whether c is a person's wish to end the turn (a kill or a stop), which ends it without a word from
// the model.
func IsStop(c Cause) bool {
	switch c.(type) {
	case Killed, Stopped:
		return true
	case TurnTimeout, Shutdown, Gone, nil:
		return false
	}
	return false
}
