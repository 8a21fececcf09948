package openai

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/providers/internal/rows"
)

// exchange asks once, gives the calls keys as the loop does, answers them with results and asks again; it returns the
// second request's messages.
func exchange(t *testing.T, stream string, change func(*Config), results ...string) []any {
	t.Helper()
	s := serve(t, sequence(streamOf(stream), streamOf(fine)))
	p := s.provider(t, change)
	req := offering("echo", "add")
	got, err := providers.Collect(p.Stream(t.Context(), req), nil)
	if err != nil {
		t.Fatal(err)
	}
	asked := providers.Message{Role: providers.RoleAssistant, Content: got.Text, ThinkingBlocks: got.ThinkingBlocks, Calls: got.Calls}
	req.Messages = append(req.Messages[:1:1], asked)
	for i := range asked.Calls {
		asked.Calls[i].Key = fmt.Sprint("k", i)
		if i < len(results) {
			req.Messages = append(req.Messages, providers.Message{Role: providers.RoleTool, CallKey: asked.Calls[i].Key, Content: results[i]})
		}
	}
	if got := show(providers.Collect(p.Stream(t.Context(), req), nil)); got != "say:hi | stop" {
		t.Fatal(got)
	}
	messages, _ := s.requests[1]["messages"].([]any)
	return messages
}

func TestPitfallsOfTheNextRequest(t *testing.T) {
	t.Parallel()
	call := func(id, arguments string) string {
		return fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":"echo","arguments":%q}}`, id, arguments)
	}
	assistant := func(more string, calls ...string) string {
		return `{"role":"assistant","content":"","tool_calls":[` + strings.Join(calls, ",") + `]` + more + `}`
	}
	result := func(id, text string) string {
		return fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":%q}`, id, text)
	}
	entry := func(index int, id string) string {
		return toolEntry(fmt.Sprintf(`{"index":%d,"id":%q,"function":{"name":"echo","arguments":"{\"n\":1}"}}`, index, id))
	}
	derived := func(key, id string, n int) string { return wireDerived(fmt.Sprintf("%s/%s/%d", key, id, n)) }
	for _, c := range []struct {
		name    string
		stream  string
		vendor  string
		results []string
		// want are the messages behind the question.
		want []string
	}{
		{
			"P04 a call without an id", entry(0, ""), "",
			[]string{"x"},
			[]string{assistant("", call(derived("k0", "", 0), `{"n":1}`)), result(derived("k0", "", 0), "x")},
		},
		{"P09 arguments are sent as a string", toolEntry(`{"index":0,"id":"a","function":{"name":"echo","arguments":{"n": 1}}}`), "", []string{"x"}, []string{assistant("", call("a", `{"n":1}`)), result("a", "x")}},
		{"P14 P51 half arguments", halfCall(), "", []string{"refused"}, []string{assistant("", call("a", `{}`)), result("a", "refused")}},
		{"P51 arguments that are no object", toolEntry(`{"index":0,"id":"a","function":{"name":"echo","arguments":"[1"}}`), "", []string{"refused"}, []string{assistant("", call("a", `{}`)), result("a", "refused")}},
		{
			"P15 P16 a call without a result", entry(0, "a") + entry(1, "b"), "",
			[]string{"x"},
			[]string{assistant("", call("a", `{"n":1}`), call("b", `{"n":1}`)), result("a", "x"), result("b", "not run: interrupted")},
		},
		{
			"P17 results of parallel calls follow them directly", entry(0, "a") + entry(1, "b"), "",
			[]string{"x", "y"},
			[]string{assistant("", call("a", `{"n":1}`), call("b", `{"n":1}`)), result("a", "x"), result("b", "y")},
		},
		{
			"P19 nine letters or digits", entry(0, "call_12345"), "mistral",
			[]string{"x"},
			[]string{assistant("", call(derived("k0", "call_12345", 0), `{"n":1}`)), result(derived("k0", "call_12345", 0), "x")},
		},
		{
			"P21 reasoning goes back within the exchange", deltaChunk(`{"reasoning_content":"h"}`) + deltaChunk(`{"reasoning_content":"m"}`) + entry(0, "a"), "deepseek",
			[]string{"x"},
			[]string{assistant(`,"reasoning_content":"hm"`, call("a", `{"n":1}`)), result("a", "x")},
		},
		{
			"P21 and not to those who refuse it", deltaChunk(`{"reasoning_content":"hm"}`) + entry(0, "a"), "groq",
			[]string{"x"},
			[]string{assistant("", call("a", `{"n":1}`)), result("a", "x")},
		},
		{
			"P22 signed reasoning", deltaChunk(`{"reasoning":"h","reasoning_details":[{"type":"reasoning.text","text":"h","index":0,"format":"f"}]}`) +
				deltaChunk(`{"reasoning":"m","reasoning_details":[{"type":"reasoning.text","text":"m","index":0,"format":"f"}]}`) +
				deltaChunk(`{"reasoning_details":[{"type":"reasoning.text","signature":"S","index":0,"format":"f"}]}`) +
				deltaChunk(`{"reasoning_details":[{"type":"reasoning.encrypted","data":"E","id":"a","index":1}]}`) + entry(0, "a"), "openrouter",
			[]string{"x"},
			[]string{
				assistant(`,"reasoning_details":[{"type":"reasoning.text","text":"hm","signature":"S","index":0,"format":"f"},{"type":"reasoning.encrypted","data":"E","id":"a","index":1}]`, call("a", `{"n":1}`)),
				result("a", "x"),
			},
		},
		{
			"P23 a signature that comes alone", entry(0, "a") + toolEntry(`{"extra_content":{"google":{"thought_signature":"S"}}}`), "gemini",
			[]string{"x"},
			[]string{assistant("", strings.TrimSuffix(call("a", `{"n":1}`), "}")+`,"extra_content":{"google":{"thought_signature":"S"}}}`), result("a", "x")},
		},
		{"an empty result", entry(0, "a"), "", []string{""}, []string{assistant("", call("a", `{"n":1}`)), result("a", "(empty)")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for word := range strings.FieldsSeq(c.name) {
				if len(word) == 3 && word[0] == 'P' {
					rows.Ran(t, word)
				}
			}
			got := exchange(t, c.stream+endChunk("tool_calls"), func(cfg *Config) { cfg.Vendor = c.vendor }, c.results...)
			var want []any
			if err := json.Unmarshal([]byte("["+strings.Join(c.want, ",")+"]"), &want); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got[1:]); d != "" {
				t.Error(d)
			}
		})
	}
}

// sentMessages is what arrives of a conversation.
func sentMessages(t *testing.T, req providers.Request, change func(*Config)) string {
	t.Helper()
	s := serve(t, streamOf(fine))
	if got := show(providers.Collect(s.provider(t, change).Stream(t.Context(), req), nil)); got != "say:hi | stop" {
		t.Fatal(got)
	}
	raw, err := json.Marshal(s.requests[0]["messages"])
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestPitfallsOfConversations(t *testing.T) {
	t.Parallel()
	user := func(text string) providers.Message { return providers.Message{Role: providers.RoleUser, Content: text} }
	said := func(text string) providers.Message {
		return providers.Message{Role: providers.RoleAssistant, Content: text}
	}
	asked := func(key string) []providers.Message {
		return []providers.Message{
			{Role: providers.RoleAssistant, Calls: []providers.Call{{Key: key, ID: "call_0", Name: "echo", Object: json.RawMessage(`{}`), State: providers.Whole}}},
			{Role: providers.RoleTool, CallKey: key, Content: "x"},
		}
	}
	again := append(append([]providers.Message{user("a")}, asked("k1")...), append([]providers.Message{said("b"), user("c")}, asked("k2")...)...)
	second := wireDerived("k2/call_0/0")
	for _, c := range []struct {
		name     string
		messages []providers.Message
		want     string
	}{
		{"P18 ids that start again every turn", again, `[{"content":"a","role":"user"},` +
			`{"content":"","role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"echo"},"id":"call_0","type":"function"}]},{"content":"x","role":"tool","tool_call_id":"call_0"},` +
			`{"content":"b","role":"assistant"},{"content":"c","role":"user"},` +
			`{"content":"","role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"echo"},"id":"` + second + `","type":"function"}]},{"content":"x","role":"tool","tool_call_id":"` + second + `"}]`},
		{"P25 texts of nothing", []providers.Message{user(" \n"), user("a"), said(" "), user("")}, `[{"content":"a","role":"user"}]`},
		{"P16 a result without a call", []providers.Message{user("a"), {Role: providers.RoleTool, CallKey: "k", Content: "x"}}, `[{"content":"a","role":"user"}]`},
		{"P45 a system text that isn't first", []providers.Message{user("a"), {Role: providers.RoleSystem, Content: "x"}, user("b")}, `[{"content":"a\n\nb","role":"user"}]`},
		{"P45 one that is", []providers.Message{{Role: providers.RoleSystem, Content: "x"}, user("a")}, `[{"content":"x","role":"system"},{"content":"a","role":"user"}]`},
		{"P46 the model had the last word", []providers.Message{user("a"), said("b")}, `[{"content":"a","role":"user"},{"content":"b","role":"assistant"},{"content":"(continue)","role":"user"}]`},
		{"nothing at all", nil, `[{"content":"(continue)","role":"user"}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.name[0] == 'P' {
				rows.Ran(t, c.name[:3])
			}
			if got := sentMessages(t, providers.Request{Messages: c.messages}, nil); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
