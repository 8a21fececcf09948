package turn_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/turn"
)

// Whoever watches a turn is told what it may use and why, which models it tried, and how each call fared.
func TestEventsTellThePlanAndTheAttempts(t *testing.T) {
	t.Parallel()
	row(t, "", "the plan, a fallback, a call with its gates and its window, the end", func(t *testing.T) {
		w, second := withFallback(t)
		w.tools = shelf()
		w.start()
		defer w.stop()
		w.must(w.m.SetGuildDeliberate(t.Context(), w.place("c"), turn.DeliberateOn))
		w.model.will(fails(providers.KindOverloaded))
		second.will(calls("web_search", "{}"), says("found"))
		w.say("ana", "c", "@bot search for cats")
		var got []string
		for _, e := range w.tape.all() {
			switch e.Kind { //nolint:exhaustive // of the others nothing is said here
			case turn.EventPlanned:
				for _, a := range e.Plan.Allowed {
					got = append(got, fmt.Sprintf("allowed %s by %s %q", a.Tool, a.Source, a.Trigger))
				}
				if !e.Plan.Deliberate || len(e.Plan.Windows) != 0 {
					t.Errorf("plan %+v", e.Plan)
				}
			case turn.EventAttempt:
				got = append(got, fmt.Sprintf("attempt %s %s %q", e.Provider, e.Model, e.Text))
			case turn.EventToolResult:
				last := e.Call.Gates[len(e.Call.Gates)-1]
				got = append(got, fmt.Sprintf("%s %d gates, last %s %v, window %d", e.Call.Tool, len(e.Call.Gates), last.Gate, last.Passed, e.Call.Window))
			}
		}
		want := []string{
			`allowed select_sticker_for_response by always ""`, fmt.Sprintf(`allowed web_search by %s "search"`, registry.SourceBuiltIn),
			`attempt fixture m-1 ""`, `attempt fixture m-2 "overloaded"`, "web_search 8 gates, last schema true, window 4",
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("told:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		w.say("ana", "c", "@bot thanks")
		for _, e := range w.tape.all() {
			if e.Kind == turn.EventPlanned && e.Seq > 0 && strings.Join(e.Plan.Windows, " ") == "web_search" {
				return
			}
		}
		t.Error("the next turn's plan does not tell of the open window")
	})
	row(t, "", "the kind of an error is told at the end", func(t *testing.T) {
		w := newWorld(t).start()
		defer w.stop()
		w.model.will(fails(providers.KindAuth))
		w.say("ana", "c", "@bot hello")
		all := w.tape.all()
		if e := all[len(all)-1]; e.Kind != turn.EventDone || e.Error != "auth" {
			t.Errorf("the last event is %+v", e)
		}
	})
}
