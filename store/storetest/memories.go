package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/store"
)

// The people and places of the memory tests.
var (
	anaInOne   = store.MemoryQuery{GuildID: "1", MemberID: "ana"}
	anaInTwo   = store.MemoryQuery{GuildID: "2", MemberID: "ana"}
	anaInDM    = store.MemoryQuery{MemberID: "ana", Private: true}
	ericInOne  = store.MemoryQuery{GuildID: "1", MemberID: "eric"}
	ericInDM   = store.MemoryQuery{MemberID: "eric", Private: true}
	everywhere = []store.MemoryQuery{anaInOne, anaInTwo, anaInDM, ericInOne, ericInDM}
)

// fact makes a memory told in the place of q about its member.
func fact(q store.MemoryQuery, content string, seconds int) store.Memory {
	return store.Memory{
		Scope: store.ScopeMember, GuildID: q.GuildID, MemberID: q.MemberID, Private: q.Private, Content: content,
		AuthorID: q.MemberID, TurnID: "turn", MessageID: "message", CreatedAt: after(seconds), UpdatedAt: after(seconds),
	}
}

// guildFact makes a memory about a guild.
func guildFact(guildID, content string, seconds int) store.Memory {
	return store.Memory{
		Scope: store.ScopeGuild, GuildID: guildID, Content: content, AuthorID: "ana", TurnID: "turn", MessageID: "message",
		CreatedAt: after(seconds), UpdatedAt: after(seconds),
	}
}

func contents(memories []store.Memory) []string {
	texts := make([]string, 0, len(memories))
	for _, m := range memories {
		texts = append(texts, m.Content)
	}
	return texts
}

func memories(t *testing.T, open func(t *testing.T) Engine) {
	t.Run("add, find, update, delete, across a restart", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		told := fact(anaInOne, "likes tea", 0)
		added, err := e.Memories.AddMemory(t.Context(), told, 10)
		must(t, err)
		told.ID = added.ID
		if diff := cmp.Diff(told, added); diff != "" || added.ID == 0 {
			t.Fatalf("added (-told +got), id %d:\n%s", added.ID, diff)
		}
		if e.Reopen != nil {
			e = e.Reopen(t)
		}
		found, err := e.Memories.FindMemories(t.Context(), anaInOne)
		must(t, err)
		if diff := cmp.Diff([]store.Memory{told}, found); diff != "" {
			t.Fatalf("found (-told +got):\n%s", diff)
		}
		updated, err := e.Memories.UpdateMemory(t.Context(), anaInOne, added.ID, "likes coffee", after(5))
		must(t, err)
		told.Content, told.UpdatedAt = "likes coffee", after(5)
		if diff := cmp.Diff(told, updated); diff != "" {
			t.Fatalf("updated (-want +got):\n%s", diff)
		}
		deleted, err := e.Memories.DeleteMemory(t.Context(), anaInOne, added.ID)
		must(t, err)
		if diff := cmp.Diff(told, deleted); diff != "" {
			t.Fatalf("deleted (-want +got):\n%s", diff)
		}
		if _, err := e.Memories.DeleteMemory(t.Context(), anaInOne, added.ID); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("second delete: %v, want ErrNotFound", err)
		}
		if _, err := e.Memories.UpdateMemory(t.Context(), anaInOne, added.ID, "x", after(6)); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("update after delete: %v, want ErrNotFound", err)
		}
		again, err := e.Memories.AddMemory(t.Context(), told, 10)
		must(t, err)
		if again.ID == added.ID {
			t.Errorf("the number %d of a deleted memory came back", added.ID)
		}
	})

	t.Run("word for word the same", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		first, err := e.Memories.AddMemory(t.Context(), fact(anaInOne, "likes tea", 0), 1)
		must(t, err)
		// The scope is full: what is there already is still an answer, not a limit.
		second, err := e.Memories.AddMemory(t.Context(), fact(anaInOne, "likes tea", 9), 1)
		must(t, err)
		if diff := cmp.Diff(first, second); diff != "" {
			t.Errorf("second add (-first +second):\n%s", diff)
		}
		for _, elsewhere := range []store.Memory{
			fact(anaInTwo, "likes tea", 1), fact(anaInDM, "likes tea", 1), fact(ericInOne, "likes tea", 1), guildFact("1", "likes tea", 1),
		} {
			other, err := e.Memories.AddMemory(t.Context(), elsewhere, 1)
			must(t, err)
			if other.ID == first.ID {
				t.Errorf("%+v was taken for ana's fact in guild 1", elsewhere)
			}
		}
		coffee, err := e.Memories.AddMemory(t.Context(), fact(anaInOne, "likes coffee", 2), 2)
		must(t, err)
		if _, err := e.Memories.UpdateMemory(t.Context(), anaInOne, coffee.ID, "likes tea", after(3)); !errors.Is(err, store.ErrExists) {
			t.Errorf("update to another fact's words: %v, want ErrExists", err)
		}
	})

	t.Run("B72 B74 who sees what", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		want := map[string][]store.MemoryQuery{
			"birthday, told by ana in guild 1": {anaInOne},
			"birthday, told by ana in guild 2": {anaInTwo},
			"birthday, told by ana in a DM":    {anaInDM},
			"birthday, told by eric in 1":      {ericInOne},
			"birthday, told by eric in a DM":   {ericInDM},
			"birthday of guild 1":              {anaInOne, ericInOne},
			"birthday of guild 2":              {anaInTwo},
		}
		ids := make(map[string]int64)
		for _, m := range []store.Memory{
			fact(anaInOne, "birthday, told by ana in guild 1", 0), fact(anaInTwo, "birthday, told by ana in guild 2", 0),
			fact(anaInDM, "birthday, told by ana in a DM", 0), fact(ericInOne, "birthday, told by eric in 1", 0),
			fact(ericInDM, "birthday, told by eric in a DM", 0), guildFact("1", "birthday of guild 1", 0),
			guildFact("2", "birthday of guild 2", 0),
		} {
			added, err := e.Memories.AddMemory(t.Context(), m, 10)
			must(t, err)
			ids[m.Content] = added.ID
		}
		for content, viewers := range want {
			for _, q := range everywhere {
				may := false
				for _, viewer := range viewers {
					may = may || q == viewer
				}
				for _, text := range []string{"", "when is the birthday?"} {
					q.Text = text
					found, err := e.Memories.FindMemories(t.Context(), q)
					must(t, err)
					sees := false
					for _, m := range found {
						sees = sees || m.Content == content
					}
					if sees != may {
						t.Errorf("%q seen by %+v: %t, want %t", content, q, sees, may)
					}
				}
				if may {
					continue
				}
				if _, err := e.Memories.UpdateMemory(t.Context(), q, ids[content], "changed", after(1)); !errors.Is(err, store.ErrNotFound) {
					t.Errorf("%q updated by %+v: %v, want ErrNotFound", content, q, err)
				}
				if _, err := e.Memories.DeleteMemory(t.Context(), q, ids[content]); !errors.Is(err, store.ErrNotFound) {
					t.Errorf("%q deleted by %+v: %v, want ErrNotFound", content, q, err)
				}
			}
		}
	})

	t.Run("B74 other guilds only with the member's consent, never what was told in a DM", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		for i, m := range []store.Memory{
			fact(anaInOne, "birthday, told in one", 0), fact(anaInTwo, "birthday, told in two", 1), fact(anaInDM, "birthday, told in a DM", 2),
			fact(ericInOne, "birthday, eric's", 3), guildFact("1", "birthday of one", 4), guildFact("2", "birthday of two", 5),
		} {
			_, err := e.Memories.AddMemory(t.Context(), m, 10)
			must(t, err)
			for n := range 30 { // newer and about something else, so that only relevance finds the first ones
				m.Content = fmt.Sprintf("something else %d of %d", n, i)
				m.CreatedAt, m.UpdatedAt = after(100+n), after(100+n)
				_, err := e.Memories.AddMemory(t.Context(), m, 100)
				must(t, err)
			}
		}
		for _, test := range []struct {
			in   store.MemoryQuery
			want []string
		}{
			{anaInOne, []string{"birthday of one", "birthday, told in one", "birthday, told in two"}},
			{anaInTwo, []string{"birthday of two", "birthday, told in one", "birthday, told in two"}},
			{anaInDM, []string{"birthday, told in a DM", "birthday, told in one", "birthday, told in two"}},
			{store.MemoryQuery{GuildID: "3", MemberID: "ana"}, []string{"birthday, told in one", "birthday, told in two"}},
			{ericInDM, []string{"birthday, eric's"}},
			{store.MemoryQuery{GuildID: "2", MemberID: "eric"}, []string{"birthday of two", "birthday, eric's"}},
		} {
			q := test.in
			q.OtherGuilds = true
			for _, text := range []string{"when is the birthday?", ""} {
				q.Text, q.Limit = text, 1000
				if text != "" {
					q.Limit = len(test.want)
				}
				found, err := e.Memories.FindMemories(t.Context(), q)
				must(t, err)
				got := []string{}
				for _, m := range found {
					if strings.HasPrefix(m.Content, "birthday") {
						got = append(got, m.Content)
					}
				}
				slices.Sort(got)
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("%+v (-want +got):\n%s", q, diff)
				}
			}
		}
		// What may be seen may be changed and forgotten.
		q := anaInDM
		q.OtherGuilds, q.Text, q.Limit = true, "birthday told in two", 1
		found, err := e.Memories.FindMemories(t.Context(), q)
		must(t, err)
		if _, err := e.Memories.DeleteMemory(t.Context(), anaInDM, found[0].ID); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("deleted without consent: %v", err)
		}
		_, err = e.Memories.UpdateMemory(t.Context(), q, found[0].ID, "changed in two", after(9))
		must(t, err)
		_, err = e.Memories.DeleteMemory(t.Context(), q, found[0].ID)
		must(t, err)
	})

	t.Run("B74 no query without a member and a place", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		for _, q := range []store.MemoryQuery{
			{}, {GuildID: "1"}, {MemberID: "ana"}, {Private: true}, {GuildID: "1", MemberID: "ana", Private: true},
		} {
			if _, err := e.Memories.FindMemories(t.Context(), q); !errors.Is(err, store.ErrInvalid) {
				t.Errorf("find %+v: %v, want ErrInvalid", q, err)
			}
			if _, err := e.Memories.UpdateMemory(t.Context(), q, 1, "x", start); !errors.Is(err, store.ErrInvalid) {
				t.Errorf("update %+v: %v, want ErrInvalid", q, err)
			}
			if _, err := e.Memories.DeleteMemory(t.Context(), q, 1); !errors.Is(err, store.ErrInvalid) {
				t.Errorf("delete %+v: %v, want ErrInvalid", q, err)
			}
		}
		for _, m := range []store.Memory{
			{Content: "no scope", GuildID: "1", MemberID: "ana"},
			{Content: "a guild's without guild", Scope: store.ScopeGuild},
			{Content: "a guild's with member", Scope: store.ScopeGuild, GuildID: "1", MemberID: "ana"},
			{Content: "a guild's in private", Scope: store.ScopeGuild, GuildID: "1", Private: true},
			{Content: "nobody's", Scope: store.ScopeMember, GuildID: "1"},
			{Content: "nowhere's", Scope: store.ScopeMember, MemberID: "ana"},
			{Content: "private in a guild", Scope: store.ScopeMember, GuildID: "1", MemberID: "ana", Private: true},
		} {
			if _, err := e.Memories.AddMemory(t.Context(), m, 10); !errors.Is(err, store.ErrInvalid) {
				t.Errorf("add %q: %v, want ErrInvalid", m.Content, err)
			}
		}
	})

	t.Run("64 writers on one limit", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		const limit = 10
		_, err := e.Memories.AddMemory(t.Context(), fact(ericInOne, "does not count for ana", 0), limit)
		must(t, err)
		added, refused := 0, 0
		for _, err := range together(func(i int) error {
			_, err := e.Memories.AddMemory(t.Context(), fact(anaInOne, fmt.Sprintf("fact %d", i), i), limit)
			return err
		}) {
			switch {
			case err == nil:
				added++
			case errors.Is(err, store.ErrLimit):
				refused++
			default:
				t.Error(err)
			}
		}
		if added != limit || refused != Writers-limit {
			t.Errorf("%d added, %d refused; want %d and %d", added, refused, limit, Writers-limit)
		}
		found, err := e.Memories.FindMemories(t.Context(), anaInOne)
		must(t, err)
		if len(found) != limit {
			t.Errorf("%d facts stored, want %d", len(found), limit)
		}
	})

	t.Run("64 writers of one fact", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		ids := make(map[int64]bool)
		for _, m := range together(func(int) store.Memory {
			m, err := e.Memories.AddMemory(t.Context(), fact(anaInOne, "likes tea", 0), 10)
			if err != nil {
				t.Error(err)
			}
			return m
		}) {
			ids[m.ID] = true
		}
		if len(ids) != 1 {
			t.Errorf("one fact became %d", len(ids))
		}
	})
}
