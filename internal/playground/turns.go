package playground

import (
	"slices"

	"github.com/parleybot/parley/turn"
)

// What the inspector can look back at.
const (
	turnsKept     = 40
	decisionsKept = 60
	eventsKept    = 1500
	textKept      = 64 << 10
)

// turnEvents are the events of one turn. Pieces of one text are joined, so that a long answer is one event; the page
// makes a turn out of its events, the ones kept here and the live ones alike.
type turnEvents struct {
	ID     turn.ID      `json:"id"`
	Events []turn.Event `json:"events"`
	// Cut says that the turn had more events than are kept.
	Cut bool `json:"cut,omitempty"`
}

// turnLog keeps the newest turns, and the newest decisions about messages that became no turn.
type turnLog struct {
	turns     []*turnEvents
	decisions []turn.Event
}

func (l *turnLog) add(e turn.Event) {
	if e.TurnID == "" {
		if len(l.decisions) == decisionsKept {
			l.decisions = l.decisions[1:]
		}
		l.decisions = append(l.decisions, e)
		return
	}
	i := slices.IndexFunc(l.turns, func(t *turnEvents) bool { return t.ID == e.TurnID })
	if i < 0 {
		if len(l.turns) == turnsKept {
			l.turns = l.turns[1:]
		}
		l.turns = append(l.turns, &turnEvents{ID: e.TurnID})
		i = len(l.turns) - 1
	}
	l.turns[i].add(e)
}

func (t *turnEvents) add(e turn.Event) {
	if joinable(e.Kind) && len(t.Events) > 0 {
		last := &t.Events[len(t.Events)-1]
		if last.Kind == e.Kind && last.Iteration == e.Iteration {
			if len(last.Text)+len(e.Text) > textKept {
				t.Cut = true
				return
			}
			last.Text += e.Text
			return
		}
	}
	// The end is always kept: without it a turn would look as if it still ran.
	if len(t.Events) >= eventsKept && e.Kind != turn.EventDone {
		t.Cut = true
		return
	}
	t.Events = append(t.Events, e)
}

func joinable(k turn.EventKind) bool { return k == turn.EventDelta || k == turn.EventThinking }

func (l *turnLog) copy() ([]turnEvents, []turn.Event) {
	out := make([]turnEvents, 0, len(l.turns))
	for _, t := range l.turns {
		c := *t
		c.Events = slices.Clone(t.Events)
		out = append(out, c)
	}
	return out, slices.Clone(l.decisions)
}
