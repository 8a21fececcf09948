package memory_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/tools/memory"
)

func known() []memory.Fact {
	return []memory.Fact{
		{ID: 1, GuildID: "900", MemberID: "100", Content: "Alice likes tea"},
		{ID: 2, MemberID: "100", Content: "Alice was born in May", Private: true},
		{ID: 3, GuildID: "900", MemberID: "200", Content: "Bob likes coffee"},
		{ID: 4, GuildID: "900", ServerWide: true, Content: "raid night is Friday"},
		{ID: 5, GuildID: "999", ServerWide: true, Content: "another server's secret"},
		{ID: 6, GuildID: "999", MemberID: "100", Content: "Alice in another server"},
	}
}

func TestRecallTellsWhatIsKnown(t *testing.T) {
	t.Parallel()
	s := &fake{facts: known()}
	want := `{"memories":[{"memory_id":1,"memory_scope":"target_user","memory_content":"Alice likes tea"}]}`
	if diff := cmp.Diff(want, data(t, call(t, s, "recall_memory", inGuild(), `{"query":" tea\u0000 "}`))); diff != "" {
		t.Error(diff)
	}
	want = `{"memories":[],"note":"nothing is remembered about this"}`
	if diff := cmp.Diff(want, data(t, call(t, s, "recall_memory", inGuild(), `{"query":"cars"}`))); diff != "" {
		t.Error(diff)
	}
	// B74: no question without tenant and user.
	asked := []string{
		`{MemberID:100 GuildID:900 Private:false ChannelID:901 ManageGuild:false} "tea" 30`,
		`{MemberID:100 GuildID:900 Private:false ChannelID:901 ManageGuild:false} "cars" 30`,
	}
	if diff := cmp.Diff(asked, s.asked); diff != "" {
		t.Error(diff)
	}
}

// B72, B74: even a store that hands out everything does not get a fact to the wrong person, nor out of a DM, nor a server's
// into another. Whether a member's own facts cross servers is the member's choice, which only the store knows.
func TestRecallNeverLeaks(t *testing.T) {
	t.Parallel()
	bob := inGuild()
	bob.UserID, bob.UserName = "200", "Bob"
	for name, tc := range map[string]struct {
		in   registry.ToolContext
		want []string
	}{
		"the member in the server": {inGuild(), []string{"Alice likes tea", "raid night is Friday", "Alice in another server"}},
		"the member in a DM":       {inDM(), []string{"Alice likes tea", "Alice was born in May", "Alice in another server"}},
		"another member":           {bob, []string{"Bob likes coffee", "raid night is Friday"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			facts := known()
			got := data(t, call(t, &fake{facts: facts, leaky: true}, "recall_memory", tc.in, ``))
			var told []string
			for _, f := range facts {
				if strings.Contains(got, f.Content) {
					told = append(told, f.Content)
				}
			}
			if diff := cmp.Diff(tc.want, told); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRecallIsBounded(t *testing.T) {
	t.Parallel()
	s := &fake{}
	for i := range 100 {
		s.facts = append(s.facts, memory.Fact{ID: int64(i), GuildID: "900", MemberID: "100", Content: "fact"})
	}
	if n := strings.Count(data(t, call(t, s, "recall_memory", inGuild(), `{}`)), "memory_id"); n != 30 {
		t.Errorf("%d facts told, want 30", n)
	}
}

func TestRecallFailures(t *testing.T) {
	t.Parallel()
	away := &fake{err: fmt.Errorf("find: %w", memory.ErrUnavailable)}
	wantFailure(t, call(t, away, "recall_memory", inGuild(), `{}`), "memory_recall_failed_db_error")
	nobody := inGuild()
	nobody.UserID = ""
	s := &fake{}
	wantFailure(t, call(t, s, "recall_memory", nobody, `{}`), "memory_recall_failed_internal_error")
	if len(s.asked) != 0 {
		t.Errorf("the store was asked without a member: %q", s.asked)
	}
}
