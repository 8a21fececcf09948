package toolloop_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/toolloop"
)

func approveIt() toolloop.Decision         { return toolloop.Decision{Approve: true, By: "ada"} }
func deny(reason string) toolloop.Decision { return toolloop.Decision{Reason: reason, By: "ada"} }

// wallClock counts how long a turn's clock stood still.
type wallClock struct {
	paused time.Time
	stood  time.Duration
	open   int
}

func (c *wallClock) Pause()  { c.open++; c.paused = time.Now() }
func (c *wallClock) Resume() { c.open--; c.stood += time.Since(c.paused) }

func asking(t *testing.T, script ...step) (*fixture, *tool) {
	t.Helper()
	x := newTool("write", nil, approval(registry.ApproverOwner))
	return newFixture(t, script...).with(x.spec, newTool("free", nil).spec), x
}

func TestApproval(t *testing.T) {
	t.Parallel()
	row(t, "CD017", "approved", func(t *testing.T) {
		f, x := asking(t, answer(call("write", `{"path":"a"}`)), answer(say("ok")))
		clock := &wallClock{}
		f.turn.Clock = clock
		f.decides(time.Minute, approveIt())
		f.status(f.run(), store.TurnCompleted)
		if x.runs() != 1 || !slices.Equal(f.cards.ended, []toolloop.CardState{toolloop.CardApproved}) {
			t.Errorf("%d runs, cards %v", x.runs(), f.cards.ended)
		}
		c := f.cards.shown[0]
		if c.Arguments != x.args[0] || c.OwnerID != "ada" || c.Approver != registry.ApproverOwner || c.Tool != "write" || c.Token == "" {
			t.Errorf("card %+v", c)
		}
		if clock.open != 0 || clock.stood != time.Minute {
			t.Errorf("the clock stood for %s", clock.stood)
		}
		if d := f.journal.row("c1"); d.FinishedAt.Sub(d.StartedAt) != 0 {
			t.Errorf("the wait counts as run time: %s", d.FinishedAt.Sub(d.StartedAt))
		}
		if len(f.log.lines("approval.decided", `"by":"ada"`)) != 1 {
			t.Error("nobody logged who approved")
		}
	})
	row(t, "CD018", "denied", func(t *testing.T) {
		f, x := asking(t, answer(say("shall I"), call("write", "")))
		f.decides(time.Minute, deny(""))
		res := f.run()
		f.status(res, store.TurnDenied)
		if x.runs() != 0 || f.model.count() != 1 || f.reason(0) != "denied by user" || f.turn.Entries()[0].PreToolText != "shall I" {
			t.Errorf("%d runs, %d round trips, entries %+v", x.runs(), f.model.count(), f.turn.Entries())
		}
	})
	row(t, "CD019", "a denied call, then another", func(t *testing.T) {
		f, _ := asking(t, answer(call("write", ""), call("free", "")))
		f.decides(0, deny(""))
		res := f.run()
		f.status(res, store.TurnDenied)
		if d := cmp.Diff([]string{"write error/denied", "free error/not_run"}, f.journal.list()); d != "" || len(f.turn.Entries()) != 1 {
			t.Error(d)
		}
		// What the next turn's request makes of it.
		next := newFixture(t, answer(say("ok")))
		next.before = append(next.before, res.Messages...)
		next.status(next.run(), store.TurnCompleted)
		if got := results(next.model.sent(1)); len(got) != 2 || got[1] != "free: not run: an earlier call was denied" {
			t.Errorf("sent %q", got)
		}
	})
	row(t, "CD020", "a free call, a denied one, another", func(t *testing.T) {
		f, _ := asking(t, answer(call("free", ""), call("write", ""), call("free", "")))
		f.decides(0, deny(""))
		f.status(f.run(), store.TurnDenied)
		if d := cmp.Diff([]string{"free done/", "write error/denied", "free error/not_run"}, f.journal.list()); d != "" || len(f.turn.Entries()) != 2 {
			t.Error(d)
		}
	})
	check(t, "denied with a reason: the model reads it and goes on", func(t *testing.T) {
		f, x := asking(t, answer(call("write", ""), call("free", "")), answer(say("ok")))
		f.decides(0, deny("use the other file"))
		f.status(f.run(), store.TurnCompleted)
		if x.runs() != 0 || f.reason(0) != "denied by user: use the other file" {
			t.Errorf("reason %q", f.reason(0))
		}
		if d := cmp.Diff([]string{"write error/denied", "free done/"}, f.journal.list()); d != "" {
			t.Error(d)
		}
	})
	row(t, "CD021", "a card that cannot be shown", func(t *testing.T) {
		for _, show := range []func(context.Context, toolloop.Card) error{
			func(context.Context, toolloop.Card) error { return errors.New("missing access") },
			func(context.Context, toolloop.Card) error { panic("broken") },
		} {
			f, x := asking(t, answer(call("write", "")))
			f.cards.show = show
			f.status(f.run(), store.TurnDenied)
			if x.runs() != 0 || !strings.HasPrefix(f.reason(0), "denied by user") {
				t.Errorf("%d runs, reason %q", x.runs(), f.reason(0))
			}
			if _, open := f.broker.Card(f.cards.shown[0].Token); open {
				t.Error("the card can still be answered")
			}
		}
		f, _ := asking(t, answer(call("write", "")))
		f.turn.Cards = nil
		f.status(f.run(), store.TurnDenied)
	})
	check(t, "a card that cannot be closed", func(t *testing.T) {
		f, x := asking(t, answer(call("write", "")), answer(say("ok")))
		f.decides(0, approveIt())
		f.cards.close = func(context.Context) { panic("broken") }
		f.status(f.run(), store.TurnCompleted)
		if x.runs() != 1 {
			t.Errorf("%d runs", x.runs())
		}
	})
	row(t, "CD051", "answered from inside the showing", func(t *testing.T) {
		f, x := asking(t, answer(call("write", "")), answer(say("ok")))
		f.cards.show = func(_ context.Context, c toolloop.Card) error {
			if got, ok := f.broker.Card(c.Token); !ok || got != c {
				t.Error("not parked yet")
			}
			f.broker.Decide(c.Token, approveIt())
			return nil
		}
		f.status(f.run(), store.TurnCompleted)
		if x.runs() != 1 {
			t.Errorf("%d runs", x.runs())
		}
	})
	row(t, "CD052", "two answers: the first counts", func(t *testing.T) {
		for _, first := range []toolloop.Decision{approveIt(), deny("")} {
			f, x := asking(t, answer(call("write", "")), answer(say("ok")))
			f.cards.show = func(_ context.Context, c toolloop.Card) error {
				time.AfterFunc(time.Second, func() {
					if !f.broker.Decide(c.Token, first) || f.broker.Decide(c.Token, deny("no")) || f.broker.Decide(c.Token, approveIt()) {
						t.Error("the first answer was not the only one")
					}
				})
				return nil
			}
			res := f.run()
			if first.Approve != (x.runs() == 1) || first.Approve != (res.Status == store.TurnCompleted) {
				t.Errorf("%s, %d runs", res.Status, x.runs())
			}
		}
	})
	row(t, "CD053 CD054", "the same provider id in two channels and in two turns", func(t *testing.T) {
		a, x := asking(t, answer(pending{"write", "", "call_1"}), answer(say("ok")))
		b, y := asking(t, answer(pending{"write", "", "call_1"}))
		b.broker = a.broker
		b.turn.ID, b.turn.ChannelID = "t2", "other"
		a.decides(time.Minute, approveIt())
		done := make(chan toolloop.Result)
		go func() { done <- b.run() }()
		a.status(a.run(), store.TurnCompleted)
		if x.runs() != 1 || y.runs() != 0 || len(b.cards.ended) != 0 {
			t.Errorf("%d and %d runs", x.runs(), y.runs())
		}
		if a.broker.Decide(a.cards.shown[0].Token, approveIt()) {
			t.Error("an old card was taken")
		}
		b.status(<-done, store.TurnDenied) // nobody answers
		if y.runs() != 0 {
			t.Error("the other channel's tool ran")
		}
	})
	row(t, "CD059", "nobody answers", func(t *testing.T) {
		f, x := asking(t, answer(call("write", "")))
		began := time.Now()
		f.status(f.run(), store.TurnDenied)
		if x.runs() != 0 || time.Since(began) != 10*time.Minute || !slices.Equal(f.cards.ended, []toolloop.CardState{toolloop.CardExpired}) {
			t.Errorf("%d runs after %s, cards %v", x.runs(), time.Since(began), f.cards.ended)
		}
		if f.broker.Decide(f.cards.shown[0].Token, approveIt()) {
			t.Error("an expired card was taken")
		}
	})
	check(t, "a showing that hangs ends with the card", func(t *testing.T) {
		f, _ := asking(t, answer(call("write", "")))
		f.cards.show = func(ctx context.Context, _ toolloop.Card) error { <-ctx.Done(); return ctx.Err() }
		began := time.Now()
		f.status(f.run(), store.TurnDenied)
		if time.Since(began) != 10*time.Minute {
			t.Errorf("after %s", time.Since(began))
		}
	})
	check(t, "a kill while a card is open is a stop (CD047)", func(t *testing.T) {
		f, x := asking(t, answer(call("write", ""), call("free", "")))
		f.after(time.Minute, f.kill)
		f.cards.close = func(ctx context.Context) { <-ctx.Done() } // Discord is slow just now
		began := time.Now()
		res := f.run()
		f.status(res, store.TurnStoppedByUser)
		if x.runs() != 0 || time.Since(began) > time.Minute+time.Second || !slices.Equal(f.cards.ended, []toolloop.CardState{toolloop.CardStopped}) {
			t.Errorf("%d runs after %s, cards %v", x.runs(), time.Since(began), f.cards.ended)
		}
		if d := cmp.Diff([]string{"write error/stopped", "free error/stopped"}, f.journal.list()); d != "" || len(f.turn.Entries()) != 0 {
			t.Error(d)
		}
	})
	check(t, "a kill while the card is being shown is a stop too", func(t *testing.T) {
		f, x := asking(t, answer(call("write", "")))
		f.cards.show = func(ctx context.Context, _ toolloop.Card) error { <-ctx.Done(); return ctx.Err() }
		f.after(time.Second, f.kill)
		f.status(f.run(), store.TurnStoppedByUser)
		if x.runs() != 0 || !slices.Equal(f.cards.ended, []toolloop.CardState{toolloop.CardStopped}) {
			t.Errorf("%d runs, cards %v", x.runs(), f.cards.ended)
		}
	})
	check(t, "approved and killed at once: the kill wins", func(t *testing.T) {
		f, x := asking(t, answer(call("write", "")))
		f.cards.show = func(_ context.Context, c toolloop.Card) error {
			time.AfterFunc(time.Second, func() { f.broker.Decide(c.Token, approveIt()); f.kill() })
			return nil
		}
		f.status(f.run(), store.TurnStoppedByUser)
		if x.runs() != 0 {
			t.Error("ran")
		}
	})
	check(t, "the turn gate is asked again", func(t *testing.T) {
		open := true
		x := newTool("write", nil, approval(registry.ApproverModerator), func(t *registry.Tool) { t.Turn = func(registry.TurnView) bool { return open } })
		f := newFixture(t, answer(call("write", "")), answer(say("ok"))).with(x.spec)
		f.cards.show = func(_ context.Context, c toolloop.Card) error {
			open = false
			f.broker.Decide(c.Token, approveIt())
			return nil
		}
		f.status(f.run(), store.TurnCompleted)
		if x.runs() != 0 || !strings.Contains(f.reason(0), "current turn") {
			t.Errorf("%d runs", x.runs())
		}
	})
	check(t, "the card shows the bytes that run", func(t *testing.T) {
		x := newTool("react", nil, approval(registry.ApproverOwner), func(t *registry.Tool) {
			t.Schema = []byte(`{"type":"object","properties":{"id":{"type":"string"}}}`)
			t.IDArguments = []string{"id"}
		})
		f := newFixture(t, answer(call("react", `{"id":"ref_3"}`)), answer(say("ok"))).with(x.spec)
		f.decides(0, approveIt())
		f.status(f.run(), store.TurnCompleted)
		if f.cards.shown[0].Arguments != x.args[0] || x.args[0] != `{"id":"123456789012345678"}` {
			t.Errorf("shown %q, ran %q", f.cards.shown[0].Arguments, x.args)
		}
	})
	check(t, "an answer in the moment of the timeout counts if it was taken", func(t *testing.T) {
		taken := 0
		for range 200 {
			f, x := asking(t, answer(call("write", "")), answer(say("ok")))
			var ok bool
			f.cards.show = func(_ context.Context, c toolloop.Card) error {
				time.AfterFunc(time.Until(c.ExpiresAt), func() { ok = f.broker.Decide(c.Token, approveIt()) })
				return nil
			}
			res := f.run()
			synctest.Wait()
			if ok != (x.runs() == 1) || ok != (res.Status == store.TurnCompleted) {
				t.Fatalf("taken %v, but %d runs and %s", ok, x.runs(), res.Status)
			}
			if ok {
				taken++
			}
		}
		t.Logf("%d of 200 came in time", taken)
	})
}
