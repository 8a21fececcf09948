package turn_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

func TestStopAndKill(t *testing.T) {
	t.Parallel()
	row(t, "TL072 TL073 CD046 B45", "a kill ends a stream that hangs, and the next message is answered", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.model.will(hangs("half"))
		first := w.say("ana", "c", "@bot one")
		rep := w.kill("ana", "c", false)
		if len(rep.Killed) != 1 || rep.Refused {
			t.Fatalf("the kill reported %+v", rep)
		}
		w.ended(store.TurnStoppedByUser)
		if got := w.edge.last(); got.said() != "half" || got.public() != "Stopped by <@9ana>." {
			t.Errorf("the channel sees %q and %q", got.said(), got.public())
		}
		if w.m.IsBusy("c") {
			t.Error("the channel is busy after the kill")
		}
		if rec, _ := w.store.record(first.MessageID); rec.Status != store.TurnStoppedByUser || !strings.Contains(string(rec.Transcript), "half") {
			t.Errorf("recorded as %q with %s", rec.Status, rec.Transcript)
		}
		w.say("ana", "c", "@bot two")
		w.ended(store.TurnStoppedByUser, store.TurnCompleted)
	})
	row(t, "TL074", "nothing of the owner fills the line while their stop is pending", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.model.will(reply{pieces: []string{"half"}, hang: true, deaf: time.Second})
		w.say("ana", "c", "@bot one")
		w.say("ana", "c", "stop")
		again := w.say("ana", "c", "@bot and another thing")
		w.admission(again, "ignore:stop_pending")
		if got := w.m.Status("c"); got.Waiting != 0 || got.Running == nil {
			t.Errorf("the channel has %+v", got)
		}
		w.pass(2 * time.Second)
		w.ended(store.TurnStoppedByUser)
	})
	row(t, "TL084 TL085 TL086", "the owner's stop ends the turn; others' don't, and neither does a word with stop in it", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.model.will(hangs("half"), says("Ben's answer"))
		w.say("ana", "c", "@bot one")
		w.say("ben", "c", "@bot two")
		w.say("ben", "c", "stop")
		w.say("cleo", "c", "unstoppable")
		w.ended()
		w.say("ana", "c", "ok, stop!")
		w.ended(store.TurnStoppedByUser, store.TurnCompleted) // the line is kept, no stop answer is generated
		if n := len(w.model.asked()); n != 2 {
			t.Errorf("the model was asked %d times", n)
		}
	})
	row(t, "TL089", "a kill discards what waits and says how much", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.model.will(hangs())
		w.say("ana", "c", "@bot one")
		ben, cleo := w.say("ben", "c", "@bot two"), w.say("cleo", "c", "@bot three")
		if w.store.stored() != 2 {
			t.Fatalf("%d triggers are stored", w.store.stored())
		}
		if rep := w.kill("mod", "c", true); len(rep.Killed) != 1 || rep.Discarded != 2 {
			t.Errorf("the kill reported %+v", rep)
		}
		for _, in := range []turn.Inbound{ben, cleo} {
			w.admission(in, "discard:channel_queue_cleared")
		}
		if w.store.stored() != 0 {
			t.Error("discarded triggers are stored still")
		}
	})
	row(t, "TL094 CD049 B43", "a kill of an idle channel does nothing, now or later", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		if rep := w.kill("mod", "c", true); !cmp.Equal(rep, turn.KillReport{}) {
			t.Errorf("the kill reported %+v", rep)
		}
		w.m.Stop(context.Background(), turn.KillRequest{ChannelID: "c", GuildID: guildID, Actor: turn.Actor{ID: "9ana"}})
		w.say("ana", "c", "@bot hello")
		w.ended(store.TurnCompleted)
	})
	row(t, "CD048 B41 B40", "a kill ends a tool that does not listen, and no further tool runs", func(t *testing.T) {
		w := newWorld(t)
		free := make(chan struct{})
		w.tools = []registry.Tool{tool("deaf", func(context.Context) registry.Result { <-free; return registry.OK(nil) }), tool("next", nil)}
		w.start()
		r := calls("deaf", "{}")
		r.calls = append(r.calls, providers.CallDelta{Slot: 1, ID: "y", Name: "next", Arguments: "{}"})
		w.model.will(r)
		w.say("ana", "c", "@bot go")
		began := time.Now()
		rep := w.kill("ana", "c", false)
		if len(rep.Killed) != 1 || rep.Killed[0].Tool != "deaf" {
			t.Fatalf("the kill reported %+v", rep)
		}
		w.ended(store.TurnStoppedByUser)
		if time.Since(began) > time.Second {
			t.Errorf("the stop took %s", time.Since(began))
		}
		w.say("ana", "c", "@bot again")
		w.ended(store.TurnStoppedByUser, store.TurnCompleted)
		close(free)
		w.stop()
		for key, c := range w.store.rows {
			if c.Tool == "next" && c.Status == store.CallDone {
				t.Errorf("%s ran after the stop", key)
			}
		}
	})
	row(t, "CD047", "a stop while a card is open ends the turn within a second, and the tool does not run", func(t *testing.T) {
		w := newWorld(t)
		ranIt := false
		w.tools = []registry.Tool{tool("risky", func(context.Context) registry.Result { ranIt = true; return registry.OK(nil) },
			func(x *registry.Tool) { x.Approval = registry.ApproverOwner })}
		w.start()
		defer w.stop()
		w.model.will(calls("risky", "{}"))
		w.say("ana", "c", "@bot go")
		if len(w.edge.last().cards) != 1 {
			t.Fatal("no card is shown")
		}
		began := time.Now()
		w.kill("ana", "c", false)
		w.ended(store.TurnStoppedByUser)
		if ranIt || time.Since(began) > time.Second {
			t.Errorf("ran: %v, after %s", ranIt, time.Since(began))
		}
		if got := w.edge.last().closed; !slices.Equal(got, []turn.CardState{turn.CardStopped}) {
			t.Errorf("the card was closed as %v", got)
		}
	})
	row(t, "CD050", "an unknown card is a silent no-op", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		if w.m.Approve("nope", turn.Decision{Approve: true, By: "9ana"}) {
			t.Error("an unknown card was approved")
		}
	})
	row(t, "B39", "who may stop what", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.model.will(hangs())
		w.say("ana", "c", "@bot one")
		w.say("ben", "c", "@bot two")
		if rep := w.kill("cleo", "c", false); !rep.Refused {
			t.Errorf("a stranger's kill reported %+v", rep)
		}
		if rep := w.kill("ben", "c", false); rep.Refused || len(rep.Killed) != 0 || rep.Discarded != 1 {
			t.Errorf("Ben's kill of his own waiting message reported %+v", rep)
		}
		other := turn.KillRequest{ChannelID: "c", GuildID: "7001", Actor: turn.Actor{ID: "9x", ManageMessages: true, ManageGuild: true}}
		if rep := w.m.Kill(context.Background(), other); !rep.Refused || len(rep.Killed) != 0 {
			t.Errorf("a moderator of another guild: %+v", rep)
		}
		w.ended()
	})
	check(t, "a guild kill ends every turn of the guild and of no other", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.model.will(hangs(), hangs(), hangs())
		w.say("ana", "c1", "@bot one")
		w.say("ben", "c2", "@bot two")
		w.say("cleo", "c3", "@bot three", func(in *turn.Inbound) { in.GuildID = "7001" })
		req := turn.KillRequest{GuildID: guildID, Actor: turn.Actor{ID: "9x", ManageMessages: true}}
		if rep := w.m.Kill(context.Background(), req); !rep.Refused {
			t.Errorf("without the right to manage the guild: %+v", rep)
		}
		req.Actor.ManageGuild = true
		if rep := w.m.Kill(context.Background(), req); len(rep.Killed) != 2 {
			t.Errorf("the guild kill reported %+v", rep)
		}
		synctest.Wait()
		w.ended(store.TurnStoppedByUser, store.TurnStoppedByUser)
		if !w.m.IsBusy("c3") {
			t.Error("the other guild's turn was touched")
		}
	})
	check(t, "a kill that names a turn touches no other", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.model.will(hangs())
		w.say("ana", "c", "@bot one")
		id := w.m.Status("c").Running.TurnID
		actor := turn.Actor{ID: "9mod", ManageMessages: true}
		if rep := w.m.Kill(context.Background(), turn.KillRequest{ChannelID: "c", GuildID: guildID, TurnID: "other", Actor: actor}); len(rep.Killed) != 0 {
			t.Errorf("a stale kill reported %+v", rep)
		}
		w.m.Kill(context.Background(), turn.KillRequest{ChannelID: "c", GuildID: guildID, TurnID: id, Actor: actor})
		synctest.Wait()
		w.ended(store.TurnStoppedByUser)
	})
	check(t, "a kill during the last words of a turn kills nothing and says so", func(t *testing.T) {
		w := newWorld(t)
		w.edge.slow = 5 * time.Second
		w.start()
		defer w.stop()
		w.say("ana", "c", "@bot one")
		if rep := w.kill("mod", "c", true); !cmp.Equal(rep, turn.KillReport{}) {
			t.Errorf("the kill reported %+v", rep)
		}
		w.pass(10 * time.Second)
		w.ended(store.TurnCompleted)
		if e := w.edge.last().ending; e.Cause != nil || e.Status != store.TurnCompleted {
			t.Errorf("the turn ended as %+v", e)
		}
	})
	check(t, "a kill can be carried by a bus", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.model.will(hangs())
		w.say("ana", "c", "@bot one")
		order, err := json.Marshal(turn.KillRequest{ChannelID: "c", GuildID: guildID, Actor: turn.Actor{ID: "9mod", ManageMessages: true}})
		w.must(err)
		var req turn.KillRequest
		w.must(json.Unmarshal(order, &req))
		if rep := w.m.Kill(context.Background(), req); len(rep.Killed) != 1 {
			t.Errorf("the order reported %+v", rep)
		}
	})
}

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
