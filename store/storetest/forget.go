package storetest

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/store"
)

// forgetting is about single memories found by their number, and whole scopes.
func forgetting(t *testing.T, open func(t *testing.T) Engine) {
	t.Run("by number only who may see it", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		own, err := e.Memories.AddMemory(t.Context(), fact(anaInOne, "likes tea", 0), 10)
		must(t, err)
		shared, err := e.Memories.AddMemory(t.Context(), guildFact("1", "meets on Fridays", 0), 10)
		must(t, err)
		for _, test := range []struct {
			name string
			q    store.MemoryQuery
			id   int64
			want store.Memory
		}{
			{"her own", anaInOne, own.ID, own},
			{"the server's", ericInOne, shared.ID, shared},
			{"another's", ericInOne, own.ID, store.Memory{}},
			{"her own from another server", anaInTwo, own.ID, store.Memory{}},
			{"another server's", anaInTwo, shared.ID, store.Memory{}},
			{"from a DM", anaInDM, own.ID, store.Memory{}},
			{"her own from anywhere, as she allows", store.MemoryQuery{GuildID: "2", MemberID: "ana", OtherGuilds: true}, own.ID, own},
			{"none", anaInOne, own.ID + 1000, store.Memory{}},
		} {
			got, err := e.Memories.MemoryByID(t.Context(), test.q, test.id)
			if hidden := test.want.ID == 0; hidden != errors.Is(err, store.ErrNotFound) || !hidden && err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.name, diff)
			}
		}
		if _, err := e.Memories.MemoryByID(t.Context(), store.MemoryQuery{GuildID: "1"}, own.ID); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("without a member: %v, want ErrInvalid", err)
		}
	})

	t.Run("B76 a whole scope, and nothing beside it", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		for i, m := range []store.Memory{
			fact(anaInOne, "likes "+canary, 0), fact(anaInOne, "dislikes "+canary, 1), fact(anaInTwo, "in two", 2), fact(anaInDM, "in a DM", 3),
			fact(ericInOne, "eric's", 4), guildFact("1", "of one", 5), guildFact("2", "of two", 6),
		} {
			if _, err := e.Memories.AddMemory(t.Context(), m, 10); err != nil {
				t.Fatal(i, err)
			}
		}
		left := func(q store.MemoryQuery) string {
			q.Text = canary // an index that still has the word would find it
			found, err := e.Memories.FindMemories(t.Context(), q)
			must(t, err)
			var all []string
			for _, m := range found {
				all = append(all, m.Content)
			}
			return strings.Join(all, ", ")
		}
		for _, step := range []struct {
			of   store.Memory
			n    int
			want map[string]string
		}{
			{
				store.Memory{Scope: store.ScopeMember, GuildID: "1", MemberID: "ana"},
				2,
				map[string]string{"ana": "of one", "two": "of two, in two", "dm": "in a DM", "eric": "of one, eric's"},
			},
			{
				store.Memory{Scope: store.ScopeGuild, GuildID: "1"},
				1,
				map[string]string{"ana": "", "two": "of two, in two", "dm": "in a DM", "eric": "eric's"},
			},
			{
				store.Memory{Scope: store.ScopeMember, MemberID: "ana", Private: true},
				1,
				map[string]string{"ana": "", "two": "of two, in two", "dm": "", "eric": "eric's"},
			},
			{store.Memory{Scope: store.ScopeMember, GuildID: "1", MemberID: "nobody"}, 0, map[string]string{"eric": "eric's"}},
		} {
			n, err := e.Memories.DeleteMemories(t.Context(), step.of)
			must(t, err)
			if n != step.n {
				t.Errorf("%+v: %d removed, want %d", step.of, n, step.n)
			}
			for who, q := range map[string]store.MemoryQuery{"ana": anaInOne, "two": anaInTwo, "dm": anaInDM, "eric": ericInOne} {
				if want, ok := step.want[who]; ok && left(q) != want {
					t.Errorf("after %+v %s sees %q, want %q", step.of, who, left(q), want)
				}
			}
		}
	})

	t.Run("no scope is not every scope", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		for _, of := range []store.Memory{
			{},
			{Scope: store.ScopeMember, GuildID: "1"},
			{Scope: store.ScopeMember, MemberID: "ana"},
			{Scope: store.ScopeGuild},
			{Scope: store.ScopeGuild, GuildID: "1", MemberID: "ana"},
		} {
			if _, err := e.Memories.DeleteMemories(t.Context(), of); !errors.Is(err, store.ErrInvalid) {
				t.Errorf("%+v: %v, want ErrInvalid", of, err)
			}
		}
	})
}
