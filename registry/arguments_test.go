package registry_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/registry"
)

type part struct {
	Name string `json:"name"`
}

type searchArguments struct {
	Query  string            `json:"query" jsonschema:"what to look for"`
	Limit  int               `json:"limit,omitempty"`
	Order  string            `json:"order,omitempty"`
	Tags   []string          `json:"tags,omitempty"`
	Offset *int              `json:"offset,omitempty"`
	Parts  []part            `json:"parts,omitempty"`
	Extra  map[string]string `json:"extra,omitempty"`
}

func searchSchema() json.RawMessage {
	return registry.SchemaFor[searchArguments](
		registry.Length("query", 1, 20), registry.Range("limit", 1, 10), registry.Enum("order", "new", "old"))
}

func TestSchemaForIsPlain(t *testing.T) {
	t.Parallel()
	want := `{"type":"object","properties":{` +
		`"query":{"type":"string","description":"what to look for","minLength":1,"maxLength":20},` +
		`"limit":{"type":"integer","minimum":1,"maximum":10},` +
		`"order":{"type":"string","enum":["new","old"]},` +
		`"tags":{"type":"array","items":{"type":"string"}},` +
		`"offset":{"type":"integer"},` +
		`"parts":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}},` +
		`"extra":{"type":"object","additionalProperties":{"type":"string"}}},"required":["query"]}`
	// The generator's field order within one property is its own; compare values.
	var got, expected any
	if err := json.Unmarshal(searchSchema(), &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(want), &expected); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(expected, got); diff != "" {
		t.Error(diff)
	}
}

func TestSchemaForPanicsOnAMissingField(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("a constraint on no field went unnoticed")
		}
	}()
	registry.SchemaFor[part](registry.Range("nam", 0, 1))
}

func TestCheckTellsEveryViolation(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, tool("search", func(t *registry.Tool) { t.Schema = searchSchema() }),
		tool("mixed", func(t *registry.Tool) {
			t.Schema = json.RawMessage(`{"type":"object","properties":{
				"a":{"anyOf":[{"type":"string"},{"type":"integer"}]},
				"b":{"oneOf":[{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]},{"type":"null"}]},
				"n":{"type":"number","minimum":0.5},
				"id":{"type":"string","pattern":"^[0-9]+$"},
				"free":{"type":"object"}},"dependentRequired":{"n":["id"]}}`)
		}),
		tool("bare", func(t *registry.Tool) { t.Schema = json.RawMessage(`{"type":"object"}`) }),
	)
	for _, tc := range []struct{ tool, args, want string }{
		{
			"search", `{"limit":0,"foo":1,"parts":[{"name":"a"},{"nme":"a"}],"order":"up"}`,
			`field "foo": not a known field (known: extra, limit, offset, order, parts, query, tags); ` +
				`field "limit": must be >= 1; field "order": must be one of "new", "old"; ` +
				`field "parts[1].name": required but missing; field "parts[1].nme": not a known field (known: name); ` +
				`field "query": required but missing`,
		},
		{
			"search", `{"query":"q","limit":"3","tags":"a","offset":1.5}`,
			`field "limit": must be an integer, got a string; field "offset": must be an integer, got a number; ` +
				`field "tags": must be an array, got a string`,
		},
		{
			"search", `{"query":null,"limit":null}`,
			`field "limit": must be an integer, got null (leave the field out instead); field "query": must be a string, got null`,
		},
		{"search", `{"query":""}`, `field "query": must not be empty`},
		{"search", `{"query":"日本語日本語日本語日本語日本語日本語日本語"}`, `field "query": must have at most 20 characters, has 21`},
		{"search", `{"query":"q","limit":12345678901234567890}`, `field "limit": must be <= 10`},
		{"search", `{"query":"q","extra":{"a":1}}`, `field "extra.a": must be a string, got a number`},
		{"mixed", `{"a":1.5}`, `field "a": must be a string or an integer, got a number`},
		{"mixed", `{"b":{}}`, `field "b.x": required but missing`},
		{"mixed", `{"n":0.1,"id":"x"}`, `field "id": must match the pattern ^[0-9]+$; field "n": must be >= 0.5`},
		{"mixed", `{"n":1}`, `arguments: with "n", id must be given too`},
		{"bare", `{"x":1}`, `field "x": not a known field (there are none)`},
		// B47: an array is an error that the model sees.
		{"bare", `[]`, `the arguments must be one JSON object, not an array`},
		{"bare", `"{}"`, `the arguments must be one JSON object, not a string`},
		{"bare", `{} {}`, `the arguments are not one JSON object: more text follows the value`},
		{"bare", `{"a":`, `the arguments are not one JSON object: the text ends too early`},
	} {
		tl, _ := r.Lookup(tc.tool)
		got, rejection := r.Check(tl, json.RawMessage(tc.args), nil)
		if rejection == nil {
			t.Errorf("%s %s: accepted as %s", tc.tool, tc.args, got)
			continue
		}
		if rejection.Kind != registry.InvalidArguments || !rejection.Warn {
			t.Errorf("%s %s: %+v", tc.tool, tc.args, *rejection)
		}
		if diff := cmp.Diff(tc.want, rejection.Reason); diff != "" {
			t.Errorf("%s %s: %s", tc.tool, tc.args, diff)
		}
	}
}

func TestCheckLeavesArgumentsAlone(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, tool("echo", func(t *registry.Tool) {
		t.Schema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"number"},"id":{"type":"integer"},"s":{"type":"string"},"free":{"type":"object"}}}`)
	}))
	echo, _ := r.Lookup("echo")
	for args, want := range map[string]string{
		// B47: four ways to say nothing.
		"":     `{}`,
		"null": `{}`,
		" \n ": `{}`,
		"{}":   `{}`,
		// Digits, order and spelling stay.
		`{"id":123456789012345678901,"n":1.10}`:   `{"id":123456789012345678901,"n":1.10}`,
		` {"s" : "<a>&\u00e9", "free":{"b":1} } `: ` {"s" : "<a>&\u00e9", "free":{"b":1} } `,
		`{"n":1e300}`: `{"n":1e300}`,
	} {
		got, rejection := r.Check(echo, json.RawMessage(args), nil)
		if rejection != nil {
			t.Errorf("%s: %s", args, rejection.Reason)
			continue
		}
		if string(got) != want {
			t.Errorf("%s became %s", args, got)
		}
	}
}

// The schema library turns numbers into fractions; at these it panics or takes seconds.
func TestCheckRefusesMonstrousNumbers(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, tool("echo", func(t *registry.Tool) {
		t.Schema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"number","minimum":0},"free":{"type":"object"}}}`)
	}))
	echo, _ := r.Lookup("echo")
	for args, want := range map[string]string{
		`{"n":1e9999999}`:                            `field "n": the number is out of range`,
		`{"n":1E-9999999}`:                           `field "n": the number is out of range`,
		`{"n":1e99999999999999999999}`:               `field "n": the number is out of range`,
		`{"n":` + strings.Repeat("9", 2000) + `}`:    `field "n": the number is out of range`,
		`{"free":{"a":[1,{"b":2e401}]}}`:             `field "free.a[1].b": the number is out of range`,
		`{"n":-1e400}`:                               `field "n": must be >= 0`,
		`{"n":1, "free":{"a":[1e400,1e-400, 2e+3]}}`: "",
	} {
		_, rejection := r.Check(echo, json.RawMessage(args), nil)
		switch {
		case rejection == nil && want != "":
			t.Errorf("%.60s: accepted", args)
		case rejection != nil && rejection.Reason != want:
			t.Errorf("%.60s: %s", args, rejection.Reason)
		}
	}
}

func TestTL066OpaqueIDs(t *testing.T) {
	t.Parallel()
	row(t, "TL66")
	r := newRegistry(t, tool("react", func(t *registry.Tool) {
		t.Schema = json.RawMessage(`{"type":"object","properties":{"message_id":{"type":"string"},"others":{"type":"array","items":{"type":"string"}},"note":{"type":"string"}}}`)
		t.IDArguments = []string{"message_id", "others"}
	}))
	react, _ := r.Lookup("react")
	known := map[string]string{"ref_3": "1130000000000000003", "ref_4": "1130000000000000004"}
	for _, tc := range []struct {
		args, want string
		unknown    []string
	}{
		{args: `{"message_id":"ref_3"}`, want: `{"message_id":"1130000000000000003"}`},
		{
			args:    `{ "note" : "ref_3",  "message_id" : "ref_3" , "others":[ "ref_4" ,"ref_9"]}`,
			want:    `{ "note" : "ref_3",  "message_id" : "1130000000000000003" , "others":["1130000000000000004","ref_9"]}`,
			unknown: []string{"ref_9"},
		},
		{args: `{"message_id":"ref_77"}`, want: `{"message_id":"ref_77"}`, unknown: []string{"ref_77"}},
		{args: `{"message_id":"\u0072ef_3"}`, want: `{"message_id":"1130000000000000003"}`},
		{args: `{"others":[]}`, want: `{"others":[]}`},
		{args: `{"note":"x"}`, want: `{"note":"x"}`},
	} {
		var unknown []string
		got, rejection := r.Check(react, json.RawMessage(tc.args), func(opaque string) (string, bool) {
			id, ok := known[opaque]
			if !ok {
				unknown = append(unknown, opaque)
			}
			return id, ok
		})
		if rejection != nil {
			t.Errorf("%s: %s", tc.args, rejection.Reason)
			continue
		}
		if diff := cmp.Diff(tc.want, string(got)); diff != "" {
			t.Errorf("%s: %s", tc.args, diff)
		}
		if diff := cmp.Diff(tc.unknown, unknown); diff != "" {
			t.Errorf("%s: unknown ids: %s", tc.args, diff)
		}
	}
	for args, want := range map[string]string{
		`{"message_id":3}`:   `field "message_id": must be a string, got a number`,
		`{"others":["a",1]}`: `field "others[1]": must be a string, got a number`,
		`["ref_3"]`:          `the arguments must be one JSON object, not an array`,
		`{"message_id":`:     `the arguments are not one JSON object: the text ends too early`,
	} {
		_, rejection := r.Check(react, json.RawMessage(args), func(s string) (string, bool) { return s, true })
		if rejection == nil || rejection.Reason != want {
			t.Errorf("%s: %+v", args, rejection)
		}
	}
}

func TestCheckReasonIsBounded(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, tool("bare", func(t *registry.Tool) { t.Schema = json.RawMessage(`{"type":"object"}`) }))
	bare, _ := r.Lookup("bare")
	args := map[string]int{}
	for i := range 500 {
		args[strings.Repeat("x", i)+"\u202e"] = i
	}
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	_, rejection := r.Check(bare, raw, nil)
	if rejection == nil || len(rejection.Reason) > 1100 || !strings.Contains(rejection.Reason, "; and ") {
		t.Fatalf("reason: %+v", rejection)
	}
	if strings.Contains(rejection.Reason, "\u202e") {
		t.Error("a field name reached the reason with its control characters")
	}
}

func TestMCPSchemasKeepTheirWordAboutUnknownFields(t *testing.T) {
	t.Parallel()
	open := tool("mcp_tool", func(t *registry.Tool) { t.Category = registry.CategoryMCP })
	said := tool("said_so", func(t *registry.Tool) {
		t.Schema = json.RawMessage(`{"type":"object","properties":{},"additionalProperties":true}`)
	})
	r := newRegistry(t, open, said)
	for _, name := range []string{"mcp_tool", "said_so"} {
		tl, _ := r.Lookup(name)
		if _, rejection := r.Check(tl, json.RawMessage(`{"more":1}`), nil); rejection != nil {
			t.Errorf("%s: %s", name, rejection.Reason)
		}
	}
}

func TestCheckRefusesAToolOfAnotherRegistry(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, tool("mine"))
	foreign := tool("theirs")
	if _, rejection := r.Check(&foreign, nil, nil); rejection == nil || rejection.Kind != registry.UnknownTool {
		t.Errorf("%+v", rejection)
	}
}

// FuzzCheck: whatever arrives, Check answers without a panic, and what it accepts is the object that came.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{``, `{}`, `null`, `{"query":"q","limit":3}`, `{"query":"ref_3","tags":["ref_3",1]}`, `{"query":"a","query":"b"}`, `{"limit":1e999999}`, `[1]`, "{\"query\":\"\xff\"}"} {
		f.Add([]byte(s))
	}
	r := newRegistry(f, tool("search", func(t *registry.Tool) {
		t.Schema = searchSchema()
		t.IDArguments = []string{"query", "tags"}
	}))
	search, _ := r.Lookup("search")
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := bytes.Clone(raw)
		same, rejection := r.Check(search, raw, func(s string) (string, bool) { return s, true })
		if !bytes.Equal(raw, before) {
			t.Fatal("the caller's bytes changed")
		}
		if rejection != nil {
			if rejection.Reason == "" || len(rejection.Reason) > 2000 {
				t.Fatalf("reason of %d bytes", len(rejection.Reason))
			}
			return
		}
		if trimmed := bytes.TrimSpace(raw); len(trimmed) > 0 && string(trimmed) != "null" && !bytes.Equal(same, raw) {
			t.Fatalf("%q came back as %q though no id changed", raw, same)
		}
		replaced, _ := r.Check(search, raw, func(string) (string, bool) { return "x", true })
		if replaced != nil && !json.Valid(replaced) {
			t.Fatalf("replacing ids in %q gave %q", raw, replaced)
		}
	})
}

func BenchmarkResolveAndCheck(b *testing.B) {
	r := newRegistry(b, tool("search", func(t *registry.Tool) { t.Schema = searchSchema() }))
	args := json.RawMessage(`{"query":"cats","limit":3,"order":"new","tags":["a","b"]}`)
	view := registry.TurnView{Provider: "rehearsal"}
	b.ReportAllocs()
	for b.Loop() {
		t, rejection := r.Resolve("search", view, registry.Allowlist{})
		if rejection != nil {
			b.Fatal(rejection.Reason)
		}
		if _, rejection := r.Check(t, args, nil); rejection != nil {
			b.Fatal(rejection.Reason)
		}
	}
}
