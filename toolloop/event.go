package toolloop

import (
	"fmt"
	"time"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
)

// Event is one thing the loop tells its observer. The set is closed; the end of the turn is told by the turn, after the
// channel is free.
//
//sumtype:decl
type Event interface{ event() }

// Delta is visible text of the current iteration.
type Delta struct{ Text string }

// Thinking is reasoning text of the current iteration.
type Thinking struct{ Text string }

// Used is the usage of one finished round trip, all zero where the provider did not tell it, and how the answer ended. A
// round trip that failed has one only when its usage is known.
type Used struct {
	Usage  providers.Usage
	Model  string
	Finish providers.FinishReason
}

// ToolCall announces a call. It may come twice for one key: when the response is complete, and again (Card) when an
// approval card is shown for it.
type ToolCall struct {
	Key       string
	Tool      string
	Arguments string
	Iteration int
	Card      bool
}

// ToolResult closes a call; it comes once for each announced call, on every path.
type ToolResult struct {
	Key       string
	Tool      string
	Iteration int
	Status    store.CallStatus
	Reason    store.CallReason
	// Result is the text the model was given, or would have been.
	Result   string
	Duration time.Duration
	// Gates are the checks that the call met, in order; the last one may be the one that refused it.
	Gates []Gate
	// Approval is set when a card was put up for the call.
	Approval *Approval
	// ReadOnly: the tool changes nothing.
	ReadOnly bool
	// Window is for how many further turns the tool stays offered because of this call; 0 when it opened no window.
	Window int
}

// GateName names one check of the execute stage (DESIGN section 5).
type GateName string

// The gates, in the order in which a call meets them.
const (
	GateCall      GateName = "name"
	GateStop      GateName = "not stopped"
	GateBatch     GateName = "calls per response"
	GateWhole     GateName = "arguments whole"
	GateAllowlist GateName = "allowlist"
	GateKnown     GateName = "known tool"
	GateProvider  GateName = "provider"
	GateTurn      GateName = "turn"
	GateSchema    GateName = "schema"
	GateApproval  GateName = "approval"
	GateRunnable  GateName = "runnable"
)

// Gate is one check that a call met. Note says why it refused, or what let the call through where that is no matter of
// course.
type Gate struct {
	Name   GateName
	Passed bool
	Note   string
}

// Approval is how a person was asked about a call.
type Approval struct {
	Approver registry.Approver
	Asked    time.Time
	Decided  time.Time
	State    CardState
	// By is who decided, Reason what they wrote; empty when nobody did.
	By     string
	Reason string
}

// ContextAdded tells that a restart put something into the context.
type ContextAdded struct {
	Label string
	Bytes int
}

func (Delta) event()        {}
func (Thinking) event()     {}
func (Used) event()         {}
func (ToolCall) event()     {}
func (ToolResult) event()   {}
func (ContextAdded) event() {}

// Observer is told the events of one turn, in order, from the turn's goroutine. It must not block; a panic in it is
// swallowed and logged once.
type Observer interface{ Observe(Event) }

// notify hands an event to the observer behind a recover guard: a broken consumer never ends the loop.
func (l *Loop) notify(t *Turn, e Event) {
	if t.Observer == nil {
		return
	}
	defer func() {
		if p := recover(); p != nil && !t.observerBroken {
			t.observerBroken = true
			l.log.Error().Str("turn", t.ID).Str("panic", fmt.Sprint(p)).Msg("turn.observer_panicked")
		}
	}()
	t.Observer.Observe(e)
}

// guard calls a port of the edge that must not end the turn by a panic.
func (l *Loop) guard(t *Turn, port string, call func()) {
	defer func() {
		if p := recover(); p != nil {
			l.log.Error().Str("turn", t.ID).Str("port", port).Str("panic", fmt.Sprint(p)).Msg("turn.port_panicked")
		}
	}()
	call()
}
