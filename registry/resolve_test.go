package registry_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parleybot/parley/registry"
)

func TestTL062UnknownNameIsAnsweredWithTheClosest(t *testing.T) {
	t.Parallel()
	overridden(t, "TL62") // the reason begins with "unknown tool: X"
	r := newRegistry(t, tool("web_search"), tool("fetch_url"),
		tool("create_long_term_memory", func(t *registry.Tool) { t.Aliases = []string{"remember_this_fact"} }))
	const all = "; available tools: create_long_term_memory, fetch_url, web_search"
	for name, want := range map[string]string{
		"web_serach":         `unknown tool: web_serach; did you mean "web_search"?` + all,
		"WEB_SEARCH":         `unknown tool: WEB_SEARCH; did you mean "web_search"?` + all,
		"websearch":          `unknown tool: websearch; did you mean "web_search"?` + all,
		"fetch":              "unknown tool: fetch" + all,
		"remember_that_fact": `unknown tool: remember_that_fact; did you mean "create_long_term_memory"?` + all,
		"add":                "unknown tool: add" + all,
		"a\x00\nb":           "unknown tool: a\uFFFD\uFFFDb" + all,
	} {
		got, rejection := r.Resolve(name, registry.TurnView{}, registry.Allowlist{})
		if got != nil || rejection == nil {
			t.Errorf("%q resolved", name)
			continue
		}
		if rejection.Kind != registry.UnknownTool || rejection.Warn || rejection.Reason != want {
			t.Errorf("%q: %+v\nwant %s", name, *rejection, want)
		}
	}
}

func TestTL063OnlyUsableToolsAreSuggested(t *testing.T) {
	t.Parallel()
	row(t, "TL63")
	blind := func(t *registry.Tool) { t.Provider = func(string) bool { return false } }
	closed := func(t *registry.Tool) { t.Turn = func(registry.TurnView) bool { return false } }
	for name, tc := range map[string]struct {
		tool  registry.Tool
		view  registry.TurnView
		allow registry.Allowlist
	}{
		"provider gate": {tool: tool("web_search", blind)},
		"turn gate":     {tool: tool("web_search", closed)},
		"used up":       {tool: tool("web_search"), view: registry.TurnView{Disabled: map[string]bool{"web_search": true}}},
		"switched off":  {tool: tool("web_search"), view: registry.TurnView{Switches: map[string]bool{"web_search": false}}},
		"not allowed":   {tool: tool("web_search"), allow: registry.Restrict(registry.Allowed{Tool: "web_seat"})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// web_seat is further away; it must win because it can be called.
			r := newRegistry(t, tc.tool, tool("web_seat"))
			_, rejection := r.Resolve("web_searc", tc.view, tc.allow)
			want := `unknown tool: web_searc; did you mean "web_seat"?; available tools: web_seat`
			if rejection == nil || rejection.Reason != want {
				t.Errorf("got %+v, want %s", rejection, want)
			}
		})
	}
	r := newRegistry(t, tool("web_search", blind))
	_, rejection := r.Resolve("web_searc", registry.TurnView{}, registry.Allowlist{})
	if want := "unknown tool: web_searc; no tool is available in this turn"; rejection == nil || rejection.Reason != want {
		t.Errorf("got %+v, want %s", rejection, want)
	}
}

func TestTL064TheTwoGatesSpeakDifferently(t *testing.T) {
	t.Parallel()
	row(t, "TL64")
	r := newRegistry(t,
		tool("vision", func(t *registry.Tool) { t.Provider = func(p string) bool { return p == "sees" } }),
		tool("once", func(t *registry.Tool) { t.Turn = func(v registry.TurnView) bool { return !v.Flags["done"] } }),
	)
	_, rejection := r.Resolve("vision", registry.TurnView{Provider: "blind"}, registry.Allowlist{})
	if rejection == nil || rejection.Kind != registry.ProviderUnsupported || rejection.Warn ||
		!strings.Contains(rejection.Reason, "not available for provider blind") {
		t.Errorf("provider gate: %+v", rejection)
	}
	for name, view := range map[string]registry.TurnView{
		"predicate": {Provider: "sees", Flags: map[string]bool{"done": true}},
		"disabled":  {Provider: "sees", Disabled: map[string]bool{"once": true}},
		"switch":    {Provider: "sees", Switches: map[string]bool{"once": false}},
	} {
		_, rejection := r.Resolve("once", view, registry.Allowlist{})
		if rejection == nil || rejection.Kind != registry.TurnUnavailable || !rejection.Warn ||
			!strings.Contains(rejection.Reason, "not available for the current turn, do not retry it this turn") ||
			strings.Contains(rejection.Reason, "provider") {
			t.Errorf("%s: %+v", name, rejection)
		}
	}
}

func TestUnknownNameReasonIsBounded(t *testing.T) {
	t.Parallel()
	var many []registry.Tool
	for i := range 200 {
		many = append(many, tool(fmt.Sprintf("a_tool_with_a_long_name_%03d", i)))
	}
	r := newRegistry(t, many...)
	_, rejection := r.Resolve(strings.Repeat("é", 1<<20), registry.TurnView{}, registry.Allowlist{})
	if len(rejection.Reason) > 1100 || !strings.HasSuffix(rejection.Reason, " more") {
		t.Errorf("%d bytes: %s", len(rejection.Reason), rejection.Reason)
	}
}
