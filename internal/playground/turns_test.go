package playground

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/turn"
)

func TestTurnLogJoinsPieces(t *testing.T) {
	t.Parallel()
	var l turnLog
	for _, e := range []turn.Event{
		{Kind: turn.EventStarted, TurnID: "a"},
		{Kind: turn.EventDelta, TurnID: "a", Text: "he"},
		{Kind: turn.EventDelta, TurnID: "b", Text: "other"},
		{Kind: turn.EventDelta, TurnID: "a", Text: "llo"},
		{Kind: turn.EventThinking, TurnID: "a", Text: "hm"},
		{Kind: turn.EventDelta, TurnID: "a", Text: "bye", Iteration: 1},
		{Kind: turn.EventAdmission, Text: "ignore:not_addressed"},
	} {
		l.add(e)
	}
	turns, decisions := l.copy()
	want := []turnEvents{
		{ID: "a", Events: []turn.Event{
			{Kind: turn.EventStarted, TurnID: "a"},
			{Kind: turn.EventDelta, TurnID: "a", Text: "hello"},
			{Kind: turn.EventThinking, TurnID: "a", Text: "hm"},
			{Kind: turn.EventDelta, TurnID: "a", Text: "bye", Iteration: 1},
		}},
		{ID: "b", Events: []turn.Event{{Kind: turn.EventDelta, TurnID: "b", Text: "other"}}},
	}
	if diff := cmp.Diff(want, turns); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
	if len(decisions) != 1 || decisions[0].Text != "ignore:not_addressed" {
		t.Errorf("decisions: %v", decisions)
	}
}

func TestTurnLogIsBounded(t *testing.T) {
	t.Parallel()
	var l turnLog
	for range 2 * turnsKept {
		l.add(turn.Event{Kind: turn.EventStarted, TurnID: turn.ID(strings.Repeat("x", len(l.turns)+1))})
	}
	for range 2 * decisionsKept {
		l.add(turn.Event{Kind: turn.EventAdmission})
	}
	for range 2 * eventsKept {
		l.add(turn.Event{Kind: turn.EventUsage, TurnID: "long"})
	}
	l.add(turn.Event{Kind: turn.EventDone, TurnID: "long"})
	for range 3 {
		l.add(turn.Event{Kind: turn.EventDelta, TurnID: "wordy", Text: strings.Repeat("x", textKept/2)})
	}
	turns, decisions := l.copy()
	if len(turns) != turnsKept || len(decisions) != decisionsKept {
		t.Errorf("%d turns and %d decisions are kept", len(turns), len(decisions))
	}
	long, wordy := turns[len(turns)-2], turns[len(turns)-1]
	if n := len(long.Events); n != eventsKept+1 || !long.Cut || long.Events[n-1].Kind != turn.EventDone {
		t.Errorf("a long turn: %d events, cut %v", n, long.Cut)
	}
	if n := len(wordy.Events[0].Text); n != textKept || !wordy.Cut {
		t.Errorf("a long text: %d bytes, cut %v", n, wordy.Cut)
	}
}
