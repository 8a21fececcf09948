package toolloop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/toolloop"
)

func TestPreToolText(t *testing.T) {
	t.Parallel()
	row(t, "TL022 TL023", "text before a call stands on its entry, once", func(t *testing.T) {
		f := newFixture(t, answer(say(" let me "), say("remember "), call("create_long_term_memory", "")), answer(say("noted"))).
			with(newTool("create_long_term_memory", nil).spec)
		res := f.run()
		f.status(res, store.TurnCompleted)
		if got := f.turn.Entries()[0].PreToolText; got != " let me remember " {
			t.Errorf("on the entry: %q", got)
		}
		sent := f.model.sent(2)
		if told(sent, "let me remember") != 1 || sent[1].Content != " let me remember " || res.Text != "noted" {
			t.Errorf("sent %v, text %q", sent, res.Text)
		}
		if last := sent[len(sent)-1]; last.Role != "tool" {
			t.Errorf("the request ends with %v", last)
		}
		if d := cmp.Diff([]string{" let me remember ", "noted"}, res.Shown); d != "" {
			t.Error(d)
		}
	})
	row(t, "TL024", "white space is no text", func(t *testing.T) {
		f := newFixture(t, answer(say(" \n"), call("echo", "")), answer(say("ok"))).with(newTool("echo", nil).spec)
		f.status(f.run(), store.TurnCompleted)
		if f.turn.Entries()[0].PreToolText != "" || f.model.sent(2)[1].Content != "" {
			t.Errorf("%+v", f.turn.Entries()[0])
		}
	})
	row(t, "TL025", "each entry carries its own text", func(t *testing.T) {
		f := newFixture(t, answer(say("one"), call("echo", ""), call("echo", "")), answer(say("two"), call("echo", "")), answer(say("ok"))).
			with(newTool("echo", nil).spec)
		f.status(f.run(), store.TurnCompleted)
		var got []string
		for _, e := range f.turn.Entries() {
			got = append(got, e.ResponseID+" "+e.PreToolText)
		}
		if d := cmp.Diff([]string{"r1 one", "r1 ", "r2 two"}, got); d != "" {
			t.Error(d)
		}
		if sent := f.model.sent(3); told(sent, "one") != 1 || told(sent, "two") != 1 || len(sent[1].Calls) != 2 {
			t.Errorf("sent %v", sent)
		}
	})
}

func TestBatch(t *testing.T) {
	t.Parallel()
	row(t, "CD023", "three calls: in order, never at once", func(t *testing.T) {
		running, most := 0, 0
		x := newTool("echo", func(context.Context, registry.ToolContext) registry.Result {
			running++
			most = max(most, running)
			<-time.After(time.Second)
			running--
			return registry.OK("ok")
		})
		f := newFixture(t, answer(call("echo", `{"n":1}`), call("echo", `{"n":2}`), call("echo", `{"n":3}`)), answer(say("ok"))).with(x.spec)
		f.status(f.run(), store.TurnCompleted)
		if d := cmp.Diff([]string{`{"n":1}`, `{"n":2}`, `{"n":3}`}, x.args); d != "" || most != 1 {
			t.Error(d, most)
		}
		var keys []string
		for _, m := range f.model.sent(2)[2:] {
			keys = append(keys, m.CallKey)
		}
		if !slices.Equal(keys, []string{"c1", "c2", "c3"}) {
			t.Errorf("results %q", keys)
		}
	})
	row(t, "CD030", "a result is told once on each way to fail", func(t *testing.T) {
		f := newFixture(t, answer(call("nope", ""), call("echo", "[1]"), call("echo", `{"a":`), call("write", ""))).
			with(newTool("echo", nil).spec, newTool("write", nil, approval(registry.ApproverOwner)).spec)
		f.decides(0, deny(""))
		f.status(f.run(), store.TurnDenied)
		want := []string{"nope error/rejected", "echo error/malformed", "echo error/truncated", "write error/denied"}
		if d := cmp.Diff(want, f.events.results()); d != "" {
			t.Error(d)
		}
	})
	row(t, "CD031 CD032", "one provider id for several calls", func(t *testing.T) {
		n := 0
		x := newTool("count", func(context.Context, registry.ToolContext) registry.Result {
			n++
			return registry.OK(fmt.Sprint("result ", n))
		})
		f := newFixture(t, answer(pending{"count", "", "id"}, pending{"count", "", "id"}), answer(pending{"count", "", "id"}), answer(say("ok"))).with(x.spec)
		f.status(f.run(), store.TurnCompleted)
		want := []string{"count: result 1", "count: result 2", "count: result 3"}
		if d := cmp.Diff(want, results(f.model.sent(3))); d != "" {
			t.Error(d)
		}
	})
	row(t, "CD037", "40 calls in one response", func(t *testing.T) {
		x := newTool("echo", nil)
		var calls []any
		for range 40 {
			calls = append(calls, call("echo", ""))
		}
		f := newFixture(t, answer(calls...), answer(say("ok"))).with(x.spec)
		f.status(f.run(), store.TurnCompleted)
		if x.runs() != 32 || len(f.turn.Entries()) != 40 {
			t.Errorf("%d runs, %d entries", x.runs(), len(f.turn.Entries()))
		}
		for i := 32; i < 40; i++ {
			if r := f.reason(i); !strings.HasPrefix(r, "too many calls in one response: only the first 32 ") {
				t.Errorf("reason %q", r)
			}
		}
	})
	check(t, "surplus calls do not end a turn whose other calls worked", func(t *testing.T) {
		var calls []any
		for range 128 {
			calls = append(calls, call("echo", ""))
		}
		f := newFixture(t, answer(calls...), answer(say("ok"))).with(newTool("echo", nil).spec)
		f.limits.MaxConsecutiveErrors = 1
		f.status(f.run(), store.TurnCompleted)
	})
	check(t, "a surplus call without a name ends the attempt", func(t *testing.T) {
		calls := []any{}
		for range 32 {
			calls = append(calls, call("echo", ""))
		}
		f := newFixture(t, answer(append(calls, call("", ""))...)).with(newTool("echo", nil).spec)
		f.status(f.run(), store.TurnError)
		next := &model{t: t, script: []step{answer(say("ok"))}}
		f.status(f.attempt(next), store.TurnCompleted)
	})
}

func TestEndTurn(t *testing.T) {
	t.Parallel()
	ends := func(res registry.Result) func(context.Context, registry.ToolContext) registry.Result {
		res.EndTurn = true
		return gives(res)
	}
	row(t, "TL002 TL054", "a tool that ends the turn", func(t *testing.T) {
		for _, text := range []string{"", "there you go"} {
			f := newFixture(t, answer(say(text), call("deliver", ""), call("deliver", ""))).with(newTool("deliver", ends(registry.OK(nil))).spec)
			res := f.run()
			f.status(res, store.TurnCompleted)
			if res.Text != text || f.model.count() != 1 || len(f.turn.Entries()) != 1 {
				t.Errorf("text %q, %d round trips, %d entries", res.Text, f.model.count(), len(f.turn.Entries()))
			}
			if d := cmp.Diff([]string{"deliver done/", "deliver error/not_run"}, f.journal.list()); d != "" {
				t.Error(d)
			}
		}
	})
	row(t, "TL055", "a failure that ends the turn, counted first", func(t *testing.T) {
		for limit, want := range map[int]store.TurnStatus{2: store.TurnCompleted, 1: store.TurnError} {
			f := newFixture(t, answer(say("trying"), call("deliver", ""), call("deliver", ""))).with(newTool("deliver", ends(registry.Fail("no"))).spec)
			f.limits.MaxConsecutiveErrors = limit
			res := f.run()
			f.status(res, want)
			if d := cmp.Diff([]string{"deliver error/failed", "deliver error/not_run"}, f.journal.list()); d != "" {
				t.Error(d)
			}
		}
	})
}

func TestResults(t *testing.T) {
	t.Parallel()
	row(t, "TL057", "a success without data", func(t *testing.T) {
		f := newFixture(t, answer(call("do", "")), answer(say("ok"))).with(newTool("do", gives(registry.Result{Success: true, Message: "not for the model"})).spec)
		f.status(f.run(), store.TurnCompleted)
		if got := results(f.model.sent(2)); !slices.Equal(got, []string{`do: {"status":"completed"}`}) {
			t.Errorf("sent %q", got)
		}
		data, err := json.Marshal(f.turn.Entries()[0].FunctionResponse)
		if want := `{"name":"do","response":{"result":{"status":"completed"}}}`; err != nil || string(data) != want {
			t.Errorf("recorded %s", data)
		}
	})
	row(t, "TL058", "message before error before nothing", func(t *testing.T) {
		for want, res := range map[string]registry.Result{
			"try again":       {Message: "try again", Error: "E42"},
			"tool error: E42": {Error: "E42"},
			"tool error: the tool failed without saying why": {},
		} {
			f := newFixture(t, answer(call("do", "")), answer(say("ok"))).with(newTool("do", gives(res)).spec)
			f.status(f.run(), store.TurnCompleted)
			if f.reason(0) != want {
				t.Errorf("reason %q, want %q", f.reason(0), want)
			}
		}
	})
	row(t, "CD036", "a huge result of each kind", func(t *testing.T) {
		huge := strings.Repeat("é", 1<<19)
		for what, res := range map[string]registry.Result{
			"text": registry.OK(huge), "data": registry.OK(map[string]string{"x": huge}), "error": registry.Fail(huge), "message": {Message: huge},
		} {
			f := newFixture(t, answer(call("do", "")), answer(say("ok"))).with(newTool("do", gives(res)).spec)
			f.status(f.run(), store.TurnCompleted)
			got := f.model.sent(2)[2].Content
			if len(got) > 12*1024+200 || !utf8.ValidString(got) || !strings.Contains(got, "[truncated 10") {
				t.Errorf("%s: %d bytes, ending %q", what, len(got), got[len(got)-60:])
			}
			if n := len(f.journal.row("c1").Result); n > 12*1024+40 {
				t.Errorf("%s: the journal has %d bytes", what, n)
			}
			for _, e := range f.events.all {
				if r, ok := e.(toolloop.ToolResult); ok && len(r.Result) > 12*1024+40 {
					t.Errorf("%s: %d bytes were told", what, len(r.Result))
				}
			}
			for _, h := range f.notices.hidden {
				if len(h.Detail) > 2000 {
					t.Errorf("%s: a notice of %d bytes", what, len(h.Detail))
				}
			}
		}
	})
	check(t, "the cut says how much is missing, and does not count itself", func(t *testing.T) {
		f := newFixture(t, answer(call("do", "")), answer(say("ok"))).with(newTool("do", gives(registry.OK("aéb"))).spec)
		f.limits.ResultMaxBytes = 2
		f.status(f.run(), store.TurnCompleted)
		if got := results(f.model.sent(2)); !slices.Equal(got, []string{"do: a\n[truncated 3 bytes]"}) {
			t.Errorf("sent %q", got)
		}
	})
	check(t, "no escapes for < and >, digits kept, nothing lost", func(t *testing.T) {
		data := map[string]any{"a": "<b>", "n": json.Number("12345678901234567890")}
		f := newFixture(t, answer(call("do", "")), answer(say("ok"))).with(newTool("do", gives(registry.OK(data))).spec)
		f.status(f.run(), store.TurnCompleted)
		if got := results(f.model.sent(2)); !slices.Equal(got, []string{`do: {"a":"<b>","n":12345678901234567890}`}) {
			t.Errorf("sent %q", got)
		}
	})
	check(t, "an empty text is still a result", func(t *testing.T) {
		f := newFixture(t, answer(call("do", "")), answer(say("ok"))).with(newTool("do", gives(registry.OK(""))).spec)
		f.status(f.run(), store.TurnCompleted)
		if got := results(f.model.sent(2)); !slices.Equal(got, []string{`do: ""`}) || f.journal.row("c1").Result != `""` {
			t.Errorf("sent %q", got)
		}
	})
	check(t, "images stand on the entry", func(t *testing.T) {
		res := registry.OK("see")
		res.Images = []registry.ImageMetadata{{URL: "https://x/y.png", Width: 3}}
		f := newFixture(t, answer(call("do", "")), answer(say("ok"))).with(newTool("do", gives(res)).spec)
		f.status(f.run(), store.TurnCompleted)
		if d := cmp.Diff(res.Images, f.turn.Entries()[0].Images); d != "" {
			t.Error(d)
		}
	})
}
