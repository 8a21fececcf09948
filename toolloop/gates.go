package toolloop

import "github.com/parleybot/parley/registry"

// passed notes that a call went through a gate.
func (x *execution) passed(g GateName, note string) {
	if x.gates == nil {
		x.gates = make([]Gate, 0, 10) // the gates of a call that runs
	}
	x.gates = append(x.gates, Gate{Name: g, Passed: true, Note: note})
}

// refusedAt notes which gate ended a call with this outcome; the reason is the one that was just given for its end.
func (x *execution) refusedAt(g GateName, out Outcome) Outcome {
	x.gates = append(x.gates, Gate{Name: g, Note: x.ended.Result})
	return out
}

// passedBefore notes the gates of Resolve that a call passed before a rejection of this kind, and returns the gate that
// rejected it.
func (x *execution) passedBefore(k registry.RejectionKind) GateName {
	if k == registry.UnknownTool {
		return GateKnown
	}
	x.passed(GateKnown, "")
	if k == registry.ProviderUnsupported {
		return GateProvider
	}
	x.passed(GateProvider, "")
	if k == registry.TurnUnavailable {
		return GateTurn
	}
	x.passed(GateTurn, "")
	return GateSchema
}

// allowedBy says what put a call's tool on the list of deliberate mode; nothing when the mode is off.
func (x *execution) allowedBy() string {
	e, ok := x.turn.Allow.Entry(x.name)
	switch {
	case !ok:
		return ""
	case e.Trigger != "":
		return string(e.Source) + " trigger " + e.Trigger
	}
	return string(e.Source)
}

// told is what the observer hears of a call that has ended.
func (x *execution) told() ToolResult {
	r := x.ended
	r.Gates, r.Approval, r.Window = x.gates, x.approval, x.window
	r.ReadOnly = x.tool != nil && x.tool.ReadOnly
	return r
}
