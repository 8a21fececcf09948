package corpus

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/providers"
)

var update = flag.Bool("update", false, "write the checked-in requests anew")

// Conversation is a request with everything in it that wires put differently: a picture, reasoning (the given block, from
// the service and model it names), parallel calls, a failure, a denial with a call left over, arguments that were cut, ids
// that repeat, neighbours of one role, a note, and words behind results.
func Conversation(block providers.ThinkingBlock) providers.Request {
	whole := func(key, id, name, object string) providers.Call {
		return providers.Call{Key: key, ID: id, Name: name, Arguments: object, Object: json.RawMessage(object), State: providers.Whole}
	}
	return providers.Request{
		System: "Be brief.", MaxOutputTokens: 4000,
		Messages: []providers.Message{
			{Role: providers.RoleUser, Content: "Mia: what is 2 + 3, and 2 · 3?", Images: []providers.Image{{MIME: "image/png", Data: []byte("\x89PNG")}}},
			{
				Role: providers.RoleAssistant, Content: "I'll add and multiply.", Thinking: "Two results are wanted.",
				ThinkingBlocks: []providers.ThinkingBlock{block},
				Calls: []providers.Call{
					whole("k1", "toolu_1", "add", `{"a":2,"b":3}`), whole("k2", "toolu_2", "multiply", `{"a":2,"b":12345678901234567890}`),
				},
			},
			{Role: providers.RoleTool, CallKey: "k2", ToolName: "multiply", Content: `{"status":"tool_execution_failed","reason":"b is too large"}`, Failed: true},
			{Role: providers.RoleTool, CallKey: "k1", ToolName: "add", Content: "5"},
			{Role: providers.RoleAssistant, Calls: []providers.Call{whole("k3", "toolu_1", "write_file", `{"path":"<a & b>"}`), whole("k4", "", "add", `{}`)}},
			{Role: providers.RoleTool, CallKey: "k3", ToolName: "write_file", Content: "denied by user", Failed: true},
			{Role: providers.RoleUser, Content: "Ben: never mind"},
			{Role: providers.RoleUser, Content: "Mia: but I do"},
			{Role: providers.RoleNote, Content: "stopped: tool loop iteration limit reached"},
			{Role: providers.RoleAssistant, Content: " \n"},
			{Role: providers.RoleAssistant, Content: "Sure.", Calls: []providers.Call{
				{Key: "k5", ID: "call.5", Name: "no such tool!", Arguments: `{"path":"/etc`, State: providers.Truncated},
			}},
			{Role: providers.RoleTool, CallKey: "k5", Content: "", Failed: true},
			{Role: providers.RoleSystem, Content: "a later system text"},
		},
		Tools: []providers.ToolSpec{
			{Name: "add", Description: "Adds.", Schema: json.RawMessage(`{"type":"object","required":["a","b"],"properties":{"a":{"type":"integer"},"b":{"type":"integer"}}}`)},
			{Name: "write_file", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"where"}}}`)},
		},
	}
}

// Golden compares a request body with testdata/NAME.json in the package under test, as JSON with every digit; -update
// writes it.
func Golden(t *testing.T, name string, body []byte) {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, body, "", "  "); err != nil {
		t.Fatalf("the request is no JSON: %v\n%s", err, body)
	}
	b.WriteByte('\n')
	file := filepath.Join("testdata", name+".json")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(loose(t, want), loose(t, b.Bytes())); d != "" {
		t.Errorf("%s (-want +got):\n%s", file, d)
	}
}

// loose reads JSON so that only the order of members doesn't matter.
func loose(t *testing.T, raw []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}
