package store

import (
	"context"
	"time"
)

// Retention is how long records are kept that nobody erases. A rule that is 0 keeps everything.
type Retention struct {
	// TurnsPerChannel is how many finished turns a channel keeps with their calls, the newest.
	TurnsPerChannel int
	// Turns is how long a finished turn is kept after it began, with its calls, and an approval card after it was decided.
	Turns time.Duration
	// Ledgers is how long usage and audit entries are kept.
	Ledgers time.Duration
}

// DefaultRetention is the one rule of docs/stores.md.
func DefaultRetention() Retention {
	return Retention{TurnsPerChannel: 500, Turns: 90 * 24 * time.Hour, Ledgers: 400 * 24 * time.Hour}
}

// Before is the time before which a record is too old; the zero time when it never is.
func Before(now time.Time, age time.Duration) time.Time {
	if age <= 0 {
		return time.Time{}
	}
	return now.Add(-age)
}

// Pruner removes what is too old to keep.
type Pruner interface {
	// Prune removes what keep no longer covers at a time, and short-term memory that has expired, in small steps that hold
	// nobody up, and returns what it removed. Running turns, open cards and waiting triggers are never removed.
	Prune(ctx context.Context, keep Retention, now time.Time) (Erased, error)
}
