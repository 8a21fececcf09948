package memory_test

import (
	"strings"
	"testing"

	"github.com/parleybot/parley/tools/memory"
)

// A member without the right does not change what everybody in the server is told, whatever the model calls.
func TestServerFactsNeedTheRight(t *testing.T) {
	t.Parallel()
	shared := memory.Fact{ID: 1, ServerWide: true, GuildID: "900", Content: "raid night is Friday"}
	for name, args := range map[string]struct{ tool, args, status string }{
		"create": {"create_long_term_memory", `{"memory_content":"x","memory_scope":"server_wide"}`, "memory_save_failed_forbidden"},
		"update": {"update_long_term_memory", `{"memory_id":1,"memory_content":"x"}`, "memory_update_failed_forbidden"},
		"delete": {"update_long_term_memory", `{"memory_id":1,"memory_content":""}`, "memory_update_failed_forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &fake{facts: []memory.Fact{shared}}
			wantFailure(t, call(t, s, args.tool, inGuild(), args.args), args.status, "may manage the server")
			if got := s.contents(); len(got) != 1 || got[0] != shared.Content {
				t.Errorf("changed all the same: %q", got)
			}
			if r := call(t, s, args.tool, managing(inGuild()), args.args); !r.Success {
				t.Errorf("with the right: %+v", r)
			}
		})
	}
}

// TL169: whoever wants nothing to be remembered is obeyed, and the model is told what the member can do.
func TestOptedOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ tool, args, status string }{
		{"create_long_term_memory", `{"memory_content":"x","memory_scope":"target_user"}`, "memory_save_failed_privacy_restricted"},
		{"update_long_term_memory", `{"memory_id":1,"memory_content":"x"}`, "memory_update_failed_privacy_restricted"},
	} {
		r := call(t, &fake{err: memory.ErrOptedOut}, c.tool, inGuild(), c.args)
		wantFailure(t, r, c.status)
		if !strings.Contains(r.Message, "/privacy memory") {
			t.Errorf("%s: %s", c.tool, r.Message)
		}
	}
}
