package stm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/internal/testreport"
	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/tools/stm"
)

var rows = struct {
	mu  sync.Mutex
	run map[string]bool
}{run: map[string]bool{}}

func row(t *testing.T, names ...string) {
	t.Helper()
	rows.mu.Lock()
	defer rows.mu.Unlock()
	for _, n := range names {
		rows.run[n] = true
	}
}

func TestMain(m *testing.M) {
	code := m.Run()
	testreport.Line("rows: %d run, 2 overridden, 0 out", len(rows.run))
	os.Exit(code)
}

// fake keeps notes under the rules of stm.Store.
type fake struct {
	mu     sync.Mutex
	notes  []stm.Note
	origin stm.Origin
	err    error
	// failAt is the write, from 1, that fails with err; 0 means all, and the reading.
	failAt, writes int
}

func (s *fake) Notes(context.Context, string) ([]stm.Note, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil && s.failAt == 0 {
		return nil, s.err
	}
	return append([]stm.Note{}, s.notes...), nil
}

func (s *fake) Write(_ context.Context, in stm.Origin, n stm.Note) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.origin = in
	if s.writes++; s.err != nil && (s.failAt == 0 || s.failAt == s.writes) {
		return s.err
	}
	for i := range s.notes {
		if s.notes[i].Category == n.Category {
			s.notes[i] = n
			return nil
		}
	}
	s.notes = append(s.notes, n)
	return nil
}

// call runs the tool as the loop does: arguments checked first.
func call(t *testing.T, s stm.Store, tc registry.ToolContext, args string) registry.Result {
	t.Helper()
	r, err := registry.New(stm.Tool(s))
	if err != nil {
		t.Fatal(err)
	}
	tool, rejection := r.Resolve("update_short_term_memory", registry.TurnView{}, registry.Allowlist{})
	if rejection != nil {
		t.Fatal(rejection.Reason)
	}
	checked, rejection := r.Check(tool, json.RawMessage(args), nil)
	if rejection != nil {
		return registry.Fail(rejection.Reason)
	}
	return tool.Run(t.Context(), tc, checked)
}

var here = registry.ToolContext{ChannelID: "c", GuildID: "1", UserID: "ana", TurnID: "t"}

func noted(category, text string) string {
	return fmt.Sprintf(`{"notes":[{"category":%q,"text":%q}]}`, category, text)
}

func TestTL165HiddenWhenLongTermMemoryIsMeant(t *testing.T) {
	t.Parallel()
	row(t, "TL165")
	r, err := registry.New(stm.Tool(&fake{}))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{"remember that I like tea": 0, "tell me a story": 1} {
		view := registry.TurnView{Flags: map[string]bool{registry.FlagLTMIntent: registry.ExplicitLTMIntent(text)}}
		if got := r.Offer(view, registry.Allowlist{}); len(got) != want {
			t.Errorf("%q: %d tools offered, want %d", text, len(got), want)
		}
	}
}

// Overridden: categories are written one by one, so what is blank is skipped and what is not named stays.
func TestTL166BlankIsNothing(t *testing.T) {
	t.Parallel()
	row(t, "TL166")
	s := &fake{notes: []stm.Note{{Category: "mood", Text: "tense"}}}
	for _, args := range []string{
		`{"notes":[]}`, noted("plot", " "), `{"notes":[{"category":"plot","text":""},{"category":"mood","text":"\n"}]}`, noted(" ", "x"), noted("!!", "x"),
		noted(strings.Repeat("x", stm.MaxCategory+1), "x"), `{}`, `{"notes":"plot"}`,
	} {
		if r := call(t, s, here, args); r.Success || r.Error == "" {
			t.Errorf("%s: %+v", args, r)
		}
	}
	if diff := cmp.Diff([]stm.Note{{Category: "mood", Text: "tense"}}, s.notes); diff != "" {
		t.Errorf("stored all the same (-want +got):\n%s", diff)
	}
	r := call(t, s, here, `{"notes":[{"category":" Plot_line ","text":" a heist "},{"category":"mood","text":""},{"category":"plot line","text":"a wedding"}]}`)
	if !r.Success {
		t.Fatalf("%+v", r)
	}
	if diff := cmp.Diff([]stm.Note{{Category: "mood", Text: "tense"}, {Category: "plot line", Text: "a wedding"}}, s.notes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(stm.Origin{ChannelID: "c", GuildID: "1", MemberID: "ana", TurnID: "t"}, s.origin); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTL167LongTextIsCut(t *testing.T) {
	t.Parallel()
	row(t, "TL167")
	for _, sign := range []string{"x", "猫"} {
		s := &fake{}
		r := call(t, s, here, noted("plot", strings.Repeat(sign, 1600)))
		if !r.Success || len(s.notes) != 1 || s.notes[0].Text != strings.Repeat(sign, 1500) {
			t.Fatalf("%+v", r)
		}
		if text, _ := json.Marshal(r.Data); !strings.Contains(string(text), `"cut":["plot"]`) {
			t.Errorf("the model is not told: %s", text)
		}
	}
}

func TestFiveCategories(t *testing.T) {
	t.Parallel()
	s := &fake{}
	for i := range stm.MaxCategories {
		if r := call(t, s, here, noted(fmt.Sprint("category ", i), "x")); !r.Success {
			t.Fatalf("%+v", r)
		}
	}
	r := call(t, s, here, `{"notes":[{"category":"category 1","text":"changed"},{"category":"one more","text":"x"}]}`)
	if r.Success || !strings.Contains(r.Message, "category 0, category 1") {
		t.Errorf("%+v", r)
	}
	if s.notes[1].Text != "x" {
		t.Error("half of a refused call was stored")
	}
	if r := call(t, s, here, noted("Category 1", "changed")); !r.Success || s.notes[1].Text != "changed" {
		t.Errorf("%+v", r)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	outside := here
	outside.OutsideContent = true
	for name, c := range map[string]struct {
		s    *fake
		in   registry.ToolContext
		args string
		want string
	}{
		"B77 after reading something": {&fake{}, outside, noted("plot", "x"), "not the members' own words"},
		"away":                        {&fake{err: context.DeadlineExceeded}, here, noted("plot", "x"), "cannot be reached"},
		"opted out":                   {&fake{err: stm.ErrOptedOut, failAt: 1}, here, noted("plot", "x"), "nothing about them"},
		"another turn was faster":     {&fake{err: stm.ErrLimit, failAt: 1}, here, noted("plot", "x"), "more than 5"},
		"the second one": {
			&fake{err: context.DeadlineExceeded, failAt: 2}, here, `{"notes":[{"category":"plot","text":"x"},{"category":"mood","text":"x"}]}`, "stored before that: plot",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := call(t, c.s, c.in, c.args)
			if said := r.Message + r.Error; r.Success || !strings.Contains(said, c.want) {
				t.Errorf("%+v, want %q", r, c.want)
			}
			if r.Message != "" && strings.Contains(r.Message, "deadline") {
				t.Errorf("the model reads the log's text: %s", r.Message)
			}
		})
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	if tool := stm.Tool(&fake{}); !tool.OneShot || !tool.EndsTurnAfterText || tool.AlwaysAllowed || tool.ReadOnly {
		t.Errorf("%+v", tool)
	}
}
