package toolloop_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
)

func TestOneShot(t *testing.T) {
	t.Parallel()
	stm := func(run func(context.Context, registry.ToolContext) registry.Result) *tool {
		return newTool("update_short_term_memory", run, oneShot, endsSpoken)
	}
	row(t, "TL026", "after visible text the turn ends", func(t *testing.T) {
		f := newFixture(t, answer(say("noted"), call("update_short_term_memory", "{}"))).with(stm(nil).spec)
		res := f.run()
		f.status(res, store.TurnCompleted)
		if res.Text != "noted" || f.model.count() != 1 || len(f.turn.Entries()) != 1 {
			t.Errorf("text %q, %d round trips, %d entries", res.Text, f.model.count(), len(f.turn.Entries()))
		}
	})
	row(t, "TL027 TL028", "without text it goes on, and the tool is gone for this turn", func(t *testing.T) {
		x := stm(nil)
		f := newFixture(t, answer(call("update_short_term_memory", "{}"), call("update_short_term_memory", "{}")),
			answer(call("update_short_term_memory", "{}")), answer(say("ok"))).with(x.spec)
		f.status(f.run(), store.TurnCompleted)
		if x.runs() != 1 || !strings.Contains(f.reason(1), "not available for the current turn") || !strings.Contains(f.reason(2), "current turn") {
			t.Errorf("%d runs, reasons %q, %q", x.runs(), f.reason(1), f.reason(2))
		}
		if len(f.model.offered(1)) != 1 || len(f.model.offered(2)) != 0 {
			t.Error("still offered")
		}
	})
	row(t, "TL029", "a failure leaves it open", func(t *testing.T) {
		n := 0
		x := stm(func(context.Context, registry.ToolContext) registry.Result {
			if n++; n == 1 {
				return registry.Fail("store away")
			}
			return registry.OK(nil)
		})
		f := newFixture(t, answer(say("noted"), call("update_short_term_memory", "{}")), answer(call("update_short_term_memory", "{}")), answer(say("ok"))).with(x.spec)
		f.status(f.run(), store.TurnCompleted)
		if x.runs() != 2 {
			t.Errorf("%d runs", x.runs())
		}
	})
	check(t, "with another call beside it, the model goes on", func(t *testing.T) {
		f := newFixture(t, answer(say("noted"), call("echo", ""), call("update_short_term_memory", "{}")), answer(say("ok"))).
			with(stm(nil).spec, newTool("echo", nil).spec)
		f.status(f.run(), store.TurnCompleted)
		if f.model.count() != 2 {
			t.Errorf("%d round trips", f.model.count())
		}
	})
}

func TestSticker(t *testing.T) {
	t.Parallel()
	const name = "select_sticker_for_response"
	pick := func() *tool {
		x := newTool(name, nil)
		x.spec.Run = func(_ context.Context, _ registry.ToolContext, args json.RawMessage) registry.Result {
			var a struct{ ID string }
			if json.Unmarshal(args, &a) != nil || a.ID == "" {
				return registry.Fail("no such sticker")
			}
			return registry.OK(map[string]string{"sticker_id": a.ID})
		}
		return x
	}
	for _, c := range []struct {
		numbers, what string
		calls         []any
		want          string
	}{
		{"TL045", "selected, then an answer", []any{call(name, `{"id":"s1"}`)}, "s1"},
		{"TL046", "selected, then one that is missing", []any{call(name, `{"id":"s1"}`), call(name, `{"id":"s9"}`)}, ""},
		{"TL049", "two that are known", []any{call(name, `{"id":"s1"}`), call(name, `{"id":"s2"}`)}, "s2"},
		{"", "selected, then a failure", []any{call(name, `{"id":"s1"}`), call(name, `{}`)}, ""},
		{"", "selected, then a truncated call", []any{call(name, `{"id":"s1"}`), call(name, `{"id":`)}, "s1"},
	} {
		scenario := func(t *testing.T) {
			f := newFixture(t, answer(c.calls...), answer(say("ok"))).with(pick().spec)
			f.stickers["s1"], f.stickers["s2"] = true, true
			res := f.run()
			f.status(res, store.TurnCompleted)
			if res.StickerID != c.want {
				t.Errorf("sticker %q", res.StickerID)
			}
		}
		if c.numbers == "" {
			check(t, c.what, scenario)
		} else {
			row(t, c.numbers, c.what, scenario)
		}
	}
	row(t, "TL048", "selected, then a kill", func(t *testing.T) {
		f := newFixture(t, answer(call(name, `{"id":"s1"}`)), answer(wait(time.Hour))).with(pick().spec)
		f.stickers["s1"] = true
		f.after(time.Second, f.kill)
		res := f.run()
		f.status(res, store.TurnStoppedByUser)
		if res.StickerID != "" {
			t.Errorf("sticker %q", res.StickerID)
		}
	})
}

func TestRestart(t *testing.T) {
	t.Parallel()
	row(t, "TL015 TL021", "an inline item, which switches tools off", func(t *testing.T) {
		f := newFixture(t, answer(say("let me look"), call("look", "{}")), answer(call("look", "{}")), answer(say("a cat"))).
			with(newTool("look", gives(restartWith("ref_1 12:00; do not reveal again this turn", "look"))).spec)
		f.status(f.run(), store.TurnCompleted)
		sent := f.model.sent(2)
		if len(f.turn.Entries()) != 1 || len(results(sent)) != 0 { // the entry is the second call's
			t.Errorf("%d entries, sent %v", len(f.turn.Entries()), sent)
		}
		if told(sent, "let me look") != 1 || told(sent, "do not reveal again") != 1 || sent[len(sent)-1].Content != "[context: image]\nref_1 12:00; do not reveal again this turn" {
			t.Errorf("sent %v", sent)
		}
		if items := f.turn.Shared.Items(); len(items) != 1 {
			t.Errorf("context %v", items)
		}
		if !strings.Contains(f.reason(0), "not available for the current turn") {
			t.Errorf("reason %q", f.reason(0))
		}
	})
	stashing := func(key string, n int) func(context.Context, registry.ToolContext) registry.Result {
		return func(_ context.Context, tc registry.ToolContext) registry.Result {
			if n--; n >= 0 {
				if err := tc.Live.Stash(key, registry.ContextItem{Kind: "picture", Text: "face"}); err != nil {
					return registry.Fail(err.Error())
				}
			}
			return registry.Result{Success: true, Restart: &registry.Restart{Type: "context_restart_picture", StashKey: "k", Disables: []string{"peek"}}}
		}
	}
	row(t, "TL016", "an item put aside", func(t *testing.T) {
		f := newFixture(t, answer(call("look", "")), answer(say("ok"))).with(newTool("look", stashing("k", 1)).spec, newTool("peek", nil).spec)
		f.status(f.run(), store.TurnCompleted)
		if told(f.model.sent(2), "[context: picture]\nface") != 1 || slices.Contains(f.model.offered(2), "peek") {
			t.Errorf("sent %v, offered %q", f.model.sent(2), f.model.offered(2))
		}
	})
	row(t, "TL017", "the same key twice", func(t *testing.T) {
		f := newFixture(t, answer(call("look", "")), answer(call("look", "")), answer(say("ok"))).with(newTool("look", stashing("k", 1)).spec)
		f.status(f.run(), store.TurnCompleted)
		if n := told(f.model.sent(3), "face"); n != 1 {
			t.Errorf("told %d times", n)
		}
	})
	row(t, "TL018", "a key that leads nowhere", func(t *testing.T) {
		f := newFixture(t, answer(call("broken", "")), answer(call("look", "")), answer(say("ok"))).
			with(newTool("look", stashing("other", 1)).spec, newTool("broken", gives(registry.Fail("x"))).spec)
		f.status(f.run(), store.TurnCompleted)
		if len(f.log.lines("restart.payload_missing", `"level":"warn"`)) != 1 || len(f.turn.Entries()) != 1 {
			t.Errorf("%d entries", len(f.turn.Entries()))
		}
	})
	row(t, "TL019", "a failure that carries a restart", func(t *testing.T) {
		res := restartWith("x")
		res.Success, res.Error = false, "no picture"
		f := newFixture(t, answer(call("look", "")), answer(say("ok"))).with(newTool("look", gives(res)).spec)
		f.status(f.run(), store.TurnCompleted)
		if f.reason(0) != "tool error: no picture" || told(f.model.sent(2), "[context") != 0 {
			t.Errorf("reason %q", f.reason(0))
		}
	})
	check(t, "another type is an ordinary result", func(t *testing.T) {
		res := restartWith("x")
		res.Restart.Type = "something_else"
		f := newFixture(t, answer(call("look", "")), answer(say("ok"))).with(newTool("look", gives(res)).spec)
		f.status(f.run(), store.TurnCompleted)
		if len(f.turn.Entries()) != 1 {
			t.Errorf("%d entries", len(f.turn.Entries()))
		}
	})
	check(t, "inside a batch", func(t *testing.T) {
		f := newFixture(t, answer(say("both"), call("echo", `{"n":1}`), call("look", ""), call("echo", `{"n":2}`)), answer(say("ok"))).
			with(newTool("look", gives(restartWith("a cat"))).spec, newTool("echo", nil).spec)
		f.status(f.run(), store.TurnCompleted)
		sent := f.model.sent(2)
		want := []string{`echo: {"from":"echo"}`, "echo: not run: interrupted"}
		if d := cmp.Diff(want, results(sent)); d != "" {
			t.Error(d)
		}
		if told(sent, "both") != 1 || told(sent, "a cat") != 1 || len(sent[1].Calls) != 2 {
			t.Errorf("sent %v", sent)
		}
		if d := cmp.Diff([]string{"echo done/", "look done/", "echo error/not_run"}, f.journal.list()); d != "" {
			t.Error(d)
		}
	})
	check(t, "its text is bounded", func(t *testing.T) {
		f := newFixture(t, answer(call("look", "")), answer(say("ok"))).with(newTool("look", gives(restartWith(strings.Repeat("x", 1<<20)))).spec)
		f.status(f.run(), store.TurnCompleted)
		if n := len(f.model.sent(2)[1].Content); n > 70_000 {
			t.Errorf("%d bytes", n)
		}
	})
}
