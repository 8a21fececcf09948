package playground

import (
	"slices"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

// tourStep is a step of the guided tour. The page brings it about; here is seen that it happened.
type tourStep string

// The steps, in the tour's order.
const (
	tourTalk       tourStep = "talk"
	tourTool       tourStep = "tool"
	tourMemory     tourStep = "memory"
	tourApproval   tourStep = "approval"
	tourDeliberate tourStep = "deliberate"
	tourKill       tourStep = "kill"
)

// The tools by which the memory step is known.
const (
	createMemoryTool = "create_long_term_memory"
	recallMemoryTool = "recall_memory"
)

// tour is which steps have happened, seen from the events of turns alone: whoever did them, in whichever window, and not
// for a press on a button. The zero value is the beginning.
type tour struct {
	done []tourStep
	// calling are the running turns that have called tools; remembered: something was kept since the start.
	calling    map[turn.ID]bool
	remembered bool
}

// see takes an event and reports whether a step has happened with it.
func (t *tour) see(e turn.Event) bool {
	switch e.Kind {
	case turn.EventToolResult:
		if t.calling == nil {
			t.calling = map[turn.ID]bool{}
		}
		t.calling[e.TurnID] = true
		return t.seeCall(*e.Call)
	case turn.EventDone:
		called := t.calling[e.TurnID]
		delete(t.calling, e.TurnID)
		switch {
		case e.Status == store.TurnStoppedByUser:
			return t.tick(tourKill)
		case e.Status == store.TurnCompleted && !called:
			return t.tick(tourTalk)
		}
	case turn.EventAdmission, turn.EventStarted, turn.EventPlanned, turn.EventAttempt, turn.EventDelta, turn.EventThinking,
		turn.EventUsage, turn.EventToolCall, turn.EventContextAdded, turn.EventHidden:
	}
	return false
}

func (t *tour) seeCall(c turn.CallInfo) bool {
	switch {
	case c.Reason == store.CallReasonBlocked:
		return t.tick(tourDeliberate)
	case c.Approval != nil && c.Approval.By != "":
		return t.tick(tourApproval)
	case c.Status != store.CallDone:
		return false
	case c.Tool == createMemoryTool:
		t.remembered = true
	case c.Tool == recallMemoryTool && t.remembered:
		return t.tick(tourMemory)
	}
	return t.tick(tourTool)
}

func (t *tour) tick(s tourStep) bool {
	if slices.Contains(t.done, s) {
		return false
	}
	t.done = append(t.done, s)
	return true
}
