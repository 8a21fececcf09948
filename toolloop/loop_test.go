package toolloop_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/internal/abort"
	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/toolloop"
)

func TestAnswer(t *testing.T) {
	t.Parallel()
	row(t, "CD001 CD004 CD005", "text only, with usage", func(t *testing.T) {
		f := newFixture(t, answer(
			providers.UsageReport{Usage: providers.Usage{Input: 1, Output: 1}},
			say("a"), think("hm"), say("b"),
			providers.UsageReport{Usage: providers.Usage{Input: 7, Output: 3}, Model: "m-1-2026"},
		)).with(newTool("echo", nil).spec)
		res := f.run()
		f.status(res, store.TurnCompleted)
		want := toolloop.Result{
			Status: store.TurnCompleted, Text: "ab", Shown: []string{"ab"}, Thinking: "hm", Model: "m-1-2026",
			Usage:    providers.Usage{Input: 7, Output: 3},
			Messages: []providers.Message{{Role: providers.RoleAssistant, Content: "ab", Thinking: "hm"}},
		}
		if d := cmp.Diff(want, res); d != "" {
			t.Error(d)
		}
	})
	row(t, "CD006 CD007", "usage and an end, or an end alone, leave no message", func(t *testing.T) {
		f := newFixture(t, answer(providers.UsageReport{Usage: providers.Usage{Input: 5}}))
		res := f.run()
		f.status(res, store.TurnEmptyResponse)
		if len(res.Messages) != 0 || res.Usage.Input != 5 {
			t.Errorf("messages %v, usage %v", res.Messages, res.Usage)
		}
	})
	row(t, "TL001 CD002 CD029", "one call, then text", func(t *testing.T) {
		echo := newTool("echo", nil)
		f := newFixture(t, answer(call("echo", `{"x": 12345678901234567890}`)), answer(say("done"))).with(echo.spec)
		var entryThere bool
		f.events.each = func(e toolloop.Event) {
			if _, ok := e.(toolloop.ToolResult); ok {
				entryThere = len(f.turn.Entries()) == 1
			}
		}
		res := f.run()
		f.status(res, store.TurnCompleted)
		if want := []string{`{"x": 12345678901234567890}`}; !slices.Equal(echo.args, want) {
			t.Errorf("the tool was called with %q", echo.args)
		}
		if got := f.model.sent(1); len(got) != 1 {
			t.Errorf("the first request holds %v", got)
		}
		if got, want := results(f.model.sent(2)), []string{`echo: {"from":"echo"}`}; !slices.Equal(got, want) {
			t.Errorf("the second request holds %q", got)
		}
		if !entryThere {
			t.Error("the result was told before its entry was there")
		}
		if got := f.events.results(); !slices.Equal(got, []string{"echo done/"}) {
			t.Errorf("results told: %q", got)
		}
		if f.model.count() != 2 || res.Text != "done" {
			t.Errorf("%d round trips, text %q", f.model.count(), res.Text)
		}
	})
	check(t, "signed reasoning goes back with the calls it led to", func(t *testing.T) {
		block := providers.ThinkingBlock{Provider: "scripted", Model: "m-1", Raw: []byte(`{"signature":"x"}`)}
		f := newFixture(t, answer(think("hm"), providers.ThinkingDone{Block: block}, call("echo", "")), answer(say("done"))).with(newTool("echo", nil).spec)
		f.status(f.run(), store.TurnCompleted)
		sent := f.model.sent(2)
		if got := sent[len(sent)-2].ThinkingBlocks; len(got) != 1 || string(got[0].Raw) != string(block.Raw) {
			t.Errorf("blocks %v", got)
		}
	})
	row(t, "TL068", "an empty answer keeps its status", func(t *testing.T) {
		f := newFixture(t, answer(say(" \n ")))
		res := f.run()
		f.status(res, store.TurnEmptyResponse)
		if len(res.Shown) != 0 || res.Text != "" {
			t.Errorf("shown %q, text %q", res.Shown, res.Text)
		}
	})
	row(t, "CD022", "a consumer that panics on every event", func(t *testing.T) {
		f := newFixture(t, answer(say("a"), call("echo", "")), answer(say("b"))).with(newTool("echo", nil).spec)
		f.events.each = func(toolloop.Event) { panic("broken") }
		f.status(f.run(), store.TurnCompleted)
		if got := f.log.lines("turn.observer_panicked"); len(got) != 1 {
			t.Errorf("logged %d times", len(got))
		}
	})
	row(t, "CD035", "context added by a restart is told and is no answer", func(t *testing.T) {
		f := newFixture(t, answer(call("look", "")), answer(say("seen"))).with(newTool("look", gives(restartWith("a cat"))).spec)
		f.status(f.run(), store.TurnCompleted)
		want := toolloop.ContextAdded{Label: "image", Bytes: len("a cat")}
		if !slices.Contains(f.events.all, toolloop.Event(want)) {
			t.Errorf("events: %v", f.events.all)
		}
		if got := f.events.results(); !slices.Equal(got, []string{"look done/"}) {
			t.Errorf("results told: %q", got)
		}
	})
	check(t, "cut at the output limit", func(t *testing.T) {
		f := newFixture(t, cutOff(say("and then")))
		res := f.run()
		f.status(res, store.TurnCompleted)
		if !res.CutAtLimit || !res.Messages[0].Stopped {
			t.Errorf("%+v", res)
		}
	})
}

func TestCallerRecords(t *testing.T) {
	t.Parallel()
	row(t, "CD003", "the caller's messages never change", func(t *testing.T) {
		f := newFixture(t, answer(say("x"), call("echo", `{"a":1}`), call("nope", `{"a":`)), answer(say("y"))).with(newTool("echo", nil).spec)
		f.before = append(f.before, providers.Message{
			Role: providers.RoleAssistant, Calls: []providers.Call{{Key: "old/c1", Name: "echo", Arguments: `{"a":`, State: providers.Truncated}},
		}, providers.Message{Role: providers.RoleUser, Content: "ada: again"})
		kept := clone(f.before)
		f.status(f.run(), store.TurnCompleted)
		if d := cmp.Diff(kept, f.before); d != "" {
			t.Error(d)
		}
	})
}

func clone(messages []providers.Message) []providers.Message {
	out := slices.Clone(messages)
	for i := range out {
		out[i].Calls = slices.Clone(out[i].Calls)
		for j := range out[i].Calls {
			c := &out[i].Calls[j]
			c.Object, c.Opaque, c.WholeKeys = slices.Clone(c.Object), slices.Clone(c.Opaque), slices.Clone(c.WholeKeys)
		}
	}
	return out
}

func TestLimits(t *testing.T) {
	t.Parallel()
	row(t, "TL010 TL047 CD024", "a model that never stops calling", func(t *testing.T) {
		pick := newTool("select_sticker_for_response", gives(registry.OK(map[string]string{"sticker_id": "s1"})))
		f := newFixture(t, answer(call("select_sticker_for_response", ""))).with(pick.spec)
		f.model.endless = true
		f.stickers["s1"] = true
		res := f.run()
		f.status(res, store.TurnMaxIterations)
		if pick.runs() != 100 || f.model.count() != 100 || f.turn.Iteration() != 100 {
			t.Errorf("%d runs in %d round trips, iteration %d", pick.runs(), f.model.count(), f.turn.Iteration())
		}
		want := providers.Message{Role: providers.RoleNote, Content: "stopped: tool loop iteration limit reached"}
		if d := cmp.Diff(want, res.Messages[len(res.Messages)-1]); d != "" {
			t.Error(d)
		}
		if res.StickerID != "" {
			t.Error("a sticker was kept")
		}
	})
	row(t, "CD025", "a limit below 1 acts as 1", func(t *testing.T) {
		for _, limit := range []int{1, 0, -5} {
			echo := newTool("echo", nil)
			f := newFixture(t, answer(call("echo", ""))).with(echo.spec)
			f.limits.MaxIterations = limit
			f.status(f.run(), store.TurnMaxIterations)
			if echo.runs() != 1 || f.model.count() != 1 {
				t.Errorf("limit %d: %d runs, %d round trips", limit, echo.runs(), f.model.count())
			}
		}
	})
	row(t, "CD026", "an explicit limit of 10", func(t *testing.T) {
		f := newFixture(t, answer(call("echo", ""))).with(newTool("echo", nil).spec)
		f.model.endless, f.limits.MaxIterations = true, 10
		f.status(f.run(), store.TurnMaxIterations)
		if f.model.count() != 10 {
			t.Errorf("%d round trips", f.model.count())
		}
	})
	row(t, "TL020", "restarts for ever are bounded by the same limit", func(t *testing.T) {
		f := newFixture(t, answer(call("look", ""))).with(newTool("look", gives(restartWith("x"))).spec)
		f.model.endless, f.limits.MaxIterations = true, 7
		f.status(f.run(), store.TurnMaxIterations)
		if f.model.count() != 7 {
			t.Errorf("%d round trips", f.model.count())
		}
	})
	for _, passive := range []bool{false, true} {
		numbers, what := "TL011 TL012", "deliberate turn: one warning at the 21st iteration, hint from there"
		if passive {
			numbers, what = "TL013", "passive turn: no warning, hint all the same"
		}
		row(t, numbers, what, func(t *testing.T) {
			echo := newTool("echo", nil)
			f := newFixture(t, answer(call("echo", ""))).with(echo.spec)
			f.model.endless, f.limits.MaxIterations, f.turn.Deliberate = true, 25, !passive
			f.status(f.run(), store.TurnMaxIterations) // the notice at the limit itself is the turn's, by this status
			want := 1
			if passive {
				want = 0
			}
			if f.notices.busy != want {
				t.Errorf("%d warnings", f.notices.busy)
			}
			for i := range 25 {
				if tc := echo.context(i); tc.ShowKillHint != (i >= 20) || tc.SuppressProgress != passive {
					t.Errorf("iteration %d: hint %v, suppressed %v", i, tc.ShowKillHint, tc.SuppressProgress)
				}
			}
		})
	}
	check(t, "a kill beats the limit", func(t *testing.T) {
		f := newFixture(t, answer(call("echo", ""))).with(newTool("echo", nil).spec)
		f.limits.MaxIterations = 1
		f.events.each = func(e toolloop.Event) {
			if _, ok := e.(toolloop.ToolResult); ok {
				f.kill()
			}
		}
		f.status(f.run(), store.TurnStoppedByUser)
	})
	check(t, "limits that were not set", func(t *testing.T) {
		f := newFixture(t, answer(wait(time.Minute), say("hi")))
		f.limits = toolloop.Limits{}
		f.status(f.run(), store.TurnCompleted)
	})
}

func TestFailures(t *testing.T) {
	t.Parallel()
	broken := func() *tool { return newTool("broken", gives(registry.Fail("disk full"))) }
	row(t, "TL003 CD010", "a tool fails once", func(t *testing.T) {
		f := newFixture(t, answer(call("broken", "")), answer(say("sorry"))).with(broken().spec)
		res := f.run()
		f.status(res, store.TurnCompleted)
		want := []string{`broken: {"status":"tool_execution_failed","tool_name":"broken","reason":"tool error: disk full"}`}
		if got := results(f.model.sent(2)); !slices.Equal(got, want) {
			t.Errorf("sent %q", got)
		}
		if strings.Contains(res.Text, "disk full") {
			t.Error("people were told")
		}
		if !res.Messages[1].Failed || f.turn.Entries()[0].Success {
			t.Error("not marked as failed")
		}
		if got := f.journal.list(); !slices.Equal(got, []string{"broken error/failed"}) {
			t.Errorf("journal %q", got)
		}
	})
	row(t, "TL004", "a tool that always fails", func(t *testing.T) {
		x := broken()
		f := newFixture(t, answer(call("broken", ""))).with(x.spec)
		f.model.endless = true
		res := f.run()
		f.status(res, store.TurnError)
		if !errors.Is(res.Err, toolloop.ErrTooManyFailures) || x.runs() != 5 {
			t.Errorf("%d runs, error %v", x.runs(), res.Err)
		}
	})
	for _, reset := range []string{"echo", "look"} {
		numbers, what := "TL005", "success resets the count"
		if reset == "look" {
			numbers, what = "TL006", "a restart resets the count"
		}
		row(t, numbers, what, func(t *testing.T) {
			x := broken()
			var script []step
			for i := range 10 {
				name := "broken"
				if i == 4 {
					name = reset
				}
				script = append(script, answer(call(name, "")))
			}
			f := newFixture(t, script...).with(x.spec, newTool("echo", nil).spec, newTool("look", gives(restartWith("x"))).spec)
			res := f.run()
			f.status(res, store.TurnError) // 4 failures, 1 reset, 5 failures
			if x.runs() != 9 {
				t.Errorf("%d failures until the cap", x.runs())
			}
		})
	}
	check(t, "a cap below 1 acts as 1", func(t *testing.T) {
		x := broken()
		f := newFixture(t, answer(call("broken", ""))).with(x.spec)
		f.limits.MaxConsecutiveErrors = 0
		f.status(f.run(), store.TurnError)
	})
}

func TestSettle(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		numbers, what string
		script        []step
		change        []func(*registry.Tool)
		status        store.TurnStatus
	}{
		{
			"TL059", "empty after text and a tool that needs no word",
			[]step{answer(say("on it"), call("do", "")), answer()},
			nil, store.TurnCompleted,
		},
		{
			"TL060", "empty after a lookup",
			[]step{answer(say("on it"), call("do", "")), answer()},
			[]func(*registry.Tool){needsMore},
			store.TurnEmptyResponse,
		},
		{
			"TL061", "empty because of the output limit",
			[]step{answer(say("on it"), call("do", "")), cutOff()},
			nil, store.TurnEmptyResponse,
		},
		{
			"", "empty after a tool without any text",
			[]step{answer(call("do", "")), answer()},
			nil, store.TurnEmptyResponse,
		},
	} {
		scenario := func(t *testing.T) {
			f := newFixture(t, x.script...).with(newTool("do", nil, x.change...).spec)
			res := f.run()
			f.status(res, x.status)
			if res.Status == store.TurnCompleted && res.Text != "on it" {
				t.Errorf("text %q", res.Text)
			}
			if want := x.numbers == "TL061"; res.CutAtLimit != want {
				t.Errorf("cut at the limit: %v", res.CutAtLimit)
			}
		}
		if x.numbers == "" {
			check(t, x.what, scenario)
		} else {
			row(t, x.numbers, x.what, scenario)
		}
	}
}

func TestAttempts(t *testing.T) {
	t.Parallel()
	away := &providers.Error{Provider: "scripted", Kind: providers.KindOverloaded}
	check(t, "the next model takes over what ran, and not what was said in vain", func(t *testing.T) {
		echo := newTool("echo", nil)
		f := newFixture(t,
			answer(say("looking"), call("echo", `{"n":1}`), providers.UsageReport{Usage: providers.Usage{Input: 10}}),
			step{say("half an ans"), call("echo", `{"n":2}`), providers.UsageReport{Usage: providers.Usage{Input: 20}}, error(away)},
		).with(echo.spec)
		first := f.run()
		f.status(first, store.TurnError)
		if d := cmp.Diff([]string{"looking", "half an ans"}, first.Shown); d != "" {
			t.Error(d)
		}
		next := &model{t: t, name: "other", script: []step{answer(say("whole"), providers.UsageReport{Usage: providers.Usage{Input: 30}})}}
		second := f.attempt(next)
		f.settled()
		f.status(second, store.TurnCompleted)
		if echo.runs() != 1 {
			t.Errorf("the tool ran %d times", echo.runs())
		}
		sent := next.sent(1)
		if told(sent, "half an ans") != 0 || told(sent, "looking") != 1 || len(results(sent)) != 1 {
			t.Errorf("the next model was sent %v", sent)
		}
		if d := cmp.Diff([]string{"looking", "whole"}, second.Shown); d != "" {
			t.Error(d)
		}
		if second.Usage.Input != 60 || f.turn.Iteration() != 3 || next.requests[0].Attempt != 3 {
			t.Errorf("usage %v, iteration %d, attempt %d", second.Usage, f.turn.Iteration(), next.requests[0].Attempt)
		}
	})
	check(t, "iterations and failures count per turn", func(t *testing.T) {
		x := newTool("broken", gives(registry.Fail("no")))
		f := newFixture(t, answer(call("broken", "")), answer(call("broken", "")), step{error(away)}).with(x.spec)
		f.limits.MaxConsecutiveErrors, f.limits.MaxIterations = 3, 5
		f.status(f.run(), store.TurnError)
		res := f.attempt(&model{t: t, script: []step{answer(call("broken", ""))}})
		if !errors.Is(res.Err, toolloop.ErrTooManyFailures) {
			t.Errorf("%s: %v", res.Status, res.Err)
		}
	})
	check(t, "a response that could not be used leaves nothing but its cost", func(t *testing.T) {
		f := newFixture(t, answer(say("let me"), call(" ", "{}"), call("echo", "{}"))).with(newTool("echo", nil).spec)
		f.status(f.run(), store.TurnError)
		next := &model{t: t, script: []step{answer(say("fine"))}}
		res := f.attempt(next)
		f.status(res, store.TurnCompleted)
		if len(next.sent(1)) != 1 || res.Text != "fine" || len(res.Shown) != 1 {
			t.Errorf("sent %v, shown %q", next.sent(1), res.Shown)
		}
		if f.turn.Iteration() != 2 {
			t.Errorf("iteration %d", f.turn.Iteration())
		}
	})
	check(t, "what ran before a call without a name stays", func(t *testing.T) {
		f := newFixture(t, answer(say("let me"), call("echo", "{}"), call("", "{}"), call("echo", "{}"), call("", ""))).with(newTool("echo", nil).spec)
		f.status(f.run(), store.TurnError)
		next := &model{t: t, script: []step{answer(say("fine"))}}
		f.status(f.attempt(next), store.TurnCompleted)
		want := []string{`echo: {"from":"echo"}`, "echo: not run: interrupted"}
		if d := cmp.Diff(want, results(next.sent(1))); d != "" {
			t.Error(d)
		}
	})
	check(t, "a failed attempt without text takes nothing away", func(t *testing.T) {
		f := newFixture(t, answer(say("one"), call("echo", "")), step{error(away)}).with(newTool("echo", nil).spec)
		f.status(f.run(), store.TurnError)
		res := f.attempt(&model{t: t, script: []step{answer(say("two"))}})
		if d := cmp.Diff([]string{"one", "two"}, res.Shown); d != "" {
			t.Error(d)
		}
	})
}

func TestEndedContext(t *testing.T) {
	t.Parallel()
	for cause, want := range map[error]store.TurnStatus{
		abort.Killed{By: "mod"}:                 store.TurnStoppedByUser,
		abort.Stopped{By: "ada"}:                store.TurnStoppedByUser,
		abort.TurnTimeout{After: time.Minute}:   store.TurnTimeout,
		abort.Shutdown{}:                        store.TurnInterrupted,
		context.Canceled:                        store.TurnInterrupted,
		errors.New("some caller's own trouble"): store.TurnInterrupted,
	} {
		check(t, fmt.Sprintf("%T", cause), func(t *testing.T) {
			f := newFixture(t, answer(call("wait", ""))).with(newTool("wait", slow(time.Minute)).spec)
			f.after(time.Second, func() { f.stop(cause) })
			began := time.Now()
			res := f.run()
			f.status(res, want)
			if !errors.Is(res.Err, cause) || time.Since(began) != time.Second {
				t.Errorf("error %v after %s", res.Err, time.Since(began))
			}
		})
	}
}

// restartWith is a success that enriches the context with text.
func restartWith(text string, disables ...string) registry.Result {
	return registry.Result{Success: true, Restart: &registry.Restart{
		Type: "context_restart_image", Item: &registry.ContextItem{Kind: "image", Text: text}, Disables: disables,
	}}
}
