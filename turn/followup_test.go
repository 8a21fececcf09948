package turn_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

func TestFollowUps(t *testing.T) {
	t.Parallel()
	row(t, "TL075", "the owner's next message interrupts the stream and is answered next", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.model.will(hangs("The capital of"), says("Madrid"))
		w.say("ana", "c", "@bot capital of France?")
		w.say("ben", "c", "@bot me too")
		w.say("ana", "c", "I meant Spain") // it need not address the bot
		w.ended(store.TurnFollowUpInterrupt, store.TurnCompleted, store.TurnCompleted)
		asked := w.model.asked()
		if got := prompt(asked[1]); !strings.Contains(got, "I meant Spain") || strings.Contains(got, "me too") {
			t.Errorf("the second request was\n%s", got)
		}
	})
	row(t, "TL076", "a tool chain is not interrupted: the message waits", func(t *testing.T) {
		w := newWorld(t)
		w.tools = []registry.Tool{tool("slow", sleeping(10*time.Second))}
		w.start()
		defer w.stop()
		w.model.will(calls("slow", "{}"), says("done"), says("next"))
		w.say("ana", "c", "@bot go")
		w.say("ana", "c", "and then?")
		w.ended()
		w.pass(11 * time.Second)
		w.ended(store.TurnCompleted, store.TurnCompleted)
	})
	row(t, "TL077", "of three quick follow-ups the newest counts", func(t *testing.T) {
		w := newWorld(t)
		w.tools = []registry.Tool{tool("slow", sleeping(10*time.Second))}
		w.start()
		defer w.stop()
		w.model.will(calls("slow", "{}"), says("done"), says("three"))
		w.say("ana", "c", "@bot go")
		one, two := w.say("ana", "c", "one"), w.say("ana", "c", "two")
		w.say("ana", "c", "three")
		w.pass(11 * time.Second)
		w.admission(one, "discard:superseded_follow_up")
		w.admission(two, "discard:superseded_follow_up")
		w.ended(store.TurnCompleted, store.TurnCompleted)
	})
	row(t, "TL078", "the fourth interrupt in a row is none", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.model.brain = func(r providers.Request) reply {
			if strings.Contains(prompt(r), "last") {
				return says("ok")
			}
			return reply{pieces: []string{"a", "b"}, pace: 10 * time.Second}
		}
		w.say("ana", "c", "@bot 0")
		for i := range 3 {
			w.say("ana", "c", fmt.Sprintf("@bot %d", i+1))
		}
		four := w.say("ana", "c", "@bot last")
		ignored := w.say("ana", "c", "by the way")
		w.ended(store.TurnFollowUpInterrupt, store.TurnFollowUpInterrupt, store.TurnFollowUpInterrupt)
		w.admission(four, "admit:mention")
		w.admission(ignored, "ignore:not_addressed") // it must address the bot by itself
		w.pass(11 * time.Second)
		w.ended(store.TurnFollowUpInterrupt, store.TurnFollowUpInterrupt, store.TurnFollowUpInterrupt, store.TurnCompleted, store.TurnCompleted)
	})
	row(t, "TL079 TL080", "another member's trigger waits its turn; what is no trigger is ignored", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.model.will(reply{pieces: []string{"a", "b"}, pace: time.Second})
		w.say("ana", "c", "@bot one")
		ben, cleo := w.say("ben", "c", "@bot two"), w.say("cleo", "c", "nice weather")
		w.admission(ben, "admit:mention")
		w.admission(cleo, "ignore:not_addressed")
		w.pass(2 * time.Second)
		w.ended(store.TurnCompleted, store.TurnCompleted)
	})
	row(t, "TL087 TL088 TL098", "the channel is busy, then free; what waits is answered and hidden until then", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.model.will(reply{pieces: []string{"a", "b"}, pace: time.Second})
		w.say("ana", "c", "@bot one")
		w.say("ben", "c", "@bot secret plan")
		if !w.m.IsBusy("c") || w.m.Totals().Waiting != 1 || w.m.Status("c").Waiting != 1 {
			t.Error("the channel does not say that it is busy")
		}
		w.say("ana", "c", "<@12345> look") // to somebody else: no follow-up
		w.say("dan", "c", "@bot three")
		w.pass(2 * time.Second)
		if w.m.IsBusy("c") || w.m.Totals().Waiting != 0 {
			t.Error("the channel is not free")
		}
		asked := w.model.asked()
		if len(asked) != 3 || strings.Contains(prompt(asked[0]), "secret") || strings.Contains(prompt(asked[1]), "three") {
			t.Errorf("requests:\n%s", prompt(asked[0]))
		}
	})
	row(t, "TL093", "a follow-up that comes before the stream begins", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.store.set(func(s *memory) { s.delay = time.Second })
		w.m.Receive(context.Background(), w.message("ana", "c", "@bot one"))
		w.pass(2500 * time.Millisecond) // claimed, and writing the turn
		w.m.Receive(context.Background(), w.message("ana", "c", "@bot two"))
		w.pass(time.Minute)
		got := w.tape.statuses()
		if len(got) != 2 || got[1] != store.TurnCompleted {
			t.Errorf("turns ended as %v", got)
		}
	})
	check(t, "a redelivered trigger of the running turn interrupts nothing", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.model.will(reply{pieces: []string{"a", "b"}, pace: time.Second})
		in := w.say("ana", "c", "@bot one")
		w.m.Receive(context.Background(), in)
		w.pass(2 * time.Second)
		w.ended(store.TurnCompleted)
		w.admission(in, "ignore:duplicate")
	})
	check(t, "a follow-up inherits what its predecessor was allowed, and counts no window", func(t *testing.T) {
		w := newWorld(t)
		w.tools = []registry.Tool{tool("search", nil, triggered("search")), tool("other", nil, triggered("other"))}
		w.start()
		defer w.stop()
		w.must(w.m.SetGuildDeliberate(context.Background(), w.place("c"), turn.DeliberateOn))
		w.store.set(func(s *memory) { s.windows["c"] = map[string]int{"other": 2} })
		w.model.will(hangs())
		w.say("ana", "c", "@bot search cats")
		w.say("ana", "c", "I meant dogs")
		w.say("ana", "c", "@bot thanks")
		var got [][]string
		for _, r := range w.model.asked() {
			got = append(got, offered(r))
		}
		want := [][]string{{"other", "search"}, {"other", "search"}, {"other"}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("offered (-want +got):\n%s", diff)
		}
	})
}
