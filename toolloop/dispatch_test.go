package toolloop_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/internal/abort"
	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/toolloop"
)

func TestStop(t *testing.T) {
	t.Parallel()
	row(t, "TL036", "stopped before dispatch", func(t *testing.T) {
		x := newTool("echo", nil)
		f := newFixture(t, answer(call("echo", ""), call("echo", ""))).with(x.spec)
		f.events.each = func(e toolloop.Event) {
			if _, ok := e.(toolloop.ToolCall); ok {
				f.stop(abort.Stopped{By: "ada"})
			}
		}
		f.status(f.run(), store.TurnStoppedByUser)
		if x.runs() != 0 || len(f.turn.Entries()) != 0 {
			t.Errorf("%d runs, %d entries", x.runs(), len(f.turn.Entries()))
		}
		if d := cmp.Diff([]string{"echo error/stopped", "echo error/stopped"}, f.events.results()); d != "" {
			t.Error(d)
		}
	})
	for numbers, run := range map[string]func(context.Context, registry.ToolContext) registry.Result{
		"TL037": slow(5 * time.Minute), "TL038": deaf(5 * time.Minute),
	} {
		row(t, numbers, "stopped while a tool runs", func(t *testing.T) {
			x := newTool("wait", run)
			f := newFixture(t, answer(say("one moment"), call("wait", ""), call("wait", ""))).with(x.spec)
			f.after(2*time.Second, f.kill)
			began := time.Now()
			res := f.run()
			f.status(res, store.TurnStoppedByUser)
			if time.Since(began) != 2*time.Second || x.runs() != 1 || len(f.turn.Entries()) != 0 {
				t.Errorf("after %s: %d runs, %d entries", time.Since(began), x.runs(), len(f.turn.Entries()))
			}
			if d := cmp.Diff([]string{"wait error/stopped", "wait error/stopped"}, f.journal.list()); d != "" {
				t.Error(d)
			}
			// The next turn is not told that nothing was done.
			next := newFixture(t, answer(say("ok")))
			next.before = append(next.before, res.Messages...)
			next.status(next.run(), store.TurnCompleted)
			want := []string{"wait: stopped while it ran; it may have taken effect", "wait: not run: interrupted"}
			if d := cmp.Diff(want, results(next.model.sent(1))); d != "" {
				t.Error(d)
			}
			if err := f.loop.Wait(t.Context()); err != nil || f.loop.Abandoned() != 0 {
				t.Errorf("%v, %d abandoned", err, f.loop.Abandoned())
			}
		})
	}
	check(t, "a tool that finishes although it was stopped", func(t *testing.T) {
		f := newFixture(t, answer(call("write", "")))
		f.with(newTool("write", func(context.Context, registry.ToolContext) registry.Result {
			f.kill()
			return registry.OK("secret result")
		}).spec)
		res := f.run()
		f.status(res, store.TurnStoppedByUser)
		if len(f.turn.Entries()) != 0 || told(res.Messages, "secret result") != 0 {
			t.Errorf("messages %v", res.Messages)
		}
		switch row := f.journal.row("c1"); row.Status { // either may come first, and both are told as they are
		case store.CallDone:
			if row.Result != "secret result" || told(res.Messages, "it has taken effect") != 1 {
				t.Errorf("journal %+v, messages %v", row, res.Messages)
			}
		default:
			if row.Reason != store.CallReasonStopped || told(res.Messages, "it may have taken effect") != 1 {
				t.Errorf("journal %+v, messages %v", row, res.Messages)
			}
		}
	})
	check(t, "a shutdown interrupts", func(t *testing.T) {
		f := newFixture(t, answer(call("wait", ""))).with(newTool("wait", slow(time.Minute)).spec)
		f.after(time.Second, func() { f.stop(abort.Shutdown{}) })
		f.status(f.run(), store.TurnInterrupted)
		if got := f.journal.list(); !slices.Equal(got, []string{"wait error/interrupted"}) {
			t.Errorf("journal %q", got)
		}
	})
	check(t, "stopped while the intent is written: nothing runs, not even what only reads", func(t *testing.T) {
		for _, fails := range []bool{false, true} {
			x := newTool("read", nil, readOnly)
			f := newFixture(t, answer(call("read", ""))).with(x.spec)
			j := &stoppingJournal{journal: f.journal, f: f, fails: fails}
			r, err := registry.New(f.tools...)
			if err != nil {
				t.Fatal(err)
			}
			f.loop = toolloop.New(toolloop.Deps{Registry: r, Journal: j, Broker: f.broker, Limits: f.limits})
			f.status(f.run(), store.TurnStoppedByUser)
			if x.runs() != 0 {
				t.Error("ran after the stop")
			}
		}
	})
}

// stoppingJournal kills the turn while the intent is written.
type stoppingJournal struct {
	*journal
	f     *fixture
	fails bool
}

func (j *stoppingJournal) OpenCall(ctx context.Context, c store.Call) error {
	if c.Status == store.CallRunning {
		j.f.kill()
		if j.fails {
			return ctx.Err()
		}
		return j.journal.OpenCall(context.WithoutCancel(ctx), c)
	}
	return j.journal.OpenCall(ctx, c)
}

func TestToolTimeout(t *testing.T) {
	t.Parallel()
	for what, run := range map[string]func(context.Context, registry.ToolContext) registry.Result{
		"that honours its context": slow(time.Hour), "that is deaf": deaf(time.Hour),
	} {
		row(t, "TL039", "a tool "+what, func(t *testing.T) {
			f := newFixture(t, answer(call("wait", "")), answer(say("ok"))).with(newTool("wait", run).spec)
			f.status(f.run(), store.TurnCompleted)
			if f.reason(0) != "tool error: timed out after 5m0s" {
				t.Errorf("reason %q", f.reason(0))
			}
			if got := f.journal.list(); !slices.Equal(got, []string{"wait error/timed_out"}) {
				t.Errorf("journal %q", got)
			}
			synctest.Wait()
			want := 0
			if what == "that is deaf" {
				want = 1
			}
			if f.loop.Abandoned() != want {
				t.Errorf("%d abandoned", f.loop.Abandoned())
			}
			if err := f.loop.Wait(t.Context()); err != nil || f.loop.Abandoned() != 0 {
				t.Errorf("%v, %d abandoned", err, f.loop.Abandoned())
			}
		})
	}
	row(t, "TL040", "two slow tools, each within its time", func(t *testing.T) {
		f := newFixture(t, answer(call("wait", ""), call("wait", "")), answer(say("ok"))).with(newTool("wait", slow(299*time.Second)).spec)
		f.status(f.run(), store.TurnCompleted)
		if got := f.journal.list(); !slices.Equal(got, []string{"wait done/", "wait done/"}) {
			t.Errorf("journal %q", got)
		}
		if d := f.journal.row("c2"); d.FinishedAt.Sub(d.StartedAt) != 299*time.Second {
			t.Errorf("took %s", d.FinishedAt.Sub(d.StartedAt))
		}
	})
	check(t, "the tool knows its deadline", func(t *testing.T) {
		x := newTool("echo", nil)
		f := newFixture(t, answer(call("echo", "")), answer(say("ok"))).with(x.spec)
		began := time.Now()
		f.status(f.run(), store.TurnCompleted)
		if !x.context(0).Deadline.Equal(began.Add(5 * time.Minute)) {
			t.Errorf("deadline %s", x.context(0).Deadline)
		}
	})
	check(t, "with four runs left behind a tool is unavailable until they end", func(t *testing.T) {
		x := newTool("deaf", deaf(time.Hour))
		var script []step
		for range 6 {
			script = append(script, answer(call("deaf", "")))
		}
		f := newFixture(t, append(script, answer(say("ok")))...).with(x.spec, newTool("echo", nil).spec)
		f.limits.MaxConsecutiveErrors = 10
		f.status(f.run(), store.TurnCompleted)
		if x.runs() != 4 || f.loop.Abandoned() != 4 {
			t.Errorf("%d runs, %d abandoned", x.runs(), f.loop.Abandoned())
		}
		if r := f.reason(4); !strings.HasPrefix(r, "deaf is unavailable: 4 earlier runs") || len(f.log.lines("Function call completed")) != 4 {
			t.Errorf("reason %q", r)
		}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := f.loop.Wait(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waited: %v", err)
		}
		if err := f.loop.Wait(t.Context()); err != nil {
			t.Error(err)
		}
		f.model.script = []step{answer(call("deaf", "")), answer(say("ok"))}
		f.status(f.attempt(f.model), store.TurnCompleted)
		if x.runs() != 5 || len(f.log.lines("tool.late_result_dropped")) != 4 {
			t.Errorf("%d runs", x.runs())
		}
		_ = f.loop.Wait(t.Context())
	})
	check(t, "an abandoned tool cannot reach the turn", func(t *testing.T) {
		var late error
		x := newTool("deaf", func(_ context.Context, tc registry.ToolContext) registry.Result {
			<-time.After(time.Hour)
			late = tc.Live.Stash("k", registry.ContextItem{})
			return registry.OK(nil)
		})
		f := newFixture(t, answer(call("deaf", "")), answer(say("ok"))).with(x.spec)
		f.status(f.run(), store.TurnCompleted)
		if err := f.loop.Wait(t.Context()); err != nil || !errors.Is(late, registry.ErrRevoked) {
			t.Errorf("%v, %v", err, late)
		}
	})
}

func TestPanics(t *testing.T) {
	t.Parallel()
	for what, run := range map[string]func(context.Context, registry.ToolContext) registry.Result{
		"panics":                             func(context.Context, registry.ToolContext) registry.Result { panic("secret state") },
		"panics with what panics when shown": func(context.Context, registry.ToolContext) registry.Result { panic(hostile{}) },
		"ends its goroutine": func(context.Context, registry.ToolContext) registry.Result {
			runtime.Goexit()
			return registry.Result{}
		},
	} {
		row(t, "CD011", "a tool that "+what, func(t *testing.T) {
			f := newFixture(t, answer(call("bad", "")), answer(say("ok"))).with(newTool("bad", run).spec)
			res := f.run()
			f.status(res, store.TurnCompleted)
			if f.reason(0) != "tool error: the tool failed unexpectedly" || told(res.Messages, "secret state") != 0 {
				t.Errorf("reason %q", f.reason(0))
			}
			if got := f.journal.list(); !slices.Equal(got, []string{"bad error/panicked"}) {
				t.Errorf("journal %q", got)
			}
			if what == "panics" && len(f.log.lines("tool.panicked", "secret state", "stack")) != 1 {
				t.Error("not logged")
			}
		})
	}
	check(t, "a result that panics when encoded, or cannot be", func(t *testing.T) {
		for _, data := range []any{hostile{}, func() {}, make(chan int)} {
			f := newFixture(t, answer(call("bad", "")), answer(say("ok"))).with(newTool("bad", gives(registry.OK(data))).spec)
			f.status(f.run(), store.TurnCompleted)
			want := []string{`bad: {"status":"completed","note":"the result could not be encoded"}`}
			if d := cmp.Diff(want, results(f.model.sent(2))); d != "" || len(f.log.lines("tool.result_unencodable")) != 1 {
				t.Error(d)
			}
		}
	})
	check(t, "notices that panic", func(t *testing.T) {
		f := newFixture(t, answer(call("nope", "")), answer(say("ok"))).with(newTool("echo", nil).spec)
		f.turn.Notices = brokenNotices{}
		f.status(f.run(), store.TurnCompleted)
	})
}

type hostile struct{}

func (hostile) MarshalJSON() ([]byte, error) { panic("while encoding") }
func (hostile) String() string               { panic("while printing") }

type brokenNotices struct{}

func (brokenNotices) StillWorking()                { panic("broken") }
func (brokenNotices) Hidden(toolloop.HiddenNotice) { panic("broken") }

func TestJournal(t *testing.T) {
	t.Parallel()
	check(t, "away: what writes is not run, what reads is", func(t *testing.T) {
		w, r := newTool("write", nil), newTool("read", nil, readOnly)
		f := newFixture(t, answer(call("write", ""), call("read", "")), answer(say("ok"))).with(w.spec, r.spec)
		f.journal.away = errors.New("store away")
		f.status(f.run(), store.TurnCompleted)
		if w.runs() != 0 || r.runs() != 1 || f.reason(0) != "the journal is unavailable, so nothing was executed" {
			t.Errorf("%d and %d runs, reason %q", w.runs(), r.runs(), f.reason(0))
		}
		if len(f.log.lines("Function call completed")) != 1 {
			t.Error("a call that was not run was logged as completed")
		}
	})
	check(t, "it holds the intent while the tool runs", func(t *testing.T) {
		var row store.Call
		f := newFixture(t, answer(call("write", `{"a":1}`)), answer(say("ok")))
		f.with(newTool("write", func(_ context.Context, tc registry.ToolContext) registry.Result {
			row = f.journal.row(tc.CallKey)
			return registry.OK("done")
		}).spec)
		f.status(f.run(), store.TurnCompleted)
		want := store.Call{TurnID: "t1", Key: "c1", Tool: "write", Arguments: `{"a":1}`, Status: store.CallRunning, StartedAt: row.StartedAt}
		if d := cmp.Diff(want, row); d != "" || row.StartedAt.IsZero() {
			t.Error(d)
		}
	})
	check(t, "opened, but the closing fails", func(t *testing.T) {
		f := newFixture(t, answer(call("write", "")), answer(say("ok")))
		f.with(newTool("write", func(context.Context, registry.ToolContext) registry.Result {
			f.journal.away = errors.New("store away")
			return registry.OK("done")
		}).spec)
		f.status(f.run(), store.TurnCompleted)
		if row := f.journal.row("c1"); row.Status != store.CallRunning || len(f.log.lines("journal.close_failed")) != 1 {
			t.Errorf("row %+v", row) // the next start closes it as interrupted
		}
		if got := results(f.model.sent(2)); !slices.Equal(got, []string{"write: done"}) {
			t.Errorf("sent %q", got)
		}
	})
	check(t, "the opening arrived, but its answer did not", func(t *testing.T) {
		x := newTool("write", nil)
		f := newFixture(t, answer(call("write", "")), answer(say("ok"))).with(x.spec)
		j := &lossyJournal{f.journal}
		r, err := registry.New(f.tools...)
		if err != nil {
			t.Fatal(err)
		}
		f.loop = toolloop.New(toolloop.Deps{Registry: r, Journal: j, Broker: f.broker, Limits: f.limits})
		f.status(f.run(), store.TurnCompleted)
		if x.runs() != 0 || !slices.Equal(f.journal.list(), []string{"write error/unavailable"}) {
			t.Errorf("%d runs, journal %q", x.runs(), f.journal.list())
		}
	})
	check(t, "hanging: a call takes 10 s longer, a stop 1 s for all writes together", func(t *testing.T) {
		f := newFixture(t, answer(call("read", "")), answer(say("ok"))).with(newTool("read", nil, readOnly).spec)
		f.journal.hang, f.journal.away = true, errors.New("hangs")
		began := time.Now()
		f.status(f.run(), store.TurnCompleted)
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("took %s", took)
		}
		var calls []any
		for range 40 {
			calls = append(calls, call("read", ""))
		}
		g := newFixture(t, answer(calls...)).with(newTool("read", nil, readOnly).spec)
		g.journal.hang, g.journal.away = true, errors.New("hangs")
		g.after(7*time.Second, g.kill) // while a row is being closed
		began = time.Now()
		g.status(g.run(), store.TurnStoppedByUser)
		if took := time.Since(began); took != 8*time.Second {
			t.Errorf("stopped after %s", took)
		}
	})
}

// lossyJournal writes intents and answers that it did not.
type lossyJournal struct{ *journal }

func (j *lossyJournal) OpenCall(ctx context.Context, c store.Call) error {
	if err := j.journal.OpenCall(ctx, c); err != nil || c.Status != store.CallRunning {
		return err
	}
	return fmt.Errorf("connection lost")
}
