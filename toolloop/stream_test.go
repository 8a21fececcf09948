package toolloop_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/toolloop"
)

func TestSilence(t *testing.T) {
	t.Parallel()
	row(t, "TL069", "nothing within the first-token budget", func(t *testing.T) {
		f := newFixture(t, answer(wait(time.Hour), say("late")))
		began := time.Now()
		res := f.run()
		f.status(res, store.TurnTimeout)
		if res.Phase != toolloop.PhaseFirstToken || time.Since(began) != f.limits.FirstToken {
			t.Errorf("phase %q after %s: %v", res.Phase, time.Since(began), res.Err)
		}
	})
	row(t, "TL071", "silence after the first fragment", func(t *testing.T) {
		f := newFixture(t, answer(say("well"), wait(time.Hour), say("late")))
		began := time.Now()
		res := f.run()
		f.status(res, store.TurnTimeout)
		if res.Phase != toolloop.PhaseIdle || time.Since(began) != f.limits.StreamIdle {
			t.Errorf("phase %q after %s: %v", res.Phase, time.Since(began), res.Err)
		}
		if res.Text != "well" || !res.Messages[0].Stopped {
			t.Errorf("text %q, messages %v", res.Text, res.Messages)
		}
	})
	check(t, "beats keep a stream alive, and the first may take longest", func(t *testing.T) {
		s := step{wait(299 * time.Second), providers.Beat{}}
		for range 20 {
			s = append(s, wait(119*time.Second), providers.Beat{})
		}
		f := newFixture(t, append(s, answer(say("ok"))...))
		f.status(f.run(), store.TurnCompleted)
	})
	check(t, "timers of one round trip do not touch the next", func(t *testing.T) {
		f := newFixture(t, answer(say("x"), call("wait", "")), answer(wait(200*time.Second), say("ok"))).
			with(newTool("wait", slow(290*time.Second)).spec)
		f.status(f.run(), store.TurnCompleted)
	})
}

// lingering is a model that has answered but does not close its stream in time, whatever happens to its context.
type lingering struct{ *model }

func (m lingering) Stream(ctx context.Context, req providers.Request) iter.Seq2[providers.Fragment, error] {
	seq := m.model.Stream(ctx, req)
	return func(yield func(providers.Fragment, error) bool) {
		for f, err := range seq {
			if !yield(f, err) {
				return
			}
		}
		<-time.After(time.Hour)
	}
}

func TestWholeAnswerWins(t *testing.T) {
	t.Parallel()
	check(t, "over the watchdog", func(t *testing.T) {
		f := newFixture(t, answer(say("all of it")))
		f.run()
		f.model.script = []step{answer(say("all of it"))}
		res := f.loop.Run(f.ctx, f.turn, toolloop.Attempt{Provider: lingering{f.model}, Model: "m"})
		f.status(res, store.TurnCompleted)
	})
	check(t, "but not over a kill", func(t *testing.T) {
		f := newFixture(t, answer(say("all of it")))
		f.run()
		f.model.script = []step{answer(say("all of it"))}
		f.after(time.Second, f.kill)
		f.status(f.loop.Run(f.ctx, f.turn, toolloop.Attempt{Provider: lingering{f.model}, Model: "m"}), store.TurnStoppedByUser)
	})
}

func TestBrokenStreams(t *testing.T) {
	t.Parallel()
	row(t, "CD033", "an error after text and a finished call", func(t *testing.T) {
		away := &providers.Error{Provider: "scripted", Kind: providers.KindNetwork}
		f := newFixture(t, answer(say("one"), call("echo", "")), step{say("two"), error(away)}).with(newTool("echo", nil).spec)
		res := f.run()
		f.status(res, store.TurnError)
		if !errors.Is(res.Err, away) {
			t.Errorf("error %v", res.Err)
		}
		if len(res.Messages) != 3 || res.Messages[2].Content != "two" || len(results(res.Messages)) != 1 {
			t.Errorf("messages %v", res.Messages)
		}
	})
	row(t, "CD034", "an error as the end", func(t *testing.T) {
		f := newFixture(t, step{providers.End{Reason: providers.FinishError, Raw: "boom"}})
		res := f.run()
		f.status(res, store.TurnError)
		if res.Err == nil {
			t.Error("no error")
		}
	})
	for reason, kind := range map[providers.FinishReason]providers.ErrorKind{
		providers.FinishError: providers.KindProtocol, providers.FinishFiltered: providers.KindFiltered,
		providers.FinishMissing: providers.KindTruncated, "": providers.KindTruncated, "new_reason": providers.KindTruncated,
	} {
		check(t, "no call runs after the end "+string(reason), func(t *testing.T) {
			echo := newTool("echo", nil)
			s := step{say("one"), call("echo", "{}")}
			if reason != "" {
				s = append(s, providers.End{Reason: reason})
			}
			f := newFixture(t, s).with(echo.spec)
			res := f.run()
			f.status(res, store.TurnError)
			if got := providers.KindOf(res.Err); got != kind || echo.runs() != 0 || len(f.events.results()) != 0 {
				t.Errorf("kind %q, %d runs, results %q", got, echo.runs(), f.events.results())
			}
		})
	}
}

func TestStopWhileStreaming(t *testing.T) {
	t.Parallel()
	row(t, "CD027", "a call arrived, then the stop", func(t *testing.T) {
		echo := newTool("echo", nil)
		f := newFixture(t, step{say("I will"), call("echo", "{}"), wait(time.Hour)}).with(echo.spec)
		f.after(time.Second, f.kill)
		began := time.Now()
		res := f.run()
		f.status(res, store.TurnStoppedByUser)
		want := []providers.Message{{Role: providers.RoleAssistant, Content: "I will", Stopped: true}}
		if d := cmp.Diff(want, res.Messages); d != "" || echo.runs() != 0 || time.Since(began) != time.Second {
			t.Error(d, echo.runs(), time.Since(began))
		}
	})
	row(t, "CD028", "stopped before any text", func(t *testing.T) {
		f := newFixture(t, step{wait(time.Hour)})
		f.after(time.Second, f.kill)
		res := f.run()
		f.status(res, store.TurnStoppedByUser)
		if len(res.Messages) != 0 {
			t.Errorf("messages %v", res.Messages)
		}
	})
}

func TestFollowUp(t *testing.T) {
	t.Parallel()
	row(t, "TL034", "asked for when a tool is about to run", func(t *testing.T) {
		echo := newTool("echo", nil)
		f := newFixture(t, answer(call("echo", "")), answer(say("done"))).with(echo.spec)
		f.events.each = func(e toolloop.Event) {
			if _, ok := e.(toolloop.ToolCall); ok && f.turn.FollowUp() {
				t.Error("the tool chain was interrupted")
			}
		}
		f.status(f.run(), store.TurnCompleted)
		if echo.runs() != 1 {
			t.Errorf("%d runs", echo.runs())
		}
	})
	row(t, "TL035", "asked for while a tool runs", func(t *testing.T) {
		f := newFixture(t, answer(call("wait", "")), answer(wait(time.Minute), say("done"))).with(newTool("wait", slow(time.Minute)).spec)
		for _, d := range []time.Duration{30 * time.Second, 90 * time.Second} { // in the tool, and in the stream after it
			f.after(d, func() {
				if f.turn.FollowUp() {
					t.Error("the tool chain was interrupted")
				}
			})
		}
		f.status(f.run(), store.TurnCompleted)
		if got := results(f.model.sent(2)); !slices.Equal(got, []string{"wait: slept"}) {
			t.Errorf("sent %q", got)
		}
	})
	check(t, "asked for while streaming (TL075)", func(t *testing.T) {
		echo := newTool("echo", nil)
		f := newFixture(t, step{say("well"), call("echo", "{}"), wait(time.Hour)}).with(echo.spec)
		f.after(time.Second, func() {
			for range 2 { // asking again changes nothing
				if !f.turn.FollowUp() {
					t.Error("not taken")
				}
			}
		})
		began := time.Now()
		res := f.run()
		f.status(res, store.TurnFollowUpInterrupt)
		if time.Since(began) != time.Second || echo.runs() != 0 || !res.Messages[0].Stopped {
			t.Errorf("after %s: %+v", time.Since(began), res)
		}
	})
	check(t, "asked for before the stream (TL093)", func(t *testing.T) {
		f := newFixture(t)
		if !f.turn.FollowUp() {
			t.Error("not taken")
		}
		f.status(f.run(), store.TurnFollowUpInterrupt)
		if f.model.count() != 0 {
			t.Errorf("%d round trips", f.model.count())
		}
	})
	check(t, "asked for when the last fragment has just come", func(t *testing.T) {
		for _, piece := range []any{say("all of it"), call("echo", "{}")} {
			echo := newTool("echo", nil)
			f := newFixture(t).with(echo.spec)
			f.model.script = []step{{say("x"), piece, providers.End{Reason: providers.FinishStop}, func() { f.turn.FollowUp() }}}
			res := f.run()
			f.status(res, store.TurnFollowUpInterrupt)
			if echo.runs() != 0 {
				t.Error("a call ran although the follow-up was taken")
			}
		}
	})
	check(t, "after the answer it can only be queued", func(t *testing.T) {
		f := newFixture(t, answer(say("done")))
		f.status(f.run(), store.TurnCompleted)
		if f.turn.FollowUp() {
			t.Error("taken")
		}
	})
	check(t, "a kill beats a follow-up", func(t *testing.T) {
		f := newFixture(t, step{say("well"), wait(time.Hour)})
		f.after(time.Second, func() { f.turn.FollowUp(); f.kill() })
		f.status(f.run(), store.TurnStoppedByUser)
	})
}
