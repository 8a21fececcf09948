package turn_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

func TestShutdown(t *testing.T) {
	t.Parallel()
	check(t, "a turn may finish within the grace, and nothing begins any more", func(t *testing.T) {
		w := newWorld(t).start()
		w.model.will(reply{pieces: []string{"a", "b"}, pace: 5 * time.Second})
		w.say("ana", "c", "@bot one")
		ben := w.say("ben", "c", "@bot two")
		drained := make(chan struct{})
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			defer cancel()
			w.m.Drain(ctx)
			close(drained)
		}()
		synctest.Wait()
		cleo := w.say("cleo", "c", "@bot three")
		w.admission(ben, "discard:kept_for_restart")
		w.admission(cleo, "refuse:draining")
		if _, err := w.m.Submit(context.Background(), w.message("x", "c", "go"), turn.Queue); !errors.Is(err, turn.ErrDraining) {
			t.Errorf("Submit gave %v", err)
		}
		w.pass(6 * time.Second)
		<-drained
		w.ended(store.TurnCompleted)
		w.start()
		defer w.stop()
		synctest.Wait()
		w.ended(store.TurnCompleted, store.TurnCompleted)
		if got := w.edge.last().opening.ReplyToID; got != ben.MessageID {
			t.Errorf("the next process answered %s", got)
		}
	})
	check(t, "past the grace the rest is interrupted and says so", func(t *testing.T) {
		w := newWorld(t).start()
		w.model.will(hangs("half"))
		w.say("ana", "c", "@bot one")
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		w.m.Drain(ctx)
		w.ended(store.TurnInterrupted)
		if got := w.edge.last().public(); !strings.HasPrefix(got, "Interrupted") {
			t.Errorf("told %q", got)
		}
		shown := len(w.edge.notices) + len(w.edge.surfaces)
		w.say("ana", "c", "@bot two")
		w.pass(time.Hour)
		if got := len(w.edge.notices) + len(w.edge.surfaces); got != shown {
			t.Error("something was said after the end")
		}
	})
	check(t, "a claim on its way when the process ends is kept, waiting or not", func(t *testing.T) {
		w := newWorld(t).start()
		w.store.set(func(s *memory) { s.delay = time.Second })
		in := w.message("ana", "c", "@bot one")
		w.m.Receive(context.Background(), in)
		w.pass(1500 * time.Millisecond) // the settings are read, the claim is asked for
		go w.stop()
		w.pass(time.Minute)
		w.store.set(func(s *memory) { s.delay = 0 })
		w.start()
		defer w.stop()
		w.pass(time.Second)
		w.ended(store.TurnCompleted)
	})
	check(t, "what waited too long gets one notice, what is unreadable stays, what had begun is not begun again", func(t *testing.T) {
		w := newWorld(t).start()
		w.model.will(hangs())
		first := w.say("ana", "c", "@bot one")
		ben := w.say("ben", "c", "@bot two")
		w.stop()
		w.store.set(func(s *memory) {
			s.waiting = append(s.waiting, store.Waiting{MessageID: "5", ChannelID: "c", Payload: []byte("{"), QueuedAt: time.Now().Add(8 * time.Minute)})
			begun := s.waiting[0]
			begun.MessageID = first.MessageID
			s.waiting = append(s.waiting, begun)
			s.turns[0].Status = store.TurnRunning // as after a crash
		})
		elapse(11 * time.Minute)
		w.start()
		defer w.stop()
		synctest.Wait()
		w.admission(ben, "discard:expired_over_restart")
		if e, i := w.edge.told(turn.NoticeExpired), w.edge.told(turn.NoticeInterrupted); len(e) != 1 || len(i) != 1 {
			t.Errorf("told %v and %v", e, i)
		}
		if n := w.store.stored(); n != 1 || len(w.edge.shown()) != 1 {
			t.Errorf("%d stored, %d turns shown", n, len(w.edge.shown()))
		}
	})
	check(t, "a trigger word's message runs after a restart as what it was", func(t *testing.T) {
		w := newWorld(t).start()
		_, err := w.m.SetTriggerWords(context.Background(), w.place("c"), []string{"mori"})
		w.must(err)
		w.model.will(hangs())
		w.say("ana", "c", "@bot one")
		w.say("ben", "c", "hello mori")
		w.stop()
		w.model.will(fails(providers.KindNetwork))
		w.start()
		defer w.stop()
		synctest.Wait()
		w.ended(store.TurnInterrupted, store.TurnError)
		if w.edge.last().public() == "" {
			t.Error("the error was not told to who addressed the bot")
		}
	})
	check(t, "what came in the same instant is resumed as it was written, however it was stored", func(t *testing.T) {
		w := newWorld(t).start()
		w.model.will(hangs())
		w.say("ana", "c", "@bot one")
		ben, cleo := w.say("ben", "c", "@bot two"), w.say("cleo", "c", "@bot three")
		w.stop()
		w.store.set(func(s *memory) { slices.Reverse(s.waiting) })
		w.start()
		defer w.stop()
		synctest.Wait()
		var order []string
		for _, s := range w.edge.shown()[1:] {
			order = append(order, s.opening.ReplyToID)
		}
		if !slices.Equal(order, []string{ben.MessageID, cleo.MessageID}) {
			t.Errorf("answered %v", order)
		}
	})
}
