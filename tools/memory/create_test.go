package memory_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/tools/memory"
)

func TestCreateKeepsOriginAndScope(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		in   registry.ToolContext
		args string
		fact memory.Fact
		data string
	}{
		"about the member": {
			inGuild(), `{"memory_content":" likes tea ","memory_scope":"target_user"}`,
			memory.Fact{ID: 1, GuildID: "900", MemberID: "100", Content: "likes tea", AuthorID: "100", TurnID: "turn-1", MessageID: "555"},
			`{"status":"memory_saved_successfully","memory_id":1,"memory_scope":"target_user","memory_content":"likes tea"}`,
		},
		"server-wide": {
			managing(inGuild()), `{"memory_content":"raid night is Friday","memory_scope":"server_wide","target_user":"Bob"}`,
			memory.Fact{ID: 1, ServerWide: true, GuildID: "900", Content: "raid night is Friday", AuthorID: "100", TurnID: "turn-1", MessageID: "555"},
			`{"status":"memory_saved_successfully","memory_id":1,"memory_scope":"server_wide","memory_content":"raid night is Friday"}`,
		},
		"in a DM": {
			inDM(), `{"memory_content":"born in May","memory_scope":"target_user","target_user":"@alice"}`,
			memory.Fact{ID: 1, MemberID: "100", Content: "born in May", Private: true, AuthorID: "100", TurnID: "turn-1", MessageID: "555"},
			`{"status":"memory_saved_successfully","memory_id":1,"memory_scope":"target_user","memory_content":"born in May","private":true}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &fake{}
			if diff := cmp.Diff(tc.data, data(t, call(t, s, "create_long_term_memory", tc.in, tc.args))); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff([]memory.Fact{tc.fact}, s.facts); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTL065AliasCreates(t *testing.T) {
	t.Parallel()
	row(t, "TL65")
	s := &fake{}
	data(t, call(t, s, "remember_this_fact", inGuild(), `{"memory_content":"likes tea","memory_scope":"target_user"}`))
	if diff := cmp.Diff([]string{"likes tea"}, s.contents()); diff != "" {
		t.Error(diff)
	}
}

func TestCreateTakesTheSpeakerByEveryName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", " ", "Alice", "alice", "@Alice", "100", "<@100>", "<@!100>"} {
		s := &fake{}
		data(t, call(t, s, "create_long_term_memory", inGuild(),
			fmt.Sprintf(`{"memory_content":"likes tea","memory_scope":"target_user","target_user":%q}`, name)))
		if len(s.facts) != 1 || s.facts[0].MemberID != "100" {
			t.Errorf("%q: %+v", name, s.facts)
		}
	}
}

func TestTL169FailuresHaveTheirOwnStatus(t *testing.T) {
	t.Parallel()
	row(t, "TL169")
	const plain = `{"memory_content":"likes tea","memory_scope":"target_user"}`
	outside, nobody := inGuild(), inGuild()
	outside.OutsideContent = true
	nobody.UserID, nobody.UserName = "", ""
	for name, tc := range map[string]struct {
		store  *fake
		in     registry.ToolContext
		args   string
		status string
		words  []string
	}{
		"at the limit":      {&fake{limit: 1, facts: []memory.Fact{{ID: 1}}}, inGuild(), plain, "limit_exceeded", []string{"nothing was saved"}},
		"another member":    {&fake{}, inGuild(), `{"memory_content":"is rude","memory_scope":"target_user","target_user":"Bob"}`, "privacy_restricted", []string{"other members", `"Alice"`, "nothing was saved"}},
		"outside content":   {&fake{}, outside, plain, "privacy_restricted", []string{"not the member's own words"}},
		"server-wide in DM": {&fake{}, inDM(), `{"memory_content":"x","memory_scope":"server_wide"}`, "invalid_args", []string{"direct message"}},
		"blank":             {&fake{}, inGuild(), `{"memory_content":" \n\u0007\u202e ","memory_scope":"target_user"}`, "invalid_args", []string{"blank"}},
		"too long":          {&fake{}, inGuild(), `{"memory_content":"` + strings.Repeat("é", 1001) + `","memory_scope":"target_user"}`, "invalid_args", []string{"1001 characters", "at most 1000"}},
		"nobody speaks":     {&fake{}, nobody, plain, "internal_error", nil},
		"store away":        {&fake{err: fmt.Errorf("add: %w", memory.ErrUnavailable)}, inGuild(), plain, "db_error", []string{"nothing was changed", "failed"}},
		"fault":             {&fake{err: errors.New("disk on fire")}, inGuild(), plain, "internal_error", []string{"failed"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := len(tc.store.facts)
			res := call(t, tc.store, "create_long_term_memory", tc.in, tc.args)
			wantFailure(t, res, "memory_save_failed_"+tc.status, tc.words...)
			if strings.Contains(res.Message, "fire") {
				t.Error("the store's error reached the model")
			}
			if len(tc.store.facts) != before {
				t.Errorf("something was stored: %+v", tc.store.facts)
			}
		})
	}
}

func TestContentIsOneCleanLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`line\none\u0000\u001b[31m`: "line one[31m",
		`a\u202eb\u2066c`:           "abc",
		`👩‍👩‍👧 family`:              "👩‍👩‍👧 family",
		strings.Repeat("é", 1000):   strings.Repeat("é", 1000),
	} {
		s := &fake{}
		data(t, call(t, s, "create_long_term_memory", inGuild(), `{"memory_content":"`+in+`","memory_scope":"target_user"}`))
		if diff := cmp.Diff([]string{want}, s.contents()); diff != "" {
			t.Error(diff)
		}
	}
}

// TL165: a member who asks for something to be remembered is offered long-term memory and not the short-term one.
func TestTL165RememberFavoursLongTermMemory(t *testing.T) {
	t.Parallel()
	row(t, "TL165")
	stm := memory.Recall(&fake{}) // any tool will do for the short-term one
	stm.Name, stm.AlwaysAllowed = "update_short_term_memory", true
	stm.Turn = func(v registry.TurnView) bool { return !v.Flags[registry.FlagLTMIntent] }
	r, err := registry.New(append(memory.Tools(&fake{}), stm)...)
	if err != nil {
		t.Fatal(err)
	}
	offered := func(text string) []string {
		view := registry.TurnView{Flags: map[string]bool{registry.FlagLTMIntent: registry.ExplicitLTMIntent(text)}}
		var out []string
		for _, tool := range r.Offer(view, r.Allow(registry.AllowRequest{Text: text})) {
			out = append(out, tool.Name)
		}
		return out
	}
	if diff := cmp.Diff([]string{"create_long_term_memory", "recall_memory", "update_long_term_memory"}, offered("remember that I like tea")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"recall_memory", "update_long_term_memory", "update_short_term_memory"}, offered("forget my birthday")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"update_short_term_memory"}, offered("hello")); diff != "" {
		t.Error(diff)
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	type flags struct{ FollowUp, ReadOnly, OneShot bool }
	got := map[string]flags{}
	for _, tool := range memory.Tools(&fake{}) {
		got[tool.Name] = flags{tool.NeedsFollowUp, tool.ReadOnly, tool.OneShot}
		if tool.Category != registry.CategoryMemory || tool.Approval != registry.ApproverNone {
			t.Errorf("%s: category %q, approval %q", tool.Name, tool.Category, tool.Approval)
		}
	}
	want := map[string]flags{
		"create_long_term_memory": {}, "update_long_term_memory": {}, "recall_memory": {FollowUp: true, ReadOnly: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
