package app

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleybot/parley/store"
)

type pruner struct{ at []time.Time }

func (p *pruner) Prune(_ context.Context, keep store.Retention, now time.Time) (store.Erased, error) {
	if keep != store.DefaultRetention() {
		return nil, errors.New("another rule")
	}
	p.at = append(p.at, now)
	return nil, store.ErrUnavailable
}

// TestPruneGoesOn: a store that is away is asked again, and the end of the bot ends it.
func TestPruneGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		begin, p, ended := time.Now(), &pruner{}, make(chan struct{})
		go func() { defer close(ended); prune(ctx, p, zerolog.Nop()) }()
		<-time.After(pruneFirst + 2*pruneEvery + time.Second)
		stop()
		<-ended
		if len(p.at) != 3 || p.at[0].Sub(begin) != pruneFirst {
			t.Errorf("pruned at %v, begun at %v", p.at, begin)
		}
	})
}
