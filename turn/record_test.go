package turn_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
)

// A store that is slow with a turn's record does not hold the channel: the next message is answered, by a model that is told
// what the turn before it said and what its tools did, and both are recorded in the end.
func TestSlowRecordHoldsNoChannel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.tools = []registry.Tool{tool("look", nil)}
		w.edge.echo = true // Discord sends the bot its own messages
		w.start()
		defer w.stop()
		w.store.set(func(s *memory) { s.slow = map[string]time.Duration{"FinishTurn": 20 * time.Second} })
		w.model.will(calls("look", `{"q":1}`), says("I see a ship."), says("It was a ship."))
		w.say("ana", "c", "@bot look")
		w.pass(2 * time.Second)
		w.ended(store.TurnCompleted)
		if w.m.IsBusy("c") {
			t.Error("the channel is busy")
		}
		w.say("ana", "c", "@bot what was it?")
		asked := w.model.asked()
		text := strings.Join(flat(asked[len(asked)-1]), "\n")
		if !strings.Contains(text, "assistant>I see a ship.") || !strings.Contains(text, `look{"q":1}`) {
			t.Errorf("the next turn is not told of the one before it:\n%s", text)
		}
		w.pass(2 * time.Second)
		w.ended(store.TurnCompleted, store.TurnCompleted)
		w.pass(time.Minute)
		w.store.mu.Lock()
		defer w.store.mu.Unlock()
		for _, x := range w.store.turns {
			if x.Status != store.TurnCompleted {
				t.Errorf("recorded as %q: %+v", x.Status, x)
			}
		}
	})
}

// Of two processes that have a trigger in line, as when one has taken the other for gone, one answers it: the one in whose line
// the store has it. The other shows and records nothing, and leaves the line as it is.
func TestTakenTriggerIsNotAnswered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.model.will(hangs(), says("Here I am."))
		w.say("ana", "c", "@bot one")
		theirs := w.say("ben", "c", "@bot two")
		ours := w.say("cleo", "c", "@bot three")
		w.store.mu.Lock()
		taken := w.store.waiting[0]
		w.store.waiting = w.store.waiting[1:]
		w.store.mu.Unlock()
		if taken.MessageID != theirs.MessageID {
			t.Fatalf("%s waits first", taken.MessageID)
		}
		w.kill("ana", "c", false)
		w.pass(time.Minute)
		w.ended(store.TurnStoppedByUser, store.TurnSkipped, store.TurnCompleted)
		if asked := w.model.asked(); len(asked) != 2 || !strings.Contains(prompt(asked[1]), "@Parley three") {
			t.Errorf("the model was asked %d times", len(asked))
		}
		if rec, ok := w.store.record(theirs.MessageID); ok {
			t.Errorf("recorded: %+v", rec)
		}
		if rec, _ := w.store.record(ours.MessageID); rec.Answer != "Here I am." {
			t.Errorf("ours is recorded as %+v", rec)
		}
		for _, s := range w.edge.shown()[1:2] {
			if s.said() != "" || s.public() != "" {
				t.Errorf("shown: %q, %q", s.said(), s.public())
			}
		}
	})
}
