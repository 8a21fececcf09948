package app

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleybot/parley/store"
)

const (
	// pruneFirst lets a start be over before the store is tidied, pruneEvery is from one time to the next.
	pruneFirst = time.Minute
	pruneEvery = time.Hour
)

// prune removes what is too old to keep, beside the turns, until ctx ends. What fails is tried again the next time.
func prune(ctx context.Context, from store.Pruner, log zerolog.Logger) {
	for wait := pruneFirst; ; wait = pruneEvery {
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		erased, err := from.Prune(ctx, store.DefaultRetention(), time.Now())
		switch {
		case err != nil && ctx.Err() == nil:
			log.Warn().Err(err).Msg("store.prune_failed")
		case len(erased) > 0:
			log.Info().Interface("removed", erased).Msg("store.pruned")
		}
	}
}
