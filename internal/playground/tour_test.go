package playground

import (
	"slices"
	"testing"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

func TestTourTicksWhatHappened(t *testing.T) {
	t.Parallel()
	call := func(id turn.ID, c turn.CallInfo) turn.Event {
		return turn.Event{Kind: turn.EventToolResult, TurnID: id, Call: &c}
	}
	done := func(id turn.ID, s store.TurnStatus) turn.Event {
		return turn.Event{Kind: turn.EventDone, TurnID: id, Status: s}
	}
	for name, c := range map[string]struct {
		events []turn.Event
		want   []tourStep
	}{
		"nothing":               {[]turn.Event{{Kind: turn.EventStarted, TurnID: "a"}, done("a", store.TurnError)}, nil},
		"an answer":             {[]turn.Event{done("a", store.TurnCompleted), done("b", store.TurnCompleted)}, []tourStep{tourTalk}},
		"a tool":                {[]turn.Event{call("a", turn.CallInfo{Tool: "x", Status: store.CallDone}), done("a", store.TurnCompleted)}, []tourStep{tourTool}},
		"a tool that failed":    {[]turn.Event{call("a", turn.CallInfo{Tool: "x", Status: store.CallError}), done("a", store.TurnCompleted)}, nil},
		"recalling nothing":     {[]turn.Event{call("a", turn.CallInfo{Tool: recallMemoryTool, Status: store.CallDone})}, []tourStep{tourTool}},
		"remembered, recalled":  {[]turn.Event{call("a", turn.CallInfo{Tool: createMemoryTool, Status: store.CallDone}), call("b", turn.CallInfo{Tool: recallMemoryTool, Status: store.CallDone})}, []tourStep{tourTool, tourMemory}},
		"denied by a person":    {[]turn.Event{call("a", turn.CallInfo{Status: store.CallError, Approval: &turn.ApprovalInfo{By: "1"}})}, []tourStep{tourApproval}},
		"a card nobody decided": {[]turn.Event{call("a", turn.CallInfo{Status: store.CallError, Approval: &turn.ApprovalInfo{State: "expired"}})}, nil},
		"blocked":               {[]turn.Event{call("a", turn.CallInfo{Status: store.CallError, Reason: store.CallReasonBlocked})}, []tourStep{tourDeliberate}},
		"killed":                {[]turn.Event{done("a", store.TurnStoppedByUser)}, []tourStep{tourKill}},
	} {
		var tr tour
		ticks := 0
		for _, e := range c.events {
			if tr.see(e) {
				ticks++
			}
		}
		if !slices.Equal(tr.done, c.want) || ticks != len(c.want) {
			t.Errorf("%s: %v after %d ticks, want %v", name, tr.done, ticks, c.want)
		}
	}
}
