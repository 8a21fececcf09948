package toolloop_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/toolloop"
)

// Whoever watches sees which checks each call met, which one refused it and why.
func TestGatesAreTold(t *testing.T) {
	t.Parallel()
	free := func() registry.Tool { return newTool("free", nil).spec }
	asks := func() registry.Tool { return newTool("asks", nil, approval(registry.ApproverModerator)).spec }
	for name, c := range map[string]struct {
		tool    registry.Tool
		call    step
		prepare func(*fixture)
		want    string // the gates passed, then the one that refused with a ! before it
		why     string
	}{
		"ran": {free(), answer(call("free", "{}")), nil, "name, not stopped, arguments whole, allowlist, known tool, provider, turn, schema", ""},
		"not allowed": {
			free(), answer(call("free", "{}")), func(f *fixture) { f.turn.Allow = registry.Restrict() },
			"name, not stopped, arguments whole, !allowlist", "blocked by deliberate tool mode",
		},
		"unknown": {free(), answer(call("fere", "{}")), nil, "name, not stopped, arguments whole, allowlist, !known tool", "did you mean"},
		"switched off": {
			free(), answer(call("free", "{}")), func(f *fixture) { f.turn.Switches = map[string]bool{"free": false} },
			"name, not stopped, arguments whole, allowlist, known tool, provider, !turn", "not available for the current turn",
		},
		"malformed": {
			free(), answer(call("free", "{x}")), nil,
			"name, not stopped, arguments whole, allowlist, known tool, provider, turn, !schema", "not one JSON object",
		},
		"truncated": {free(), cutOff(call("free", `{"a`)), nil, "name, not stopped, !arguments whole", "truncated"},
		"approved": {
			asks(), answer(call("asks", "{}")), func(f *fixture) { f.decides(0, approveIt()) },
			"name, not stopped, arguments whole, allowlist, known tool, provider, turn, schema, approval", "",
		},
		"denied": {
			asks(), answer(call("asks", "{}")), func(f *fixture) { f.decides(0, deny("no")) },
			"name, not stopped, arguments whole, allowlist, known tool, provider, turn, schema, !approval", "denied by user: no",
		},
		"killed at the card": {
			asks(), answer(call("asks", "{}")), func(f *fixture) { f.after(time.Minute, f.kill) },
			"name, not stopped, arguments whole, allowlist, known tool, provider, turn, schema, !approval", "stopped before it ran",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, c.call, answer(say("ok"))).with(c.tool)
				if c.prepare != nil {
					c.prepare(f)
				}
				f.run()
				r := ended(t, f)
				var got []string
				why := ""
				for _, g := range r.Gates {
					if g.Passed {
						got = append(got, string(g.Name))
						continue
					}
					got, why = append(got, "!"+string(g.Name)), g.Note
				}
				if text := strings.Join(got, ", "); text != c.want || !strings.Contains(why, c.why) || (why == "") != (c.why == "") {
					t.Errorf("gates: %s (%q), want %s (%q)", text, why, c.want, c.why)
				}
			})
		})
	}
}

// An approval and an opened window are told with the result.
func TestApprovalAndWindowAreTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, _ := asking(t, answer(call("write", "{}")), answer(say("ok")))
		f.turn.Allow = registry.Restrict(registry.Allowed{Tool: "write", Source: registry.SourceBuiltIn, Trigger: "writ*"})
		f.decides(0, approveIt())
		f.run()
		r := ended(t, f)
		if a := r.Approval; a == nil || a.By != "ada" || a.State != toolloop.CardApproved || a.Approver != registry.ApproverOwner || a.Decided.IsZero() {
			t.Errorf("approval %+v", a)
		}
		if r.Window != 4 || len(f.windows.retained) == 0 {
			t.Errorf("window %d", r.Window)
		}
		if note := r.Gates[3].Note; note != "built-in trigger writ*" {
			t.Errorf("the allowlist let it through for %q", note)
		}
	})
}

// ended is the result of a run's first call.
func ended(t *testing.T, f *fixture) toolloop.ToolResult {
	t.Helper()
	for _, e := range f.events.all {
		if r, ok := e.(toolloop.ToolResult); ok {
			return r
		}
	}
	t.Fatal("no call ended")
	return toolloop.ToolResult{}
}
