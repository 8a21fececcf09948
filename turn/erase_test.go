package turn_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

// B76: after an erasure nothing of the member runs, waits or is shown to the model, and nothing is recorded late.
func TestErase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const canary = "qzxvkwj"
		w := newWorld(t)
		w.tools = []registry.Tool{tool("sleep", sleeping(time.Hour))}
		w.start()
		defer w.stop()
		ctx := context.Background()
		w.model.will(says("I see."), says("Certainly."))
		w.say("ana", "c", "@bot I like "+canary)
		w.say("ben", "c", "@bot who likes what?")
		w.ended(store.TurnCompleted, store.TurnCompleted)
		w.model.will(calls("sleep", `{}`))
		w.say("ana", "d", "@bot sleep on "+canary)
		waiting := w.say("ana", "d", "@bot and then "+canary)
		_, _, err := w.m.Remember(ctx, w.at("ana", guildID, "c"), store.ScopeMember, canary)
		w.must(err)

		erased, err := w.m.Erase(ctx, w.at("ana", guildID, "c"))
		w.must(err)
		synctest.Wait()
		if diff := cmp.Diff(store.Erased{store.KindTurns: 2, store.KindMemories: 1}, erased); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		w.ended(store.TurnCompleted, store.TurnCompleted, store.TurnStoppedByUser)
		w.admission(waiting, "discard:member_erased")
		w.store.mu.Lock()
		for _, x := range w.store.turns {
			if x.OwnerID == "9ana" {
				t.Errorf("recorded after the erasure: %+v", x)
			}
		}
		if len(w.store.waiting) > 0 {
			t.Errorf("waits still: %+v", w.store.waiting)
		}
		w.store.mu.Unlock()

		for _, who := range []string{"ben", "ana"} {
			w.model.will(says("Nothing."))
			w.say(who, "c", "@bot what do you know?")
			if text := w.lastPrompt(); strings.Contains(text, canary) || strings.Contains(text, "I see.") {
				t.Errorf("%s's turn shows what was erased:\n%s", who, text)
			}
		}
		if text := w.lastPrompt(); !strings.Contains(text, "who likes what?") {
			t.Errorf("what others said is gone too:\n%s", text)
		}
	})
}

// A slow store has not got the record of a stopped turn, or a trigger that waits, when the erasure is asked for: the
// erasure waits for them, however long the channel has been free.
func TestEraseWaitsForLateRecords(t *testing.T) {
	t.Parallel()
	for method, write := range map[string]func(w *world){
		"FinishTurn": func(w *world) {
			w.model.will(hangs())
			w.say("ana", "c", "@bot a long story")
			w.pass(time.Second)
			w.kill("ana", "c", false)
			w.pass(2 * time.Second) // the channel is free
			w.ended(store.TurnStoppedByUser)
		},
		"PutWaiting": func(w *world) {
			w.model.will(hangs())
			w.say("ben", "c", "@bot a long story")
			w.say("ana", "c", "@bot and me?")
		},
	} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t).start()
				defer w.stop()
				w.store.set(func(s *memory) { s.slow = map[string]time.Duration{method: 20 * time.Second} })
				write(w)
				_, err := w.m.Erase(context.Background(), w.at("ana", guildID, "c"))
				w.must(err)
				w.pass(time.Minute)
				w.store.mu.Lock()
				defer w.store.mu.Unlock()
				for _, x := range w.store.turns {
					if x.OwnerID == "9ana" {
						t.Errorf("recorded after the erasure: %+v", x)
					}
				}
				for _, x := range w.store.waiting {
					if x.OwnerID == "9ana" {
						t.Errorf("waits after the erasure: %+v", x)
					}
				}
			})
		})
	}
}

// What does not end in time keeps the erasure from being done, and from being said to be; asked again, it is done.
func TestEraseDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.store.set(func(s *memory) { s.slow = map[string]time.Duration{"FinishTurn": 80 * time.Second} })
		w.say("ana", "c", "@bot hello")
		if _, err := w.m.Erase(context.Background(), w.at("ana", guildID, "c")); refusedAs(t, err) != turn.RefusedBusy {
			t.Errorf("after 45 seconds: %v", err)
		}
		erased, err := w.m.Erase(context.Background(), w.at("ana", guildID, "c"))
		w.must(err)
		if erased[store.KindTurns] != 1 {
			t.Errorf("erased %v", erased)
		}
	})
}

// A store in which something else keeps writing holds the member up no longer than that, with a word of its own.
func TestEraseIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.say("ana", "c", "@bot hello")
		for method, want := range map[string]string{
			"EraseMember": "can't be reached", "fence": "still being written", "EraseFleeting": "counters of the last minutes",
		} {
			w.store.set(func(s *memory) { s.slow = map[string]time.Duration{method: 10 * time.Minute} })
			begun := time.Now()
			_, err := w.m.Erase(context.Background(), w.at("ana", guildID, "c"))
			if r, ok := errors.AsType[*turn.Refusal](err); !ok || !strings.Contains(r.Problem, want) || r.Remedy == "" {
				t.Errorf("%s: %v", method, err)
			}
			if took := time.Since(begun); took > time.Minute {
				t.Errorf("%s: after %s", method, took)
			}
		}
	})
}

// Messages are compared with the moment of the erasure: both are told by Discord's clock, whatever this machine's says.
func TestErasedBeforeIsByDiscordsClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		elapse(time.Until(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))) // ids of now are greater than what the member asks in
		w := newWorld(t).start()
		defer w.stop()
		early := "1000000"
		for id, want := range map[string]string{early: early, "a command": "661720242585600000"} {
			p := w.at("ana", guildID, "c")
			p.MessageID = id
			_, err := w.m.Erase(context.Background(), p)
			w.must(err)
			w.store.mu.Lock()
			if got := w.store.erasures[len(w.store.erasures)-1].Before; got != want {
				t.Errorf("asked in %q: before %s, want %s", id, got, want)
			}
			w.store.mu.Unlock()
		}
	})
}

// After a restart the channel is read from Discord again, where the messages still are: they stay hidden, with the bot's
// answers to them and what others quote of them.
func TestErasedStaysHiddenOverARestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		id := func() string { return w.newID() }
		old, answer, more := id(), id(), id()
		w.edge.histories["c"] = []turn.Message{
			{ID: old, Author: person("ana"), Content: "my secret"},
			{ID: answer, Author: turn.Person{ID: botID, Self: true}, Content: "a fine secret", ReplyToID: old},
			{ID: more, Author: turn.Person{ID: botID, Self: true}, Content: "really"},
			{ID: id(), Author: person("ben"), Content: "agreed", ReplyToID: old, Quote: `ana: "my secret"`},
			{ID: id(), Author: person("ben"), Content: "and mine"},
			{ID: id(), Author: turn.Person{ID: botID, Self: true}, Content: "noted, Ben"},
		}
		w.start()
		defer w.stop()
		_, err := w.m.Erase(context.Background(), w.at("ana", guildID, "c"))
		w.must(err)
		w.model.will(says("Hello."))
		w.say("ana", "c", "@bot hello again")
		text := w.lastPrompt()
		for _, no := range []string{"secret", "really"} {
			if strings.Contains(text, no) {
				t.Errorf("%q is shown:\n%s", no, text)
			}
		}
		for _, want := range []string{"agreed", "and mine", "noted, Ben", "hello again"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is missing:\n%s", want, text)
			}
		}
	})
}

func TestEraseInPrivateNamesTheChat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		_, err := w.m.Erase(context.Background(), w.at("ana", "", "dm"))
		w.must(err)
		w.store.mu.Lock()
		defer w.store.mu.Unlock()
		want := []store.Erasure{{
			MemberID: "9ana", ChannelIDs: []string{"dm"},
			KeepSettings: []string{turn.SettingPrivacy, turn.SettingMemory},
		}}
		for i := range w.store.erasures {
			if w.store.erasures[i].Before == "" {
				t.Error("the store is not told until when")
			}
			w.store.erasures[i].Before = ""
		}
		if diff := cmp.Diff(want, w.store.erasures); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		for _, a := range w.store.audits {
			if a.ActorID+a.SubjectID+a.ChannelID != "" {
				t.Errorf("the audit log names who was erased: %+v", a)
			}
		}
	})
}

func TestErasedText(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]store.Erased{
		"Done: there was nothing to erase.": {},
		"Erased: 1 fact, 2 conversation turns, 1 tool offer. Kept without your name: 1 audit entry, 1,200 usage entries.": {
			store.KindMemories: 1, store.KindTurns: 2, store.KindWindows: 1, store.KindAudit: 1, store.KindUsage: 1200,
		},
		"Kept without your name: 1 usage entry.": {store.KindUsage: 1},
	} {
		if got := turn.ErasedText(e); got != want {
			t.Errorf("%v: %q, want %q", e, got, want)
		}
	}
}

func TestEraseOfNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		if _, err := w.m.Erase(context.Background(), turn.Place{ChannelID: "c"}); refusedAs(t, err) != turn.RefusedForbidden {
			t.Errorf("erase: %v", err)
		}
		if _, err := w.m.Export(context.Background(), turn.Place{ChannelID: "c"}); refusedAs(t, err) != turn.RefusedForbidden {
			t.Errorf("export: %v", err)
		}
		w.store.set(func(s *memory) { s.away = true })
		if _, err := w.m.Erase(context.Background(), w.at("ana", guildID, "c")); refusedAs(t, err) != turn.RefusedUnavailable {
			t.Errorf("away: %v", err)
		}
	})
}
