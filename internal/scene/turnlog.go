package scene

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/parleybot/parley/internal/discordsim"
	"github.com/parleybot/parley/turn"
)

// turnLog is what the bot's turns told, in order. It is the observer of a bot in this process; for a bot in its own
// process the bot's log stands in, which tells of admissions, starts and ends only. Safe for concurrent use.
type turnLog struct {
	woken *signal
	tape  *tape
	world *discordsim.World

	mu     sync.Mutex
	events []told
	boot   int
	// due counts for each message how often the bot was handed it and must have decided about it.
	due map[string]int
}

// told is one event with the number of the newest line in Discord's journal at that moment.
type told struct {
	turn.Event
	seq  int
	boot int
}

// Observe implements turn.Observer.
func (l *turnLog) Observe(e turn.Event) {
	seq := 0
	l.world.Look(func(v discordsim.View) { seq = v.Seq() })
	l.mu.Lock()
	l.events = append(l.events, told{Event: e, seq: seq, boot: l.boot})
	l.mu.Unlock()
	if line := describe(e); line != "" {
		l.tape.happened("", "· %s", line)
	}
	l.woken.happened()
}

// describe is a line of the transcript, empty for events that others tell better.
func describe(e turn.Event) string {
	switch e.Kind {
	case turn.EventAdmission:
		if e.Text == "ignore:self" {
			return "" // its own words, which stand there already
		}
		return strings.Replace(e.Text, ":", " as ", 1)
	case turn.EventToolCall:
		if e.Call.Card {
			return fmt.Sprintf("tool %s waits for an approval", e.Call.Tool)
		}
		return fmt.Sprintf("tool %s %s", e.Call.Tool, short(e.Call.Arguments))
	case turn.EventToolResult:
		reason := ""
		if e.Call.Reason != "" {
			reason = " (" + string(e.Call.Reason) + ")"
		}
		return fmt.Sprintf("tool %s %s%s: %s", e.Call.Tool, e.Call.Status, reason, short(e.Call.Result))
	case turn.EventDone:
		return "turn ends as " + string(e.Status)
	case turn.EventThinking, turn.EventUsage, turn.EventStarted, turn.EventDelta, turn.EventContextAdded, turn.EventHidden,
		turn.EventPlanned, turn.EventAttempt:
	}
	return ""
}

// handed notes that the bot is about to be handed a message.
func (l *turnLog) handed(id discordsim.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.due == nil {
		l.due = map[string]int{}
	}
	l.due[string(id)]++
}

// booted begins a new life of the bot: what the old one owed is forgotten.
func (l *turnLog) booted(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.boot, l.due = n, nil
}

// all are the events so far.
func (l *turnLog) all() []told {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.events)
}

// open says what the bot has not finished: messages it has not decided about, turns that wait or run.
func (l *turnLog) open() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	decided := map[string]int{}
	running := map[turn.ID]string{}
	var order []turn.ID
	for _, e := range l.events {
		if e.boot != l.boot {
			continue
		}
		switch {
		case e.Kind == turn.EventDone:
			delete(running, e.TurnID)
		case e.Kind == turn.EventStarted:
			running[e.TurnID] = "a turn runs"
			order = append(order, e.TurnID)
		case e.Kind != turn.EventAdmission:
		case strings.HasPrefix(e.Text, "discard:"):
			for id, what := range running {
				if what == "message "+e.MessageID+" waits for its turn" {
					delete(running, id)
				}
			}
		default:
			decided[e.MessageID]++
			if strings.HasPrefix(e.Text, "admit:") && !l.began(e.TurnID) {
				running[e.TurnID] = "message " + e.MessageID + " waits for its turn"
				order = append(order, e.TurnID)
			}
		}
	}
	var out []string
	for id, n := range l.due {
		if decided[id] < n {
			out = append(out, "the bot has not decided about message "+id)
		}
	}
	slices.Sort(out)
	for _, id := range slices.Compact(order) {
		if what := running[id]; what != "" && !slices.Contains(out, what) {
			out = append(out, what)
		}
	}
	return out
}

// began reports whether a turn has started or ended already: its admission may be told after that.
func (l *turnLog) began(id turn.ID) bool {
	return slices.ContainsFunc(l.events, func(e told) bool {
		return e.TurnID == id && (e.Kind == turn.EventStarted || e.Kind == turn.EventDone)
	})
}
