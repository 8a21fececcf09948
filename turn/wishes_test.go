package turn_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

// wants stores what a member wants as another process would: this one is not told.
func (w *world) wants(who, name, value string) {
	w.t.Helper()
	w.must(w.store.PutSetting(context.Background(), store.Setting{Scope: store.SettingMember, ID: person(who).ID, Name: name, Value: value}))
}

func (w *world) goesAway(away bool) { w.store.set(func(s *memory) { s.away = away }) }

// Members' wishes hold while the store is away, also of those who have not been met since the process started, and nobody
// else is silenced for it.
func TestWishesHoldWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, setting, value string
		// answered: what they write is answered all the same.
		answered bool
	}{
		{"ignore me", turn.SettingPrivacy, "full", false},
		{"erased", turn.SettingErasedBefore, "8999999999999999999", false},
		{"no memory", turn.SettingMemory, "off", true},
		{"nothing", turn.SettingDeliberate, "off", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.pictures = album{"a": "bytes of a"}
				w.models[0].Images = true
				w.wants("ana", c.setting, c.value)
				w.start()
				defer w.stop()
				w.say("ben", "c", "@bot hello") // the channel's settings are known from here on, and ana is not
				w.goesAway(true)

				w.say("ana", "c", "a secret")
				w.admission(w.say("ben", "c", "@bot again", replyToPictures(person("ana"), "a")), "admit:mention")
				text, requests := w.lastPrompt(), w.model.asked()
				hidden := !c.answered
				for _, of := range []string{"a secret", "who else has been talking", `replying to ana: "look"`} {
					if strings.Contains(text, of) == hidden {
						t.Errorf("%q shown: %t, want %t\n%s", of, hidden, !hidden, text)
					}
				}
				trigger := requests[len(requests)-1].Messages[len(requests[len(requests)-1].Messages)-1]
				if shown := len(trigger.Images) > 0; shown == hidden {
					t.Errorf("the picture is shown: %t", shown)
				}
				if c.setting != turn.SettingErasedBefore {
					verdict := "ignore:full_privacy"
					if c.answered {
						verdict = "admit:mention"
					}
					w.admission(w.say("ana", "c", "@bot and me?"), verdict)
				}
				_, _, err := w.m.Remember(context.Background(), w.at("ana", guildID, "c"), store.ScopeMember, "likes tea")
				if refusedAs(t, err) != turn.RefusedUnavailable {
					t.Errorf("remembered: %v", err)
				}
				w.goesAway(false)
				_, _, err = w.m.Remember(context.Background(), w.at("ana", guildID, "c"), store.ScopeMember, "likes tea")
				if kind := refusedAs(t, err); c.setting != turn.SettingErasedBefore && (kind == turn.RefusedOptedOut) != (c.setting != turn.SettingDeliberate) {
					t.Errorf("remembered: %v", err)
				}
			})
		})
	}
}

// What is quoted may be older than all that is known of the channel.
func TestAQuoteOfWhoIsLeftAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.wants("ana", turn.SettingPrivacy, "full")
		w.start()
		defer w.stop()
		w.say("ben", "c", "@bot what does this mean?", replyTo(person("ana"), "a secret"))
		w.say("ben", "c", "@bot and now?")
		for _, r := range w.model.asked() {
			if strings.Contains(prompt(r), "secret") {
				t.Errorf("the model was told\n%s", prompt(r))
			}
		}
		w.say("ben", "c", "@bot and this?", replyTo(person("eve"), "no secret"))
		if text := w.lastPrompt(); !strings.Contains(text, "no secret") {
			t.Errorf("the model was not told\n%s", text)
		}
	})
}

// Another process takes a wish: it holds here within a minute, for what runs and waits too, and while the store is away.
func TestAWishTakenElsewhere(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(w *world){
		"ignore me": func(w *world) { w.wants("ana", turn.SettingPrivacy, "full") },
		"erased":    func(w *world) { w.wants("ana", turn.SettingErasedBefore, w.newID()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t).start()
				defer w.stop()
				w.say("ana", "c", "@bot hello")
				w.say("ben", "c", "@bot hello")
				w.model.will(hangs(), hangs())
				w.say("ana", "d", "@bot a long story")
				w.say("ben", "e", "@bot a long story")
				waiting := w.say("ana", "e", "@bot and another")
				w.pass(time.Second)
				take(w)
				w.pass(61 * time.Second)
				w.admission(waiting, "discard:member_erased")
				w.ended(store.TurnCompleted, store.TurnCompleted, store.TurnStoppedByUser)
				w.goesAway(true)
				w.pass(time.Hour)
				verdict := "admit:mention"
				if name == "ignore me" {
					verdict = "ignore:full_privacy"
				}
				w.admission(w.say("ana", "c", "@bot hello again"), verdict)
				w.admission(w.say("ben", "c", "@bot hello again"), "admit:mention")
			})
		})
	}
}

func TestIgnoreMeEndsWhatRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.model.will(hangs(), hangs())
		w.say("ana", "c", "@bot a long story")
		w.say("ben", "d", "@bot a long story")
		waiting := w.say("ana", "d", "@bot and another")
		w.must(w.m.SetFullPrivacy(context.Background(), w.at("ana", guildID, "c"), true))
		synctest.Wait()
		w.ended(store.TurnStoppedByUser)
		w.admission(waiting, "discard:member_erased")
	})
}

// A trigger waits over a restart, during which its author asks to be ignored.
func TestAWishTakenOverARestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t).start()
		w.model.will(hangs())
		w.say("ben", "c", "@bot a long story")
		waiting := w.say("ana", "c", "@bot and me?")
		w.stop()
		w.wants("ana", turn.SettingPrivacy, "full")
		w.start()
		defer w.stop()
		synctest.Wait()
		w.admission(waiting, "discard:member_erased")
		if n := len(w.model.asked()); n != 1 {
			t.Errorf("the model was asked %d times", n)
		}
		if w.store.stored() > 0 {
			t.Error("it waits still")
		}
	})
}

// While nobody's wishes are known, and nobody can be asked, nobody is answered or shown, and those who meant the bot are
// told why.
func TestUnknownWishes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.build() // its wishes were never read
		defer w.stop()
		w.say("ben", "c", "@bot hello")
		w.goesAway(true)
		w.say("ana", "c", "a secret")
		w.admission(w.say("ana", "c", "@bot hello"), "refuse:wish_unknown")
		if told := w.edge.told(turn.NoticeRefused); len(told) != 1 || !strings.Contains(told[0].Text, "can't reach my settings") {
			t.Errorf("told %+v", told)
		}
		w.admission(w.say("ben", "c", "@bot and now?", replyTo(person("eve"), "another secret")), "admit:mention")
		if text := w.lastPrompt(); strings.Contains(text, "secret") || strings.Contains(text, "ana") {
			t.Errorf("the model was told\n%s", text)
		}
		w.goesAway(false)
		w.admission(w.say("ana", "c", "@bot hello again"), "admit:mention")
	})
}
