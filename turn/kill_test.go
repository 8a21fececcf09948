package turn_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
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
	check(t, "a kill that took its time means what was said before it, and nothing later", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		before := w.newID()
		late := func(command string, id turn.ID) turn.KillReport {
			rep := w.m.Kill(context.Background(), turn.KillRequest{
				ChannelID: "c", GuildID: guildID, TurnID: id, CommandID: command, Late: true, Actor: turn.Actor{ID: "mod", ManageMessages: true},
			})
			synctest.Wait()
			return rep
		}
		w.model.will(hangs(), hangs())
		w.say("ana", "c", "@bot one")
		w.say("ben", "c", "@bot two")
		if rep := late(before, ""); !cmp.Equal(rep, turn.KillReport{}) {
			t.Errorf("an older kill reported %+v", rep)
		}
		between := w.newID()
		w.say("cleo", "c", "@bot three")
		if rep := late(between, ""); len(rep.Killed) != 1 || rep.Discarded != 1 {
			t.Errorf("a kill between reported %+v", rep)
		}
		w.ended(store.TurnStoppedByUser) // and the third runs
		running := w.m.Status("c").Running
		if running == nil {
			t.Fatal("nothing runs")
		}
		if rep := late(before, running.TurnID); len(rep.Killed) != 1 {
			t.Errorf("a kill of that very turn reported %+v", rep)
		}
		w.say("ana", "c", "@bot four")
		w.model.will(hangs())
		w.say("ana", "c", "@bot five")
		if rep := late("", ""); len(rep.Killed) != 1 { // nobody knows when it was given
			t.Errorf("a kill without a time reported %+v", rep)
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
