package playground

import (
	"strings"
	"time"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

// script is a turn put together from its events, as far as a scene needs it.
type script struct {
	id                      turn.ID
	channel, owner, message string
	started, ended          time.Time
	status                  store.TurnStatus
	// failure is the kind of what went wrong.
	failure string
	plan    *turn.PlanInfo
	// stopWord is the message with which the owner asked the turn to stop.
	stopWord string
	rounds   []*round
	attempts int
}

// round is one round trip to the model and the calls of its answer.
type round struct {
	thinking, text string
	calls          []*turn.CallInfo
	// ended: the answer came to an end, for this reason.
	ended  bool
	finish string
}

func scriptOf(t turnEvents) script {
	s := script{id: t.ID}
	for _, e := range t.Events {
		s.channel, s.owner = e.ChannelID, e.OwnerID
		s.take(e)
	}
	return s
}

func (s *script) take(e turn.Event) {
	switch e.Kind {
	case turn.EventStarted:
		s.started, s.message = e.At, e.MessageID
	case turn.EventPlanned:
		s.plan = e.Plan
	case turn.EventAttempt:
		s.attempts++
	case turn.EventDelta:
		s.round(e.Iteration).text += e.Text
	case turn.EventThinking:
		s.round(e.Iteration).thinking += e.Text
	case turn.EventUsage:
		r := s.round(e.Iteration)
		r.ended, r.finish = true, e.Finish
	case turn.EventToolCall:
		if !e.Call.Card {
			r := s.round(e.Iteration)
			r.calls = append(r.calls, e.Call)
		}
	case turn.EventToolResult:
		s.result(*e.Call)
	case turn.EventDone:
		s.ended, s.status, s.failure = e.At, e.Status, e.Error
	case turn.EventAdmission:
		if strings.HasPrefix(e.Text, string(turn.DispositionStop)+":") {
			s.stopWord = e.MessageID
		}
	case turn.EventContextAdded, turn.EventHidden:
	}
}

func (s *script) round(n int) *round {
	for len(s.rounds) <= n {
		s.rounds = append(s.rounds, &round{})
	}
	return s.rounds[n]
}

// result closes a call; the arguments are those that were announced.
func (s *script) result(c turn.CallInfo) {
	for _, r := range s.rounds {
		for i, known := range r.calls {
			if known.Key == c.Key {
				c.Arguments = known.Arguments
				r.calls[i] = &c
				return
			}
		}
	}
}

// changed: some tool of the turn did something that a later turn may depend on.
func (s *script) changed() bool {
	for _, r := range s.rounds {
		for _, c := range r.calls {
			if c.Status == store.CallDone && !c.ReadOnly {
				return true
			}
		}
	}
	return false
}

func (s *script) calls() (n int) {
	for _, r := range s.rounds {
		n += len(r.calls)
	}
	return n
}

// streaming: the answer was cut off before its end.
func (r *round) streaming() bool { return !r.ended && len(r.calls) == 0 }
