package turn_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

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
