package turn_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parleybot/parley/internal/abort"
	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

// withFallback adds a second model.
func withFallback(t *testing.T) (w *world, second *model) {
	w, second = newWorld(t), &model{}
	w.models = append(w.models, turn.Model{Provider: second, Name: "m-2"})
	return w, second
}

func TestAttempts(t *testing.T) {
	t.Parallel()
	row(t, "TL070", "a stream that says something every minute is not timed out", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.model.will(reply{pieces: strings.Split("abcdefghij", ""), pace: time.Minute})
		w.say("ana", "c", "@bot go")
		w.pass(10 * time.Minute)
		w.ended(store.TurnCompleted)
	})
	row(t, "TL124 TL131", "a failed model's error is not told when another one answers; one quiet note is", func(t *testing.T) {
		w, second := withFallback(t)
		w.start()
		defer w.stop()
		w.model.will(hangs())
		second.will(says("from the second"))
		w.say("ana", "c", "@bot go")
		w.pass(time.Hour)
		w.ended(store.TurnCompleted)
		s := w.edge.last()
		if s.said() != "from the second" || !strings.HasPrefix(s.public(), "-# ") || s.ends != 1 {
			t.Errorf("the channel sees %q and %q, finished %d times", s.said(), s.public(), s.ends)
		}
		if n := w.edge.told(turn.NoticeError); len(n) != 0 {
			t.Errorf("told %v", n)
		}
	})
	row(t, "TL125", "the failed model's partial text is taken back, the other's stays", func(t *testing.T) {
		w, second := withFallback(t)
		w.start()
		defer w.stop()
		w.model.will(fails(providers.KindNetwork, "half an ans"))
		second.will(says("whole"))
		in := w.say("ana", "c", "@bot go")
		if s := w.edge.last(); s.said() != "whole" || s.retract != 1 {
			t.Errorf("the channel sees %q after %d retractions", s.said(), s.retract)
		}
		if rec, _ := w.store.record(in.MessageID); strings.Contains(string(rec.Transcript), "half") || rec.Model != "m-2" {
			t.Errorf("recorded for %s: %s", rec.Model, rec.Transcript)
		}
	})
	row(t, "TL126", "a fallback that is stopped or interrupted has no note", func(t *testing.T) {
		w, second := withFallback(t)
		w.start()
		defer w.stop()
		w.model.will(fails(providers.KindNetwork), fails(providers.KindNetwork))
		second.will(hangs("a"), hangs("b"))
		w.say("ana", "c", "@bot go")
		w.say("ana", "c", "@bot or else") // both models fail and hang again
		first := w.edge.shown()[0]
		if first.public() != "" {
			t.Errorf("an interrupted fallback said %q", first.public())
		}
		w.kill("ana", "c", false)
		if got := w.edge.last().public(); got != "Stopped by <@9ana>." {
			t.Errorf("a stopped fallback said %q", got)
		}
		w.ended(store.TurnFollowUpInterrupt, store.TurnStoppedByUser)
	})
	row(t, "TL127", "a follow-up between two attempts takes the turn over, without a note", func(t *testing.T) {
		w, second := withFallback(t)
		w.start()
		defer w.stop()
		w.model.will(reply{wait: time.Second, err: fails(providers.KindNetwork).err}, says("the follow-up's answer"))
		second.will(hangs())
		w.say("ana", "c", "@bot go")
		w.pass(2 * time.Second)
		w.say("ana", "c", "@bot rather this")
		w.ended(store.TurnFollowUpInterrupt, store.TurnCompleted)
		if got := w.edge.shown()[0].public(); got != "" {
			t.Errorf("told %q", got)
		}
	})
	row(t, "TL129", "a channel that is gone ends the attempts as skipped", func(t *testing.T) {
		w, second := withFallback(t)
		w.edge.unreachable = true
		w.start()
		defer w.stop()
		w.model.will(fails(providers.KindNetwork))
		w.say("ana", "c", "@bot go")
		w.ended(store.TurnSkipped)
		if n := len(second.asked()); n != 0 {
			t.Errorf("the second model was asked %d times", n)
		}
		w.edge.unreachable = false
		w.edge.deliver = fmt.Errorf("sending: %w", turn.ErrUnreachable)
		w.say("ben", "c", "@bot go")
		w.ended(store.TurnSkipped, store.TurnSkipped)
		w.edge.deliver = fmt.Errorf("403: missing permissions, which may be given again")
		w.say("cleo", "c", "@bot go")
		w.ended(store.TurnSkipped, store.TurnSkipped, store.TurnCompleted)
	})
	row(t, "TL132 TL133 B02", "an empty answer is asked for again twice; then who asked is told, passive turns are silent", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.must(w.m.SetAlwaysOn(context.Background(), w.place("c"), "801", true))
		w.model.will(says(""), says("second try"), says(" "), says(""), says("\n"), says(""), says(""), says(""))
		w.say("ana", "c", "@bot one")
		w.pass(time.Second)
		w.say("ana", "c", "@bot two")
		w.pass(2 * time.Second)
		if got := w.edge.last().public(); !strings.HasPrefix(got, "The model gave no answer.") {
			t.Errorf("told %q", got)
		}
		w.say("ana", "801", "three")
		w.pass(2 * time.Second)
		if got := w.edge.last().public(); got != "" {
			t.Errorf("a passive turn said %q", got)
		}
		w.ended(store.TurnCompleted, store.TurnEmptyResponse, store.TurnEmptyResponse)
		if n := len(w.model.asked()); n != 8 {
			t.Errorf("the model was asked %d times", n)
		}
	})
	check(t, "a kill ends the pause before a retry", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.model.will(says(""))
		w.say("ana", "c", "@bot one")
		w.kill("ana", "c", false)
		w.ended(store.TurnStoppedByUser)
		if n := len(w.model.asked()); n != 1 {
			t.Errorf("the model was asked %d times", n)
		}
	})
	check(t, "a tool that ran does not run again for the next model, which sees its result", func(t *testing.T) {
		w, second := withFallback(t)
		runs := 0
		w.tools = []registry.Tool{tool("write", func(context.Context) registry.Result { runs++; return registry.OK("written") })}
		w.start()
		defer w.stop()
		w.model.will(calls("write", "{}", "let me see"), fails(providers.KindOverloaded))
		second.will(says("done"))
		w.say("ana", "c", "@bot go")
		w.ended(store.TurnCompleted)
		if got := prompt(second.asked()[0]); runs != 1 || !strings.Contains(got, "written") {
			t.Errorf("%d runs; the second model was asked\n%s", runs, got)
		}
		if got := w.edge.last().said(); !strings.Contains(got, "let me see") {
			t.Errorf("text before a tool was taken back: %q", got)
		}
	})
	check(t, "the turn's clock ends it, and an open card stops the clock", func(t *testing.T) {
		w := newWorld(t)
		w.limits.TurnTimeout = time.Minute
		w.tools = []registry.Tool{tool("risky", nil, func(x *registry.Tool) { x.Approval = registry.ApproverOwner })}
		w.start()
		defer w.stop()
		w.model.will(reply{wait: 30 * time.Second, calls: calls("risky", "{}").calls}, says("done"))
		w.say("ana", "c", "@bot go")
		w.pass(31 * time.Second)
		w.pass(5 * time.Minute)
		w.m.Approve(w.edge.last().cards[0].Token, turn.Decision{Approve: true, By: "9ana"})
		synctest.Wait()
		w.ended(store.TurnCompleted)
		w.model.will(hangs())
		w.say("ana", "c", "@bot go")
		w.pass(time.Minute)
		w.ended(store.TurnCompleted, store.TurnTimeout)
		if _, ok := w.edge.last().ending.Cause.(abort.TurnTimeout); !ok {
			t.Errorf("ended for %v", w.edge.last().ending.Cause)
		}
	})
	row(t, "CD041 CD043", "without a model the turn says so and the channel is free", func(t *testing.T) {
		w := newWorld(t)
		w.models = nil
		w.start()
		defer w.stop()
		w.say("ana", "c", "@bot go")
		w.ended(store.TurnError)
		if got := w.edge.last().public(); !strings.HasPrefix(got, "No chat provider configured.") || w.m.IsBusy("c") {
			t.Errorf("told %q, busy: %v", got, w.m.IsBusy("c"))
		}
	})
	row(t, "CD042", "the bot's model answers unless the channel has chosen one", func(t *testing.T) {
		w, second := withFallback(t)
		w.start()
		defer w.stop()
		w.say("ana", "c", "@bot go")
		w.must(w.m.SetModel(context.Background(), w.place("c"), "m-2"))
		w.say("ana", "c", "@bot go")
		if a, b := w.model.asked(), second.asked(); len(a) != 1 || len(b) != 1 || a[0].Model != "m-1" || b[0].Model != "m-2" {
			t.Errorf("asked %d and %d times", len(a), len(b))
		}
	})
	row(t, "CD044 CD056", "all events come before one done", func(t *testing.T) {
		w := newWorld(t)
		w.tools = []registry.Tool{tool("look", nil)}
		w.start()
		defer w.stop()
		w.model.will(calls("look", "{}"), says("a", "b"), fails(providers.KindAuth))
		w.say("ana", "c", "@bot go")
		w.say("ana", "c", "@bot go")
		seq, done, over := map[turn.ID]int{}, map[turn.ID]int{}, []turn.DoneReason{}
		for _, e := range w.tape.all() {
			if e.Kind == turn.EventAdmission {
				continue
			}
			if done[e.TurnID] > 0 || e.Seq != seq[e.TurnID]+1 {
				t.Errorf("event %s (%d) came after %d", e.Kind, e.Seq, seq[e.TurnID])
			}
			seq[e.TurnID] = e.Seq
			if e.Kind == turn.EventDone {
				done[e.TurnID]++
				over = append(over, e.Done)
			}
		}
		if len(over) != 2 || over[0] != turn.DoneEndTurn || over[1] != turn.DoneError {
			t.Errorf("done %v", over)
		}
	})
	row(t, "CD055", "a model that panics fails the turn and frees the channel", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.model.will(reply{panic: "no driver"})
		w.say("ana", "c", "@bot go")
		w.ended(store.TurnError)
		if w.m.IsBusy("c") || strings.Contains(w.edge.last().public(), "driver") {
			t.Errorf("busy: %v, told %q", w.m.IsBusy("c"), w.edge.last().public())
		}
		w.say("ana", "c", "@bot go")
		w.ended(store.TurnError, store.TurnCompleted)
	})
}

// Whatever a port does, every turn ends once and the next one runs.
func TestBrokenPorts(t *testing.T) {
	t.Parallel()
	for _, port := range []string{"open", "finish", "history", "notify"} {
		check(t, port, func(t *testing.T) {
			w := newWorld(t)
			w.edge.broken = map[string]bool{port: true}
			w.start()
			defer w.stop()
			w.say("ana", "c", "@bot /cost")
			w.say("ana", "c", "@bot go")
			if n := len(w.tape.statuses()); n != 1 || w.m.IsBusy("c") {
				t.Fatalf("%d turns ended, busy: %v", n, w.m.IsBusy("c"))
			}
			w.edge.mu.Lock()
			w.edge.broken = nil
			w.edge.mu.Unlock()
			w.say("ana", "c", "@bot go")
			if got := w.tape.statuses(); len(got) != 2 || got[1] != store.TurnCompleted {
				t.Errorf("turns ended as %v", got)
			}
		})
	}
	check(t, "store", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.store.set(func(s *memory) { s.broken = true })
		w.say("ana", "c", "@bot go")
		w.say("ana", "c", "@bot /cost")
		if n := len(w.tape.statuses()); n != 1 || w.m.IsBusy("c") {
			t.Errorf("%d turns ended, busy: %v", n, w.m.IsBusy("c"))
		}
		w.store.set(func(s *memory) { s.broken = false })
		w.pass(time.Minute)
		w.say("ana", "c", "@bot go")
		w.ended(store.TurnCompleted, store.TurnCompleted)
	})
	check(t, "observer", func(t *testing.T) {
		w := newWorld(t)
		w.tape.on = func(turn.Event) { panic("no") }
		w.start()
		defer w.stop()
		w.say("ana", "c", "@bot go")
		w.ended(store.TurnCompleted)
	})
}
