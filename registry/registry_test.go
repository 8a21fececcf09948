package registry_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/registry"
)

func TestNewReportsEveryProblem(t *testing.T) {
	t.Parallel()
	_, err := registry.New(
		registry.Tool{},
		tool("two words"),
		tool("echo"),
		tool("echo"),
		tool("repeat", func(t *registry.Tool) { t.Aliases = []string{"echo", "no/slash"} }),
		tool("blank", func(t *registry.Tool) { t.Description = " \n" }),
		tool("list", func(t *registry.Tool) { t.Schema = json.RawMessage(`{"type":"array"}`) }),
		tool("garbage", func(t *registry.Tool) { t.Schema = json.RawMessage(`{"type":"object"`) }),
		tool("wrong", func(t *registry.Tool) { t.Schema = json.RawMessage(`{"type":"object","required":"query"}`) }),
		tool("pattern", func(t *registry.Tool) {
			t.Schema = json.RawMessage(`{"type":"object","properties":{"a":{"type":"string","pattern":"(?=x)"}}}`)
		}),
		tool("thief", func(t *registry.Tool) {
			t.Schema = json.RawMessage(`{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}`)
		}),
		tool("ids", func(t *registry.Tool) { t.IDArguments = []string{"message_id"} }),
		tool("trigger", func(t *registry.Tool) {
			t.Triggers = []registry.Trigger{{Kind: registry.TriggerRegexp, Pattern: "("}, {Kind: "psychic", Pattern: "x"}}
		}),
		tool("category", func(t *registry.Tool) { t.Category = "misc"; t.Approval = "nobody" }),
	)
	if err == nil {
		t.Fatal("New took them all")
	}
	for _, want := range []string{
		`the name "" must be`, "the description is blank", "Run is nil", "the schema is missing",
		`the name "two words" must be`,
		`tool "echo": the name "echo" is already taken by tool "echo"`,
		`tool "repeat": the name "echo" is already taken`, `the name "no/slash" must be`,
		`tool "blank": the description is blank`,
		`tool "list": the schema must be an object schema`,
		`tool "garbage": the schema is not JSON`,
		`tool "wrong": the schema does not compile`,
		`tool "pattern": the schema does not compile`,
		"schemas may not refer to other documents (file:///etc/passwd)",
		`the id argument "message_id" is not a property`,
		`trigger "(": not a regular expression`, `trigger "x": unknown kind "psychic"`,
		`unknown category "misc"`, `unknown approver "nobody"`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("not reported: %s", want)
		}
	}
	if t.Failed() {
		t.Log(err)
	}
}

func TestValidateOneTool(t *testing.T) {
	t.Parallel()
	if err := registry.Validate(tool("fine")); err != nil {
		t.Error(err)
	}
	if err := registry.Validate(tool("not fine")); err == nil {
		t.Error("a bad name was taken")
	}
}

func TestSchemaDialects(t *testing.T) {
	t.Parallel()
	for _, dialect := range []string{
		"http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2019-09/schema", "https://json-schema.org/draft/2020-12/schema",
	} {
		if err := registry.Validate(tool("echo", func(t *registry.Tool) {
			t.Schema = json.RawMessage(`{"$schema":"` + dialect + `","type":"object"}`)
		})); err != nil {
			t.Errorf("%s: %v", dialect, err)
		}
	}
}

func TestTheCallerCannotChangeARegisteredTool(t *testing.T) {
	t.Parallel()
	mine := tool("echo", func(t *registry.Tool) { t.Aliases = []string{"repeat"} })
	r := newRegistry(t, mine)
	mine.Aliases[0] = "changed"
	mine.Schema[0] = 'x'
	got, _ := r.Lookup("echo")
	if got.Aliases[0] != "repeat" || got.Schema[0] != '{' {
		t.Errorf("the registered tool changed: %q %s", got.Aliases, got.Schema)
	}
}

func TestTL065AliasIsResolvedFirst(t *testing.T) {
	t.Parallel()
	row(t, "TL65")
	r := newRegistry(t, tool("create_long_term_memory", func(t *registry.Tool) {
		t.Aliases = []string{"remember_this_fact"}
		t.Run = func(context.Context, registry.ToolContext, json.RawMessage) registry.Result {
			return registry.OK("created")
		}
	}))
	got, rejection := r.Resolve("remember_this_fact", registry.TurnView{}, registry.Allowlist{})
	if rejection != nil {
		t.Fatal(rejection.Reason)
	}
	if res := got.Run(t.Context(), registry.ToolContext{}, nil); res.Data != "created" {
		t.Errorf("another tool ran: %v", res)
	}
	if got := r.Canonical("remember_this_fact"); got != "create_long_term_memory" {
		t.Errorf("canonical name %q", got)
	}
	if got := r.Canonical("nothing_like_it"); got != "nothing_like_it" {
		t.Errorf("an unknown name became %q", got)
	}
}

func names(tools []*registry.Tool) []string {
	var out []string
	for _, t := range tools {
		out = append(out, t.Name)
	}
	return out
}

func TestOfferAppliesEveryGate(t *testing.T) {
	t.Parallel()
	r := newRegistry(t,
		tool("zeta"), tool("alpha"), tool("used_up"), tool("switched_off"), tool("switched_on"), tool("not_listed"),
		tool("vision", func(t *registry.Tool) { t.Provider = func(p string) bool { return p == "sees" } }),
		tool("guild_only", func(t *registry.Tool) { t.Turn = func(v registry.TurnView) bool { return !v.Private } }),
	)
	view := registry.TurnView{
		Provider: "blind", Private: true,
		Disabled: map[string]bool{"used_up": true},
		Switches: map[string]bool{"switched_off": false, "switched_on": true},
	}
	var listed []registry.Allowed
	for _, tl := range r.All() {
		if tl.Name != "not_listed" {
			listed = append(listed, registry.Allowed{Tool: tl.Name})
		}
	}
	got := names(r.Offer(view, registry.Restrict(listed...)))
	if diff := cmp.Diff([]string{"alpha", "switched_on", "zeta"}, got); diff != "" {
		t.Error(diff)
	}
	if got := len(r.Offer(registry.TurnView{Provider: "sees"}, registry.Allowlist{})); got != len(r.All()) {
		t.Errorf("an open turn offers %d of %d tools", got, len(r.All()))
	}
}
