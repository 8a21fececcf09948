package toolloop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
)

// reason gives the reason inside the failure object of the n-th entry.
func (f *fixture) reason(n int) string {
	f.t.Helper()
	if n >= len(f.turn.Entries()) {
		f.t.Fatalf("%d entries", len(f.turn.Entries()))
	}
	data, err := json.Marshal(f.turn.Entries()[n])
	if err != nil {
		f.t.Fatal(err)
	}
	var e struct {
		FunctionResponse struct {
			Name     string
			Response struct {
				Result struct {
					Status   string
					ToolName string `json:"tool_name"`
					Reason   string
				}
			}
		}
	}
	if err := json.Unmarshal(data, &e); err != nil {
		f.t.Fatalf("%s: %v", data, err)
	}
	r := e.FunctionResponse.Response.Result
	if r.Status != "tool_execution_failed" || r.ToolName != e.FunctionResponse.Name {
		f.t.Fatalf("entry %d is no failure object: %s", n, data)
	}
	return r.Reason
}

func TestUnusableCall(t *testing.T) {
	t.Parallel()
	row(t, "TL014", "a call without a name", func(t *testing.T) {
		for _, name := range []string{"", " ", "\n\t"} {
			echo := newTool("echo", nil)
			f := newFixture(t, answer(call(name, `{"a":1}`), call("echo", ""))).with(echo.spec)
			f.status(f.run(), store.TurnError)
			if echo.runs() != 0 || len(f.turn.Entries()) != 0 {
				t.Errorf("%d runs, %d entries", echo.runs(), len(f.turn.Entries()))
			}
			if got := f.log.lines("tool.malformed_call", `"level":"error"`, `"arguments_bytes":7`); len(got) != 1 {
				t.Errorf("log: %v", f.log.b.String())
			}
		}
	})
}

func TestArguments(t *testing.T) {
	t.Parallel()
	row(t, "CD012 CD013", "no arguments", func(t *testing.T) {
		for _, raw := range []string{"", "  \n", "null", "{}"} {
			echo := newTool("echo", nil)
			f := newFixture(t, answer(call("echo", raw)), answer(say("ok"))).with(echo.spec)
			f.status(f.run(), store.TurnCompleted)
			if !slices.Equal(echo.args, []string{"{}"}) {
				t.Errorf("%q: called with %q", raw, echo.args)
			}
		}
	})
	row(t, "CD015", "an object inside a string", func(t *testing.T) {
		echo := newTool("echo", nil)
		f := newFixture(t, answer(call("echo", `"{\"a\":1}"`)), answer(say("ok"))).with(echo.spec)
		f.status(f.run(), store.TurnCompleted)
		if !slices.Equal(echo.args, []string{`{"a":1}`}) {
			t.Errorf("called with %q", echo.args)
		}
		if row := f.journal.row("c1"); row.Arguments != `"{\"a\":1}"` {
			t.Errorf("the journal has %q, not what the model sent", row.Arguments)
		}
	})
	row(t, "CD016", "no object", func(t *testing.T) {
		for _, raw := range []string{"[1]", "[]", "5 ", `"x"`, `{"a":1} x`, `{"a":1,"a":2}`, `{a:1}`} {
			echo := newTool("echo", nil)
			f := newFixture(t, answer(call("echo", raw)), answer(say("ok"))).with(echo.spec)
			f.status(f.run(), store.TurnCompleted)
			if echo.runs() != 0 || !strings.HasPrefix(f.reason(0), "tool error: the arguments are not one JSON object: ") {
				t.Errorf("%q: %d runs, reason %q", raw, echo.runs(), f.reason(0))
			}
			if got := f.journal.list(); !slices.Equal(got, []string{"echo error/malformed"}) {
				t.Errorf("%q: journal %q", raw, got)
			}
		}
	})
	check(t, "violations of the schema, all at once", func(t *testing.T) {
		x := newTool("page", nil, func(t *registry.Tool) {
			t.Schema = json.RawMessage(`{"type":"object","properties":{"limit":{"type":"integer","minimum":1},"name":{"type":"string"}},"required":["name"]}`)
		})
		f := newFixture(t, answer(call("page", `{"limit":0}`)), answer(say("ok"))).with(x.spec)
		f.status(f.run(), store.TurnCompleted)
		if r := f.reason(0); x.runs() != 0 || !strings.Contains(r, `field "limit": must be >= 1`) || !strings.Contains(r, `field "name": required`) {
			t.Errorf("%d runs, reason %q", x.runs(), r)
		}
	})
	row(t, "TL065", "an alias", func(t *testing.T) {
		x := newTool("create_long_term_memory", nil, func(t *registry.Tool) { t.Aliases = []string{"remember_this_fact"} })
		f := newFixture(t, answer(call("remember_this_fact", `{"fact":"tea"}`)), answer(say("ok"))).with(x.spec)
		f.turn.Allow = registry.Restrict(registry.Allowed{Tool: "create_long_term_memory"}) // resolved before the list is asked
		f.status(f.run(), store.TurnCompleted)
		if x.runs() != 1 || f.turn.Entries()[0].FunctionResponse.Name != "create_long_term_memory" {
			t.Errorf("%d runs, entry %+v", x.runs(), f.turn.Entries()[0])
		}
	})
	row(t, "TL066", "opaque ids", func(t *testing.T) {
		x := newTool("react", nil, func(t *registry.Tool) {
			t.Schema = json.RawMessage(`{"type":"object","properties":{"message_id":{"type":"string"}}}`)
			t.IDArguments = []string{"message_id"}
		})
		f := newFixture(t, answer(call("react", `{"message_id":"ref_3"}`), call("react", `{"message_id":"ref_9"}`),
			call("react", `{"message_id":"987654321098765432"}`)), answer(say("ok"))).with(x.spec)
		f.status(f.run(), store.TurnCompleted)
		want := []string{`{"message_id":"123456789012345678"}`, `{"message_id":"ref_9"}`, `{"message_id":"987654321098765432"}`}
		if d := cmp.Diff(want, x.args); d != "" {
			t.Error(d)
		}
		if got := f.log.lines("tool.unknown_id", `"level":"warn"`); len(got) != 1 || !strings.Contains(got[0], "ref_9") {
			t.Errorf("warned %q", got)
		}
	})
	check(t, "tools share nothing of the turn unlocked", func(t *testing.T) {
		x := newTool("vandal", func(_ context.Context, tc registry.ToolContext) registry.Result {
			tc.Settings["a"], tc.Flags["b"] = "changed", false
			return registry.OK(nil)
		})
		f := newFixture(t, answer(call("vandal", "")), answer(say("ok"))).with(x.spec)
		f.turn.Settings, f.turn.Flags = map[string]string{"a": "as it was"}, map[string]bool{"b": true}
		f.status(f.run(), store.TurnCompleted)
		if f.turn.Settings["a"] != "as it was" || !f.turn.Flags["b"] {
			t.Errorf("%v, %v", f.turn.Settings, f.turn.Flags)
		}
		if _, err := x.context(0).Live.Items(); err == nil {
			t.Error("the turn is still open to a call that has ended")
		}
	})
	check(t, "a tool that changes its arguments changes nothing of ours", func(t *testing.T) {
		x := newTool("vandal", nil)
		x.spec.Run = func(_ context.Context, _ registry.ToolContext, args json.RawMessage) registry.Result {
			for i := range args {
				args[i] = '!'
			}
			return registry.OK(nil)
		}
		f := newFixture(t, answer(call("vandal", `{"a":1}`)), answer(say("ok"))).with(x.spec)
		f.status(f.run(), store.TurnCompleted)
		if got := f.model.sent(2)[1].Calls[0].Arguments; got != `{"a":1}` {
			t.Errorf("replayed as %q", got)
		}
	})
}

func TestTruncated(t *testing.T) {
	t.Parallel()
	row(t, "TL041 CD014", "cut arguments, then the whole call", func(t *testing.T) {
		echo := newTool("echo", nil)
		f := newFixture(t, answer(call("echo", `{"keep":"x","a":`)), answer(call("echo", `{"a":1}`)), answer(say("ok"))).with(echo.spec)
		f.status(f.run(), store.TurnCompleted)
		if !slices.Equal(echo.args, []string{`{"a":1}`}) {
			t.Errorf("called with %q", echo.args)
		}
		if r := f.reason(0); !strings.Contains(r, "truncated") || !strings.Contains(r, "nothing was executed") {
			t.Errorf("reason %q", r)
		}
		if c := f.model.sent(2)[1].Calls[0]; c.Arguments != "{}" || string(c.Object) != "{}" {
			t.Errorf("replayed %+v", c)
		}
		if row := f.journal.row("c1"); row.Arguments != "{}" || row.Reason != store.CallReasonTruncated {
			t.Errorf("journal %+v", row)
		}
		if got := f.notices.titled("Truncated tool call refused"); len(got) != 1 || len(f.notices.hidden) != 1 || !strings.Contains(got[0].Detail, "keep") {
			t.Errorf("notices %v", f.notices.hidden)
		}
		if got := f.log.lines("tool.arguments_truncated", `"level":"error"`); len(got) != 1 {
			t.Errorf("logged %q", got)
		}
		for _, e := range f.events.all {
			if strings.Contains(fmt.Sprint(e), "keep") {
				t.Errorf("told: %v", e)
			}
		}
	})
	row(t, "TL042", "cut and not on the list", func(t *testing.T) {
		f := newFixture(t, answer(call("echo", `{"a":`)), answer(say("ok"))).with(newTool("echo", nil).spec)
		f.turn.Allow = registry.Restrict()
		f.status(f.run(), store.TurnCompleted)
		if r := f.reason(0); !strings.Contains(r, "truncated") {
			t.Errorf("reason %q", r)
		}
	})
	row(t, "TL043", "always cut", func(t *testing.T) {
		echo := newTool("echo", nil)
		f := newFixture(t, answer(call("echo", `{"a":`))).with(echo.spec)
		f.model.endless = true
		f.status(f.run(), store.TurnError)
		if echo.runs() != 0 || f.model.count() != 5 {
			t.Errorf("%d runs, %d round trips", echo.runs(), f.model.count())
		}
	})
	row(t, "TL044", "cut in a passive turn", func(t *testing.T) {
		f := newFixture(t, answer(call("echo", `{"a":`)), answer(call("nope", "")), answer(say("ok"))).with(newTool("echo", nil).spec)
		f.turn.Deliberate = false
		f.status(f.run(), store.TurnCompleted)
		if len(f.notices.hidden) != 1 || f.notices.hidden[0].Title != "Truncated tool call refused" {
			t.Errorf("notices %v", f.notices.hidden)
		}
	})
	for _, x := range []struct{ numbers, what, raw, keys string }{
		{"TL160", "a cut string value", `{"a":"x","b":"y`, "whole: a"},
		{"TL161", "a number at the very end", `{"a":"x","n":12345`, "whole: a"},
		{"TL162", "a cut list", `{"a":"x","n":[1, 2`, "whole: a"},
		{"TL163", "an open object without anything", `{`, "whole: none"},
	} {
		row(t, x.numbers, x.what, func(t *testing.T) {
			echo := newTool("echo", nil)
			f := newFixture(t, answer(call("echo", x.raw)), answer(say("ok"))).with(echo.spec)
			f.status(f.run(), store.TurnCompleted)
			if got := f.notices.hidden; echo.runs() != 0 || len(got) != 1 || !strings.HasSuffix(got[0].Detail, x.keys) {
				t.Errorf("%d runs, notices %v", echo.runs(), got)
			}
		})
	}
	row(t, "TL164", "every prefix of a real payload", func(t *testing.T) {
		const payload = `{"message":"h\u00e9 \"quoted\"","count":12345,"tags":["a",null,true],"deep":{"x":[{"y":-1.5e3}]}}`
		for n := 1; n < len(payload); n++ {
			echo := newTool("echo", nil)
			f := newFixture(t, answer(call("echo", payload[:n])), answer(say("ok"))).with(echo.spec)
			f.status(f.run(), store.TurnCompleted)
			if echo.runs() != 0 {
				t.Fatalf("the tool ran with %q", echo.args)
			}
			for _, m := range f.model.sent(2) {
				if strings.Contains(fmt.Sprint(m), "count") {
					t.Fatalf("sent back: %v", m)
				}
			}
		}
	})
	check(t, "an answer cut at the output limit", func(t *testing.T) {
		free, asks, bare := newTool("free", nil), newTool("asks", nil, approval(registry.ApproverOwner)), newTool("bare", nil)
		f := newFixture(t, cutOff(call("free", `{"a":1}`), call("asks", `{"secret":1}`), call("bare", "")), answer(say("ok"))).
			with(free.spec, asks.spec, bare.spec)
		f.status(f.run(), store.TurnCompleted)
		want := []string{"free done/", "asks error/truncated", "bare error/truncated"}
		if d := cmp.Diff(want, f.journal.list()); d != "" || len(f.cards.shown) != 0 || asks.runs()+bare.runs() != 0 {
			t.Error(d, f.cards.shown)
		}
		if strings.Contains(fmt.Sprint(f.events.all), "secret") {
			t.Error("the arguments of a truncated call were told")
		}
	})
}

func TestAllowlist(t *testing.T) {
	t.Parallel()
	row(t, "TL007", "a tool that is not on the list", func(t *testing.T) {
		echo := newTool("echo", nil)
		f := newFixture(t, answer(call("echo", "")), answer(call("b", "")), answer(say("ok"))).with(echo.spec, newTool("b", nil).spec, newTool("a", nil).spec)
		f.turn.Allow = registry.Restrict(registry.Allowed{Tool: "b"}, registry.Allowed{Tool: "a"})
		f.status(f.run(), store.TurnCompleted)
		want := `echo: {"status":"blocked_by_deliberate_tool_mode","functionName":"echo","allowedToolNames":["a","b"]}`
		if got := results(f.model.sent(2)); echo.runs() != 0 || !slices.Equal(got, []string{want}) {
			t.Errorf("%d runs, sent %q", echo.runs(), got)
		}
		if got := f.journal.list(); !slices.Equal(got, []string{"echo error/blocked", "b done/"}) {
			t.Errorf("journal %q", got)
		}
		if got := f.model.offered(1); !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("offered %q", got)
		}
		if got := f.windows.retained; !slices.Equal(got, []string{"chan b 4"}) {
			t.Errorf("retained %q", got)
		}
	})
	row(t, "TL008", "with the mode off", func(t *testing.T) {
		echo := newTool("echo", nil)
		f := newFixture(t, answer(call("echo", "")), answer(say("ok"))).with(echo.spec)
		f.status(f.run(), store.TurnCompleted)
		if echo.runs() != 1 || len(f.windows.retained) != 0 {
			t.Errorf("%d runs, retained %q", echo.runs(), f.windows.retained)
		}
	})
	row(t, "TL009", "blocked again and again", func(t *testing.T) {
		echo := newTool("echo", nil)
		f := newFixture(t, answer(call("echo", ""))).with(echo.spec)
		f.model.endless = true
		f.turn.Allow = registry.Restrict()
		f.status(f.run(), store.TurnError)
		if echo.runs() != 0 || f.model.count() != 5 {
			t.Errorf("%d runs, %d round trips", echo.runs(), f.model.count())
		}
		if got := results(f.model.sent(2)); !strings.HasSuffix(got[0], `"allowedToolNames":[]}`) {
			t.Errorf("sent %q", got)
		}
	})
	row(t, "TL056", "what a trigger exposed is told to the operators", func(t *testing.T) {
		f := newFixture(t, answer(call("echo", ""), call("b", "")), answer(say("ok"))).with(newTool("echo", gives(registry.Fail("no"))).spec, newTool("b", nil).spec)
		f.turn.Allow = registry.Restrict(
			registry.Allowed{Tool: "echo", Source: registry.SourceCustom, Trigger: "say `it`"}, registry.Allowed{Tool: "b", Source: registry.SourceWindow})
		f.status(f.run(), store.TurnCompleted)
		got := f.notices.titled("Deliberate trigger")
		if len(got) != 1 || got[0].Tool != "echo" || got[0].Detail != `trigger "say 'it'", source custom` {
			t.Errorf("notices %v", got)
		}
	})
}

func TestGates(t *testing.T) {
	t.Parallel()
	row(t, "TL062 CD008", "an unknown tool", func(t *testing.T) {
		f := newFixture(t, answer(call("web_serch", "")), answer(say("ok"))).with(newTool("web_search", nil).spec)
		f.status(f.run(), store.TurnCompleted)
		if r := f.reason(0); !strings.HasPrefix(r, "unknown tool: web_serch; ") || !strings.Contains(r, `"web_search"`) {
			t.Errorf("reason %q", r)
		}
	})
	row(t, "TL063", "closest to one that is switched off", func(t *testing.T) {
		f := newFixture(t, answer(call("web_serch", "")), answer(say("ok"))).with(newTool("web_search", nil).spec, newTool("other", nil).spec)
		f.turn.Switches = map[string]bool{"web_search": false}
		f.status(f.run(), store.TurnCompleted)
		if r := f.reason(0); strings.Contains(r, "web_search") {
			t.Errorf("reason %q", r)
		}
	})
	row(t, "CD009", "unknown, with an approver that always denies", func(t *testing.T) {
		f := newFixture(t, answer(call("nope", "")), answer(say("ok"))).with(newTool("asks", nil, approval(registry.ApproverOwner)).spec)
		f.decides(0, deny(""))
		f.status(f.run(), store.TurnCompleted)
		if len(f.cards.shown) != 0 {
			t.Error("somebody was asked")
		}
	})
	row(t, "TL064", "not for this provider, and not in this turn", func(t *testing.T) {
		a := newTool("a", nil, func(t *registry.Tool) { t.Provider = func(p string) bool { return p == "else" } })
		b := newTool("b", nil, func(t *registry.Tool) { t.Turn = func(registry.TurnView) bool { return false } })
		f := newFixture(t, answer(call("a", ""), call("b", "")), answer(say("ok"))).with(a.spec, b.spec)
		f.status(f.run(), store.TurnCompleted)
		if r := f.reason(0); r != "a is not available for provider scripted" {
			t.Errorf("provider: %q", r)
		}
		if r := f.reason(1); !strings.Contains(r, "not available for the current turn") || !strings.Contains(r, "do not retry") {
			t.Errorf("turn: %q", r)
		}
		if len(f.log.lines("tool.refused", `"tool":"a"`, `"level":"error"`)) != 1 || len(f.log.lines("tool.refused", `"tool":"b"`, `"level":"warn"`)) != 1 {
			t.Error("logged at other levels")
		}
	})
	check(t, "the name of a tool that does not exist is bounded", func(t *testing.T) {
		long := strings.Repeat("é", 5000)
		f := newFixture(t, answer(call(long, `{"a":1}`)), answer(say("ok"))).with(newTool("echo", nil).spec)
		f.status(f.run(), store.TurnCompleted)
		if n := len(fmt.Sprint(f.events.all, f.journal.rows, f.model.sent(2))); n > 4000 {
			t.Errorf("%d bytes", n)
		}
	})
}
