package turn

import (
	"context"
	"errors"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/toolloop"
)

// surfaceObserver turns the loop's events into what people see and what observers are told. It runs on the turn's
// goroutine.
type surfaceObserver struct {
	m *Manager
	r *running
	s Surface
	// boundary is the iteration whose text has been closed; ran counts the calls that ran before.
	boundary int
	ran      int
}

// Observe implements toolloop.Observer.
func (o *surfaceObserver) Observe(e toolloop.Event) {
	switch e := e.(type) {
	case toolloop.Delta:
		o.s.Text(e.Text)
		o.m.tell(o.r, Event{Kind: EventDelta, Text: e.Text, Iteration: o.r.turn.Iteration()})
	case toolloop.Thinking:
		o.m.tell(o.r, Event{Kind: EventThinking, Text: e.Text, Iteration: o.r.turn.Iteration()})
	case toolloop.Used:
		told := Event{Kind: EventUsage, Finish: string(e.Finish), Iteration: o.r.turn.Iteration()}
		u := usageOf(e.Usage)
		o.r.spend(u)
		o.m.spending.add(o.r, u.CostNanos)
		if u != (store.Usage{}) && u != (store.Usage{Unpriced: true}) {
			if sent, model := o.r.used(); sent > 0 {
				o.m.estimates.learn(model, sent, e.Usage.Input)
			}
			told.Usage = &u
		}
		o.m.tell(o.r, told)
	case toolloop.ToolCall:
		o.call(e)
	case toolloop.ToolResult:
		o.ran++
		info := CallInfo{
			Key: e.Key, Tool: e.Tool, Status: e.Status, Reason: e.Reason, Result: e.Result, Duration: e.Duration, Iteration: e.Iteration,
			Gates: gatesOf(e.Gates), Approval: approvalOf(e.Approval), Window: e.Window, ReadOnly: e.ReadOnly,
		}
		o.r.called(info)
		o.m.tell(o.r, Event{Kind: EventToolResult, Call: &info, Iteration: e.Iteration})
	case toolloop.ContextAdded:
		o.m.tell(o.r, Event{Kind: EventContextAdded, Text: e.Label, Iteration: o.r.turn.Iteration()})
	}
}

func (o *surfaceObserver) call(e toolloop.ToolCall) {
	if o.boundary != e.Iteration+1 {
		o.boundary = e.Iteration + 1
		o.s.Boundary()
		o.s.Progress(Progress{Tool: e.Tool, Count: o.ran, KillHint: e.Iteration >= o.m.Loop.SoftWarn()})
	}
	if e.Card {
		o.s.Progress(Progress{Tool: e.Tool, Count: o.ran, Waiting: true})
	}
	info := CallInfo{
		Key: e.Key, Tool: e.Tool, Arguments: e.Arguments, Status: store.CallRunning, Card: e.Card, Iteration: e.Iteration,
	}
	o.r.called(info)
	o.m.tell(o.r, Event{Kind: EventToolCall, Call: &info, Iteration: e.Iteration})
}

func gatesOf(gates []toolloop.Gate) []GateInfo {
	out := make([]GateInfo, len(gates))
	for i, g := range gates {
		out[i] = GateInfo{Gate: string(g.Name), Passed: g.Passed, Note: g.Note}
	}
	return out
}

func approvalOf(a *toolloop.Approval) *ApprovalInfo {
	if a == nil {
		return nil
	}
	return &ApprovalInfo{
		Approver: a.Approver, Asked: a.Asked.UTC(), Decided: a.Decided.UTC(), State: string(a.State), By: a.By, Reason: a.Reason,
	}
}

// notices passes what the loop says outside the answer to the edge.
type notices struct {
	m *Manager
	r *running
}

// StillWorking implements toolloop.Notices.
func (n notices) StillWorking() {
	n.m.notify(Notice{Kind: NoticeStillBusy, ChannelID: n.r.in.ChannelID, Text: stillBusyText})
}

// Hidden implements toolloop.Notices. Notices of private turns never leave them.
func (n notices) Hidden(h toolloop.HiddenNotice) {
	n.m.tell(n.r, Event{Kind: EventHidden, Text: h.Title + ": " + h.Tool + ": " + h.Detail})
	if n.r.in.Private || n.r.in.GuildID == "" {
		return
	}
	n.m.aside("a hidden notice", func(ctx context.Context) error {
		n.m.Edge.Hidden(ctx, HiddenNotice{
			TurnID: n.r.id, ChannelID: n.r.in.ChannelID, GuildID: n.r.in.GuildID, Title: h.Title, Tool: h.Tool, Detail: h.Detail,
		})
		return nil
	})
}

// cards shows the loop's approval cards on the turn's surface, and records them.
type cards struct {
	m *Manager
	r *running
	s Surface
}

// Show implements toolloop.Cards.
func (c cards) Show(ctx context.Context, card Card) error {
	c.m.opened(ctx, card)
	message, err := c.s.Ask(ctx, card)
	if err == nil {
		c.m.shown(card.Token, message)
	}
	return err
}

// Close implements toolloop.Cards. From here on the turn waits for nobody.
func (c cards) Close(ctx context.Context, token string, s CardState, d Decision) {
	c.r.decided()
	c.m.closed(token, s, d)
	c.s.CloseCard(ctx, token, s)
}

// deafSurface stands in where the edge could not open one: nothing is shown.
type deafSurface struct{}

// errDeaf is why nobody can answer a card there.
var errDeaf = errors.New("the turn is not shown anywhere")

func (deafSurface) Text(string)                                  {}
func (deafSurface) Boundary()                                    {}
func (deafSurface) Progress(Progress)                            {}
func (deafSurface) Retract(context.Context)                      {}
func (deafSurface) Ask(context.Context, Card) (string, error)    { return "", errDeaf }
func (deafSurface) CloseCard(context.Context, string, CardState) {}
func (deafSurface) Finish(context.Context, Ending) Delivered     { return Delivered{Err: errDeaf} }
