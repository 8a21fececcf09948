package memory_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/tools/memory"
)

func TestUpdateCorrects(t *testing.T) {
	t.Parallel()
	s := &fake{facts: known()}
	want := `{"status":"memory_updated_successfully","memory_id":1,"memory_content":"Alice likes coffee"}`
	got := data(t, call(t, s, "update_long_term_memory", inGuild(), `{"memory_id":1,"memory_content":" Alice likes\ncoffee "}`))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if s.contents()[0] != "Alice likes coffee" {
		t.Errorf("stored %q", s.contents()[0])
	}
}

func TestTL170EmptyTextDeletesAndShowsWhatWasRemoved(t *testing.T) {
	t.Parallel()
	row(t, "TL170")
	for _, blank := range []string{``, ` \n`, `\u0000`} {
		s := &fake{facts: known()}
		want := `{"status":"memory_deleted_successfully","memory_id":1,"removed_content":"Alice likes tea"}`
		got := data(t, call(t, s, "update_long_term_memory", inGuild(), `{"memory_id":1,"memory_content":"`+blank+`"}`))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if strings.Contains(strings.Join(s.contents(), "\n"), "Alice likes tea") {
			t.Error("the fact is still there")
		}
	}
}

func TestTL171FactsOfOthersAreNotTouched(t *testing.T) {
	t.Parallel()
	row(t, "TL171")
	for id, whose := range map[int64]string{2: "told in a DM", 3: "another member's", 5: "another server's", 6: "own, of another server", 77: "nobody's"} {
		for _, content := range []string{"", "changed"} {
			s := &fake{facts: known()}
			res := call(t, s, "update_long_term_memory", inGuild(), fmt.Sprintf(`{"memory_id":%d,"memory_content":%q}`, id, content))
			wantFailure(t, res, "memory_update_failed_not_found", "recall_memory")
			if diff := cmp.Diff(known(), s.facts); diff != "" {
				t.Errorf("%s: %s", whose, diff)
			}
		}
	}
}

func TestUpdateFailures(t *testing.T) {
	t.Parallel()
	outside, nobody := inGuild(), inGuild()
	outside.OutsideContent = true
	nobody.UserID = ""
	for name, tc := range map[string]struct {
		store  *fake
		in     registry.ToolContext
		args   string
		status string
	}{
		"outside content, correct": {&fake{facts: known()}, outside, `{"memory_id":1,"memory_content":"x"}`, "privacy_restricted"},
		"outside content, remove":  {&fake{facts: known()}, outside, `{"memory_id":1,"memory_content":""}`, "privacy_restricted"},
		"too long":                 {&fake{facts: known()}, inGuild(), `{"memory_id":1,"memory_content":"` + strings.Repeat("x", 1001) + `"}`, "invalid_args"},
		"a fraction's spelling":    {&fake{facts: known()}, inGuild(), `{"memory_id":1.0,"memory_content":"x"}`, "invalid_args"},
		"nobody speaks":            {&fake{facts: known()}, nobody, `{"memory_id":1,"memory_content":"x"}`, "internal_error"},
		"store away":               {&fake{facts: known(), err: memory.ErrUnavailable}, inGuild(), `{"memory_id":1,"memory_content":"x"}`, "db_error"},
		"store away on removal":    {&fake{facts: known(), err: memory.ErrUnavailable}, inGuild(), `{"memory_id":1,"memory_content":""}`, "db_error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantFailure(t, call(t, tc.store, "update_long_term_memory", tc.in, tc.args), "memory_update_failed_"+tc.status)
			if diff := cmp.Diff(known(), tc.store.facts); diff != "" {
				t.Error(diff)
			}
		})
	}
}
