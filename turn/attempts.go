package turn

import (
	"context"
	"errors"
	"time"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/toolloop"
)

// An empty answer is asked for again, a little later: models that say nothing once mostly answer the second time.
const (
	emptyRetries = 2
	emptyPause   = time.Second
)

// Reachability may be implemented by a Surface: it tells between attempts that nothing more can be delivered.
type Reachability interface {
	// Unreachable reports that the channel is gone or may not be seen any more.
	Unreachable() bool
}

// attempts tries the models in order. Only an error or a timeout of the model passes on to the next; what tools did is
// carried along, and the failed iteration's text is taken back.
func (m *Manager) attempts(ctx context.Context, r *running, s Surface, c conversation, chain []Model) toolloop.Result {
	if len(chain) == 0 {
		return toolloop.Result{Status: store.TurnError, Err: providers.ErrNotConfigured}
	}
	var res toolloop.Result
	for i, model := range chain {
		r.use(model)
		m.tell(r, Event{Kind: EventAttempt, Text: errorCode(res), Iteration: r.turn.Iteration()})
		res = m.attempt(ctx, r, c, model)
		failed := res.Status == store.TurnError || res.Status == store.TurnTimeout
		switch {
		case !failed || ctx.Err() != nil || errors.Is(res.Err, toolloop.ErrTooManyFailures), spentUp(res.Err) != nil:
			if i > 0 && res.Status == store.TurnCompleted {
				r.answeredInstead(chain[0])
			}
			return res
		case unreachable(s):
			res.Status = store.TurnSkipped
			return res
		case i == len(chain)-1:
			return res
		}
		m.Log.Warn().Err(res.Err).Str("turn", string(r.id)).Str("model", model.label()).Str("next", chain[i+1].label()).Msg("turn.fallback")
		s.Retract(ctx)
	}
	return res
}

// attempt asks one model, again when it says nothing.
func (m *Manager) attempt(ctx context.Context, r *running, c conversation, model Model) toolloop.Result {
	a := toolloop.Attempt{Provider: m.spending.payable(model.Provider, r), Model: model.Name, System: c.system, MaxOutputTokens: model.MaxOutputTokens}
	for try := 0; ; try++ {
		a.Fit = m.newFitting(r, c, model).fit
		res := m.Loop.Run(ctx, r.turn, a)
		if res.Status != store.TurnEmptyResponse || try == emptyRetries {
			return res
		}
		m.Log.Warn().Str("turn", string(r.id)).Str("model", model.Name).Int("retry", try+1).Msg("turn.empty_retry")
		wait(ctx, emptyPause) // when the turn ends meanwhile, Run says as what
	}
}

func unreachable(s Surface) bool {
	u, ok := s.(Reachability)
	return ok && u.Unreachable()
}

// wait pauses for d, or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
