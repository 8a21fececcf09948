package turn_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/turn"
)

// at is a place where somebody without rights gives a command.
func (w *world) at(who, guild, channel string) turn.Place {
	return turn.Place{GuildID: guild, ChannelID: channel, MessageID: w.newID(), Actor: turn.Actor{ID: person(who).ID, Name: who}}
}

// refusedAs gives the kind of a refusal, empty for none.
func refusedAs(t *testing.T, err error) turn.RefusalKind {
	t.Helper()
	r, ok := errors.AsType[*turn.Refusal](err)
	if err != nil && !ok {
		t.Fatalf("%v is no refusal", err)
	}
	if !ok {
		return ""
	}
	if r.Problem == "" {
		t.Errorf("%+v says nothing", r)
	}
	return r.Kind
}

// lastPrompt is what the model was asked last.
func (w *world) lastPrompt() string {
	w.t.Helper()
	asked := w.model.asked()
	if len(asked) == 0 {
		w.t.Fatal("the model was not asked")
	}
	return prompt(asked[len(asked)-1])
}

func (w *world) audited() []string {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	var all []string
	for _, a := range w.store.audits {
		all = append(all, fmt.Sprintf("%s %s>%s %s %s", a.Action, a.ActorID, a.SubjectID, a.ChannelID, a.Detail))
	}
	return all
}

func TestMayChangeFact(t *testing.T) {
	t.Parallel()
	mine := store.Memory{Scope: store.ScopeMember, GuildID: "1", MemberID: "ana"}
	shared := store.Memory{Scope: store.ScopeGuild, GuildID: "1"}
	for _, c := range []struct {
		name  string
		actor turn.Actor
		fact  store.Memory
		want  bool
	}{
		{"my own", turn.Actor{ID: "ana"}, mine, true},
		{"another's", turn.Actor{ID: "ben"}, mine, false},
		{"another's, as a moderator", turn.Actor{ID: "mod", ManageMessages: true, ManageGuild: true}, mine, false},
		{"the server's, as a member", turn.Actor{ID: "ana"}, shared, false},
		{"the server's, with manage messages only", turn.Actor{ID: "mod", ManageMessages: true}, shared, false},
		{"the server's, as who manages it", turn.Actor{ID: "mod", ManageGuild: true}, shared, true},
		{"the server's, as nobody", turn.Actor{ManageGuild: true}, shared, false},
		{"nobody's", turn.Actor{}, store.Memory{Scope: store.ScopeMember}, false},
		{"a scope there is not", turn.Actor{ID: "ana", ManageGuild: true}, store.Memory{Scope: "x", GuildID: "1", MemberID: "ana"}, false},
	} {
		if got := turn.MayChangeFact(c.actor, c.fact); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

func TestMemoryOfMembers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		ctx := context.Background()
		ana, mod := w.at("ana", guildID, "c"), w.place("c")
		tea, added, err := w.m.Remember(ctx, ana, store.ScopeMember, " likes\ntea\u202e ")
		w.must(err)
		if !added || tea.Content != "likes tea" || tea.AuthorID != "9ana" || tea.MessageID != ana.MessageID {
			t.Errorf("%+v, added %t", tea, added)
		}
		if again, added, err := w.m.Remember(ctx, w.at("ana", guildID, "d"), store.ScopeMember, "likes tea"); err != nil || added || again.ID != tea.ID {
			t.Errorf("again: %+v, %t, %v", again, added, err)
		}
		if _, _, err := w.m.Remember(ctx, ana, store.ScopeGuild, "meets on Fridays"); refusedAs(t, err) != turn.RefusedForbidden {
			t.Errorf("a member wrote a fact of the server: %v", err)
		}
		shared, _, err := w.m.Remember(ctx, mod, store.ScopeGuild, "meets on Fridays")
		w.must(err)
		if all, err := w.m.Memories(ctx, ana); err != nil || len(all) != 2 {
			t.Errorf("ana sees %+v, %v", all, err)
		}
		_, err = w.m.EditMemory(ctx, ana, shared.ID, "meets on Mondays")
		if refusedAs(t, err) != turn.RefusedForbidden {
			t.Errorf("a member changed a fact of the server: %v", err)
		}
		if _, err = w.m.ForgetMemory(ctx, ana, shared.ID); refusedAs(t, err) != turn.RefusedForbidden {
			t.Errorf("a member removed a fact of the server: %v", err)
		}
		if _, err = w.m.ForgetMemories(ctx, ana, store.ScopeGuild); refusedAs(t, err) != turn.RefusedForbidden {
			t.Errorf("a member removed the facts of the server: %v", err)
		}
		if _, err = w.m.EditMemory(ctx, mod, tea.ID, "likes mud"); refusedAs(t, err) != turn.RefusedNotFound {
			t.Errorf("a moderator changed a member's fact: %v", err)
		}
		for _, text := range []string{"", " \n ", strings.Repeat("ä", turn.MaxFactLength+1)} {
			if _, _, err := w.m.Remember(ctx, ana, store.ScopeMember, text); refusedAs(t, err) != turn.RefusedInvalid {
				t.Errorf("%d characters: %v", len(text), err)
			}
		}
		if _, _, err := w.m.Remember(ctx, ana, store.ScopeMember, strings.Repeat("ä", turn.MaxFactLength)); err != nil {
			t.Error(err)
		}
		private := w.at("ana", "", "dm")
		if _, _, err := w.m.Remember(ctx, private, store.ScopeGuild, "x"); refusedAs(t, err) != turn.RefusedElsewhere {
			t.Errorf("a fact of no server: %v", err)
		}
		secret, _, err := w.m.Remember(ctx, private, store.ScopeMember, "dreams of tea")
		w.must(err)
		if _, err := w.m.ForgetMemory(ctx, ana, secret.ID); refusedAs(t, err) != turn.RefusedNotFound {
			t.Errorf("what was told in a DM was reached from a server: %v", err)
		}
		_, err = w.m.EditMemory(ctx, mod, shared.ID, "meets on Mondays")
		w.must(err)
		if n, err := w.m.ForgetMemories(ctx, ana, store.ScopeMember); err != nil || n != 2 {
			t.Errorf("%d forgotten, %v", n, err)
		}
		if n, err := w.m.ForgetMemories(ctx, mod, store.ScopeGuild); err != nil || n != 1 {
			t.Errorf("%d of the server forgotten, %v", n, err)
		}
		if left, err := w.m.Memories(ctx, private); err != nil || len(left) != 1 {
			t.Errorf("in the DM: %+v, %v", left, err)
		}
		for range turn.MaxFacts {
			_, _, err = w.m.Remember(ctx, ana, store.ScopeMember, "fact "+w.newID())
			w.must(err)
		}
		_, _, err = w.m.Remember(ctx, ana, store.ScopeMember, "one more")
		if refusedAs(t, err) != turn.RefusedFull || !strings.Contains(err.Error(), "/memory forget") {
			t.Errorf("past the limit: %v", err)
		}
		if diff := cmp.Diff([]string{
			fmt.Sprintf("fact_added 9mod> c fact %d about the server", shared.ID),
			fmt.Sprintf("fact_changed 9mod> c fact %d about the server", shared.ID),
			"fact_forgotten 9mod> c all 1 facts about the server",
		}, w.audited()); diff != "" {
			t.Errorf("audited (-want +got):\n%s", diff)
		}
		w.store.set(func(s *memory) { s.away = true })
		if _, err := w.m.Memories(ctx, ana); refusedAs(t, err) != turn.RefusedUnavailable {
			t.Errorf("away: %v", err)
		}
	})
}

// Who wants nothing to be remembered is obeyed for what they tell and for what others tell about them, until they want it
// again; forgetting is always possible.
func TestOptedOutOfMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		ctx := context.Background()
		w.message("ana", "c", "hello") // ids of people are no snowflakes here, so mentions are written by hand below
		ana := turn.Place{GuildID: guildID, ChannelID: "c", MessageID: w.newID(), Actor: turn.Actor{ID: "42", Name: "ana"}}
		known, _, err := w.m.Remember(ctx, ana, store.ScopeMember, "likes tea")
		w.must(err)
		w.must(w.m.SetMemory(ctx, ana, false))
		if s, err := w.m.MemberSettings(ctx, ana); err != nil || !s.NoMemory {
			t.Errorf("%+v, %v", s, err)
		}
		_, _, err = w.m.Remember(ctx, ana, store.ScopeMember, "likes cake")
		if refusedAs(t, err) != turn.RefusedOptedOut {
			t.Errorf("remembered all the same: %v", err)
		}
		if _, err = w.m.EditMemory(ctx, ana, known.ID, "likes cake"); refusedAs(t, err) != turn.RefusedOptedOut {
			t.Errorf("changed all the same: %v", err)
		}
		if _, _, err = w.m.Remember(ctx, w.place("c"), store.ScopeGuild, "<@42> brings cake"); refusedAs(t, err) != turn.RefusedOptedOut {
			t.Errorf("remembered by another: %v", err)
		}
		if _, _, err = w.m.Remember(ctx, w.place("c"), store.ScopeGuild, "<@43> brings cake"); err != nil {
			t.Errorf("about somebody else: %v", err)
		}
		_, err = w.m.ForgetMemory(ctx, ana, known.ID)
		w.must(err)
		w.must(w.m.SetMemory(ctx, ana, true))
		_, _, err = w.m.Remember(ctx, ana, store.ScopeMember, "likes cake")
		w.must(err)
	})
}

// Facts cross servers only when the member allows it; what was told in private never leaves.
func TestCarriedMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		ctx := context.Background()
		for guild, text := range map[string]string{"1": "in one", "2": "in two", "": "in private"} {
			_, _, err := w.m.Remember(ctx, w.at("ana", guild, "c"+guild), store.ScopeMember, text)
			w.must(err)
		}
		sees := func(guild string) int {
			all, err := w.m.Memories(ctx, w.at("ana", guild, "c"+guild))
			w.must(err)
			return len(all)
		}
		if sees("1") != 1 || sees("") != 1 {
			t.Errorf("without consent: %d in a server, %d in private", sees("1"), sees(""))
		}
		w.must(w.m.SetCarryMemory(ctx, w.at("ana", "1", "c1"), true))
		if sees("1") != 2 || sees("") != 3 {
			t.Errorf("with consent: %d in a server, %d in private", sees("1"), sees(""))
		}
		w.must(w.m.SetCarryMemory(ctx, w.at("ana", "1", "c1"), false))
		if sees("1") != 1 {
			t.Errorf("taken back: %d", sees("1"))
		}
	})
}

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

func TestAudit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.tools = []registry.Tool{
			tool("sleep", sleeping(time.Hour)),
			tool("note", nil, func(t *registry.Tool) { t.Approval = registry.ApproverModerator }),
		}
		w.start()
		defer w.stop()
		ctx, mod := context.Background(), w.place("c")
		w.must(w.m.SetLogChannel(ctx, mod, "77"))
		_, err := w.m.SwitchTool(ctx, mod, turn.ToolSwitch{Tool: "sleep", Scope: turn.ScopeChannel})
		w.must(err)
		_, err = w.m.SwitchTool(ctx, mod, turn.ToolSwitch{Tool: "sleep", Scope: turn.ScopeChannel, On: true})
		w.must(err)
		_, err = w.m.SwitchTool(ctx, mod, turn.ToolSwitch{Scope: turn.ScopeGuild, On: true})
		w.must(err)
		w.must(w.m.Clear(ctx, mod))
		w.must(w.m.SetMemberDeliberate(ctx, mod, turn.DeliberateOn)) // a member's own business
		w.must(w.m.SetSystem(ctx, w.at("ana", "", "dm"), "secret"))  // and so is a private chat
		w.must(w.m.SetMemberDeliberate(ctx, mod, turn.DeliberateOff))
		w.model.will(calls("note", `{}`))
		w.model.will(says("Noted."))
		asked := w.say("ana", "c", "@bot note it")
		card := w.edge.last().cards[0]
		if !w.m.Approve(card.Token, turn.Decision{Approve: true, By: "9mod"}) || w.m.Approve(card.Token, turn.Decision{By: "9late"}) {
			t.Fatal("the first click did not count, or the second did")
		}
		synctest.Wait()
		w.model.will(calls("sleep", `{}`))
		w.say("ana", "c", "@bot sleep")
		w.say("ben", "c", "@bot and me?")
		w.kill("mod", "c", true)
		first, _ := w.store.record(asked.MessageID)
		got := w.audited()
		for i := range got { // the killed turn's id is random
			if at := strings.LastIndex(got[i], "turn "); at >= 0 && !strings.HasPrefix(got[i], "approved") {
				got[i] = got[i][:at] + "turn"
			}
		}
		if diff := cmp.Diff([]string{
			"setting_changed 9mod> c log_channel in this server: 77",
			"tool_switched 9mod> c sleep off in this channel",
			"tool_switched 9mod> c sleep on in this channel",
			"tool_switched 9mod> c all tools on in this server",
			"conversation_cleared 9mod> c ",
			"approved 9mod>9ana c note, turn " + first.ID,
			"killed 9mod>9ana c turn",
			"killed 9mod> c waiting messages dropped: 1",
		}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}

		if _, err := w.m.AuditLog(ctx, w.at("ana", guildID, "c")); refusedAs(t, err) != turn.RefusedForbidden {
			t.Errorf("a member: %v", err)
		}
		if _, err := w.m.AuditLog(ctx, turn.Place{ChannelID: "dm", Actor: mod.Actor}); refusedAs(t, err) != turn.RefusedElsewhere {
			t.Errorf("in private: %v", err)
		}
		if all, err := w.m.AuditLog(ctx, mod); err != nil || len(all) != len(got) || all[0].Action != turn.ActionKilled {
			t.Errorf("%+v, %v", all, err)
		}
		here := w.at("mod", guildID, "elsewhere")
		here.Actor.ManageMessages = true
		if all, err := w.m.AuditLog(ctx, here); err != nil || len(all) != 0 {
			t.Errorf("a moderator of another channel sees %+v, %v", all, err)
		}
		here.ChannelID = "c"
		if all, err := w.m.AuditLog(ctx, here); err != nil || len(all) != len(got) {
			t.Errorf("a moderator of the channel sees %d, %v", len(all), err)
		}
	})
}

// A store that is away keeps nobody from stopping, switching or approving.
func TestAuditFailsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.tools = []registry.Tool{tool("note", nil, func(t *registry.Tool) { t.Approval = registry.ApproverOwner })}
		w.start()
		defer w.stop()
		w.model.will(calls("note", `{}`))
		w.model.will(says("Noted."))
		w.store.set(func(s *memory) { s.broken = true })
		w.say("ana", "c", "@bot note it")
		w.pass(time.Minute)
		if cards := w.edge.last().cards; len(cards) > 0 {
			w.m.Approve(cards[0].Token, turn.Decision{Approve: true, By: "9ana"})
		}
		w.pass(time.Minute)
		if n := len(w.tape.statuses()); n != 1 {
			t.Errorf("%d turns ended", n)
		}
	})
}

func TestApprovalsAreRecorded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		decide func(w *world, token string)
		want   store.Approval
	}{
		"approved": {
			func(w *world, token string) { w.m.Approve(token, turn.Decision{Approve: true, By: "9ana"}) },
			store.Approval{Status: store.ApprovalApproved, DecidedBy: "9ana"},
		},
		"denied with a reason": {
			func(w *world, token string) { w.m.Approve(token, turn.Decision{Reason: " later ", By: "9ana"}) },
			store.Approval{Status: store.ApprovalDenied, DecidedBy: "9ana", Reason: "later"},
		},
		"killed":  {func(w *world, _ string) { w.kill("ana", "c", false) }, store.Approval{Status: store.ApprovalStopped}},
		"expired": {func(w *world, _ string) { w.pass(time.Hour) }, store.Approval{Status: store.ApprovalExpired}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.tools = []registry.Tool{tool("note", nil, func(t *registry.Tool) { t.Approval = registry.ApproverOwner })}
				w.start()
				defer w.stop()
				w.model.will(calls("note", `{"text":"tea"}`))
				w.model.will(says("Well."))
				w.say("ana", "c", "@bot note it")
				token := w.edge.last().cards[0].Token
				w.store.mu.Lock()
				open := w.store.approvals[0]
				w.store.mu.Unlock()
				if open.Status != store.ApprovalOpen || open.MessageID != "card "+token || open.Arguments != `{"text":"tea"}` || open.OwnerID != "9ana" {
					t.Errorf("recorded as %+v", open)
				}
				c.decide(w, token)
				w.pass(time.Second)
				w.store.mu.Lock()
				got := w.store.approvals[0]
				w.store.mu.Unlock()
				if got.Status != c.want.Status || got.DecidedBy != c.want.DecidedBy || got.Reason != c.want.Reason || got.DecidedAt.IsZero() {
					t.Errorf("recorded as %+v, want %+v", got, c.want)
				}
			})
		})
	}
}

// B52: a card that was open when the process died is closed at the next start, and tried again when that fails.
func TestOpenCardsAreWithdrawnAtTheNextStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.store.approvals = []store.Approval{
			{Token: "a", TurnID: "t", ChannelID: "c", GuildID: guildID, MessageID: "m", Tool: "note", OwnerID: "9ana", Status: store.ApprovalOpen},
			{Token: "b", TurnID: "t", MessageID: "decided", Status: store.ApprovalDenied},
		}
		w.edge.broken = map[string]bool{"withdraw": true}
		w.start()
		synctest.Wait()
		w.stop()
		if got := w.store.approvals[0]; got.Status != store.ApprovalOpen {
			t.Errorf("closed though it could not be shown: %+v", got)
		}
		w.edge.broken = nil
		w.start()
		defer w.stop()
		synctest.Wait()
		if diff := cmp.Diff([]string{"m note"}, w.edge.withdrawn); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if got := w.store.approvals[0]; got.Status != store.ApprovalStopped {
			t.Errorf("%+v", got)
		}
	})
}
