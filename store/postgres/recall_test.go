package postgres

import (
	"fmt"
	"testing"

	"github.com/parleybot/parley/store"
)

// TestMisspeltWords: a word that nothing holds is compared by its letters, within the places that may be seen.
func TestMisspeltWords(t *testing.T) {
	t.Parallel()
	url := database(t)
	for _, fuzzy := range []bool{true, false} {
		db := open(t, url)
		if !db.fuzzy {
			t.Skip("this server has no pg_trgm")
		}
		db.fuzzy = fuzzy // as on a server without the extension
		ctx := t.Context()
		for i, content := range []string{"the birthday is in May", "other", "things"} {
			if _, err := db.AddMemory(ctx, store.Memory{Scope: store.ScopeGuild, GuildID: "1", Content: content}, 99); err != nil {
				t.Fatal(i, err)
			}
		}
		for i := range 20 {
			for _, guild := range []string{"1", "2"} {
				m := store.Memory{Scope: store.ScopeGuild, GuildID: guild, Content: fmt.Sprintf("newer fact %d", i)}
				if guild == "2" {
					m.Content = fmt.Sprintf("birthday of somebody else %d", i)
				}
				if _, err := db.AddMemory(ctx, m, 99); err != nil {
					t.Fatal(err)
				}
			}
		}
		found, err := db.FindMemories(ctx, store.MemoryQuery{GuildID: "1", MemberID: "ana", Text: "when is the brithday or birtday?", Limit: 40})
		if err != nil || len(found) != 23 {
			t.Fatalf("%d found, %v", len(found), err)
		}
		if first := found[0].Content == "the birthday is in May"; !first {
			t.Errorf("fuzzy %t: first is %q", fuzzy, found[0].Content)
		}
		found, err = db.FindMemories(ctx, store.MemoryQuery{GuildID: "1", MemberID: "ana", Text: "birtday", Limit: 40})
		if err != nil {
			t.Fatal(err)
		}
		if first := found[0].Content == "the birthday is in May"; first != fuzzy {
			t.Errorf("fuzzy %t: by letters alone first is %q", fuzzy, found[0].Content)
		}
	}
}
