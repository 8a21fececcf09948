package turn_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

func TestQueue(t *testing.T) {
	t.Parallel()
	row(t, "B37", "one acknowledgement while people wait, one notice when the line is full", func(t *testing.T) {
		w := newWorld(t)
		w.model.will(reply{pieces: []string{"a", "b"}, pace: time.Minute})
		w.start()
		defer w.stop()
		w.say("ana", "c", "@bot one")
		w.pass(5 * time.Second)
		var last turn.Inbound
		for i := range 8 {
			last = w.say(fmt.Sprintf("p%d", i), "c", "@bot me")
		}
		w.pass(10 * time.Second)
		w.admission(last, "refuse:queue_full")
		if a, f := w.edge.told(turn.NoticeQueued), w.edge.told(turn.NoticeQueueFull); len(a) != 1 || len(f) != 1 {
			t.Errorf("%d acknowledgements and %d notices", len(a), len(f))
		}
		w.pass(time.Hour)
		if got := len(w.tape.statuses()); got != 6 {
			t.Errorf("%d turns ended, want the running one and five that waited", got)
		}
	})
	check(t, "a short wait needs no acknowledgement", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.model.will(reply{pieces: []string{"a", "b"}, pace: time.Second})
		w.say("ana", "c", "@bot one")
		w.say("ben", "c", "@bot two")
		w.pass(time.Minute)
		if n := w.edge.told(turn.NoticeQueued); len(n) != 0 {
			t.Errorf("told %v", n)
		}
	})
	row(t, "B31", "waiting messages are updated and dropped as they are edited and deleted", func(t *testing.T) {
		w := newWorld(t).start()
		w.model.will(hangs())
		w.say("ana", "c", "@bot one")
		ben, cleo := w.say("ben", "c", "@bot two"), w.say("cleo", "c", "@bot three")
		w.m.Edited("c", ben.MessageID, "<@1> twenty-two")
		w.m.Edited("c", ben.MessageID, "<@1> twenty-three")
		w.m.Deleted("c", cleo.MessageID)
		synctest.Wait()
		w.admission(cleo, "discard:trigger_deleted")
		if w.store.stored() != 1 {
			t.Errorf("%d triggers are stored", w.store.stored())
		}
		w.stop() // what waits runs in the next process, as it was edited
		w.start()
		defer w.stop()
		synctest.Wait()
		asked := w.model.asked()
		if got := prompt(asked[len(asked)-1]); !strings.Contains(got, "twenty-three") || strings.Contains(got, "@Parley three") {
			t.Errorf("the request was\n%s", got)
		}
	})
	row(t, "B35", "one person in two channels gets two answers", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.model.will(hangs(), says("b"))
		w.say("ana", "a", "@bot one")
		w.say("ana", "b", "@bot two")
		w.ended(store.TurnCompleted)
		if c := w.edge.last().opening.ChannelID; c != "b" {
			t.Errorf("answered in %s", c)
		}
	})
	row(t, "CD038 CD039 CD040 CD045", "Reject runs one of fifty, beside other channels, and again on done", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.model.will(reply{pieces: []string{"a", "b"}, pace: time.Second})
		w.tape.on = func(e turn.Event) {
			if e.Kind == turn.EventDone && w.m.IsBusy(e.ChannelID) {
				t.Error("the channel is busy when the end is told")
			}
		}
		var wg sync.WaitGroup
		var mu sync.Mutex
		ok, busy := 0, 0
		for range 50 {
			in := w.message("ana", "c", "go")
			wg.Go(func() {
				_, err := w.m.Submit(context.Background(), in, turn.Reject)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					ok++
				case errors.Is(err, turn.ErrBusy) && err.Error() == "chat already running for this channel":
					busy++
				}
			})
		}
		wg.Wait()
		if ok != 1 || busy != 49 {
			t.Errorf("%d ran and %d were refused", ok, busy)
		}
		if _, err := w.m.Submit(context.Background(), w.message("ana", "d", "go"), turn.Reject); err != nil {
			t.Errorf("in another channel: %v", err)
		}
		w.pass(2 * time.Second)
		if _, err := w.m.Submit(context.Background(), w.message("ana", "c", "go"), turn.Reject); err != nil {
			t.Errorf("after done: %v", err)
		}
		synctest.Wait()
		w.ended(store.TurnCompleted, store.TurnCompleted, store.TurnCompleted)
	})
	row(t, "B88", "a message that comes twice is answered once, also after a restart and while the store is away", func(t *testing.T) {
		w := newWorld(t).start()
		in := w.say("ana", "c", "@bot one")
		w.m.Receive(context.Background(), in)
		synctest.Wait()
		w.store.set(func(s *memory) { s.away = true })
		in2 := w.say("ana", "c", "@bot two")
		w.m.Receive(context.Background(), in2)
		synctest.Wait()
		w.store.set(func(s *memory) { s.away = false })
		w.m.Receive(context.Background(), in2)
		synctest.Wait()
		w.stop()
		w.start()
		defer w.stop()
		w.m.Receive(context.Background(), in)
		synctest.Wait()
		w.ended(store.TurnCompleted, store.TurnCompleted)
	})
}
