package anthropic

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/providers/internal/corpus"
	"github.com/parleybot/parley/providers/internal/rows"
)

// ask sends a request and fails unless it is answered.
func ask(t *testing.T, p *Provider, req providers.Request) providers.Response {
	t.Helper()
	got, err := providers.Collect(p.Stream(t.Context(), req), nil)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

var signed = providers.ThinkingBlock{
	Provider: "anthropic", Model: "claude-sonnet-4-5", Raw: json.RawMessage(`{"type":"thinking","thinking":"two \u003cresults\u003e","signature":"Eq/+="}`),
}

// TestConversation compares what arrives at the server with the checked-in request: of a conversation with this vendor,
// and of the same one when it began with another vendor or model and goes on here.
func TestConversation(t *testing.T) {
	t.Parallel()
	rows.Ran(t, "CD124", "CD125", "CD126", "CD127", "CD128", "CD129", "CD130", "CD134")
	elsewhere := providers.ThinkingBlock{Provider: "deepseek", Model: "r", Raw: json.RawMessage(`{"reasoning_content":"two results"}`)}
	other := signed
	other.Model = "claude-opus-4-1"
	for _, c := range []struct {
		name, golden string
		block        providers.ThinkingBlock
	}{
		{"with this vendor", "conversation", signed},
		{"begun with another vendor", "conversation_from_elsewhere", elsewhere},
		{"begun with another model", "conversation_from_elsewhere", other},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, streamOf(fine))
			ask(t, s.provider(t, nil), corpus.Conversation(c.block))
			corpus.Golden(t, c.golden, s.bodies[0])
		})
	}
}

// TestExchange sends an answer's own calls and reasoning back: unchanged, where they stood, and only to their model.
func TestExchange(t *testing.T) {
	t.Parallel()
	rows.Ran(t, "CD128", "CD134")
	think := func(index int, text, signature string) string {
		return start(index, `{"type":"thinking","thinking":"","signature":""}`) + grow(index, fmt.Sprintf(`{"type":"thinking_delta","thinking":%q}`, text)) +
			grow(index, fmt.Sprintf(`{"type":"signature_delta","signature":%q}`, signature)) + stop(index)
	}
	s := serve(t, streamOf(begin()+think(0, "hm\n", "S1")+textBlock(1, "First ")+start(2, `{"type":"redacted_thinking","data":"R"}`)+stop(2)+textBlock(3, "this.")+
		toolBlock(4, "a", "echo", `{"n":1}`)+think(5, "", "S2")+toolBlock(6, "b", "echo", `{"n":12345678901234567890}`)+end("tool_use")))
	p := s.provider(t, nil)
	req := hello
	got := ask(t, p, req)
	calls := got.Calls
	for i := range calls {
		calls[i].Key = fmt.Sprint("k", i)
	}
	req.Messages = append(req.Messages, providers.Message{
		Role: providers.RoleAssistant, Content: got.Text, Thinking: got.Thinking, ThinkingBlocks: got.ThinkingBlocks, Calls: calls,
	}, providers.Message{Role: providers.RoleTool, CallKey: "k0", Content: "1"}, providers.Message{Role: providers.RoleTool, CallKey: "k1", Content: "2"})
	for _, c := range []struct {
		name, model string
		provider    *Provider
		want        string
	}{
		{"the same model", "", p, `[{"type":"thinking","thinking":"hm\n","signature":"S1"},{"type":"text","text":"First "},{"type":"redacted_thinking","data":"R"},` +
			`{"type":"text","text":"this."},{"type":"tool_use","id":"a","name":"echo","input":{"n":1}},{"type":"thinking","thinking":"","signature":"S2"},` +
			`{"type":"tool_use","id":"b","name":"echo","input":{"n":12345678901234567890}}]`},
		{"another model", "claude-opus-4-1", p, `[{"type":"text","text":"First this."},{"type":"tool_use","id":"a","name":"echo","input":{"n":1}},` +
			`{"type":"tool_use","id":"b","name":"echo","input":{"n":12345678901234567890}}]`},
		{"another service", "", s.provider(t, func(c *Config) { c.Name = "gateway" }), `[{"type":"text","text":"First this."},{"type":"tool_use","id":"a","name":"echo","input":{"n":1}},` +
			`{"type":"tool_use","id":"b","name":"echo","input":{"n":12345678901234567890}}]`},
	} {
		req.Model = c.model
		ask(t, c.provider, req)
		var body struct {
			Messages []struct{ Content json.RawMessage }
		}
		if err := json.Unmarshal(s.bodies[s.count()-1], &body); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, string(body.Messages[1].Content), cmp.Transformer("JSON", func(s string) any {
			var v any
			d := json.NewDecoder(strings.NewReader(s))
			d.UseNumber()
			_ = d.Decode(&v)
			return v
		})); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

// marked lists where the cache marks are: tools, system, and message.block of the messages.
func marked(t *testing.T, body map[string]any) []string {
	t.Helper()
	var out []string
	note := func(block any, where string) {
		if m := block.(map[string]any)["cache_control"]; m != nil {
			if m.(map[string]any)["type"] != "ephemeral" {
				t.Errorf("mark %v", m)
			}
			out = append(out, where)
		}
	}
	for _, part := range []string{"tools", "system"} {
		list, _ := body[part].([]any)
		for i, e := range list {
			note(e, fmt.Sprintf("%s.%d", part, i))
		}
	}
	for i, m := range body["messages"].([]any) {
		for j, b := range m.(map[string]any)["content"].([]any) {
			note(b, fmt.Sprintf("%d.%d", i, j))
		}
	}
	return out
}

// unmarked is a value without its cache marks.
func unmarked(v any) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "cache_control")
		for _, e := range v {
			unmarked(e)
		}
	case []any:
		for _, e := range v {
			unmarked(e)
		}
	}
	return v
}

// TestRequestsOfATurnShareTheirPrefix follows a tool exchange: each request repeats the one before to the block, and is
// marked where that one ended, so that the vendor's cache is read again.
func TestRequestsOfATurnShareTheirPrefix(t *testing.T) {
	t.Parallel()
	s := serve(t, streamOf(fine))
	p := s.provider(t, nil)
	req := corpus.Conversation(signed)
	all := append(req.Messages, providers.Message{Role: providers.RoleUser, Content: "go on"})
	for i := range 4 {
		key := fmt.Sprint("n", i)
		// Every second answer asks for more calls than the vendor looks back over.
		var calls []providers.Call
		var results []providers.Message
		for j := range 1 + i%2*24 {
			k := fmt.Sprint(key, "_", j)
			calls = append(calls, providers.Call{Key: k, ID: "call_0", Name: "add", Arguments: `{}`, Object: json.RawMessage(`{}`), State: providers.Whole})
			results = append(results, providers.Message{Role: providers.RoleTool, CallKey: k, Content: "ok"})
		}
		req.Messages = all
		ask(t, p, req)
		all = append(append(all, providers.Message{Role: providers.RoleAssistant, Calls: calls}), results...)
	}
	var before map[string]any
	for i := range 4 {
		body := s.request(t, i)
		marks := marked(t, body)
		if len(marks) > 4 {
			t.Errorf("request %d has the marks %v", i, marks)
		}
		messages := body["messages"].([]any)
		last := len(messages) - 1
		want := []string{"tools.1", "system.0", fmt.Sprintf("%d.%d", last-2, lastBlock(messages[last-2])), fmt.Sprintf("%d.%d", last, lastBlock(messages[last]))}
		if d := cmp.Diff(want, marks); d != "" {
			t.Errorf("request %d: %s", i, d)
		}
		if before != nil {
			old := before["messages"].([]any)
			if len(messages) != len(old)+2 {
				t.Fatalf("request %d has %d messages, the one before %d", i, len(messages), len(old))
			}
			unmarked(before)
			whole := s.request(t, i)
			unmarked(whole)
			for _, part := range []string{"tools", "system"} {
				if d := cmp.Diff(before[part], whole[part]); d != "" {
					t.Errorf("request %d, %s: %s", i, part, d)
				}
			}
			if d := cmp.Diff(old, whole["messages"].([]any)[:len(old)]); d != "" {
				t.Errorf("request %d: %s", i, d)
			}
		}
		before = body
	}
}

func lastBlock(message any) int { return len(message.(map[string]any)["content"].([]any)) - 1 }

func TestThinkingLevels(t *testing.T) {
	t.Parallel()
	type m = map[string]any
	low, medium, high, off := providers.ThinkingLow, providers.ThinkingMedium, providers.ThinkingHigh, providers.ThinkingOff
	budget := func(n int) m { return m{"type": "enabled", "budget_tokens": float64(n)} }
	adaptive := func(display ...string) m {
		if len(display) > 0 {
			return m{"type": "adaptive", "display": display[0]}
		}
		return m{"type": "adaptive"}
	}
	effort := func(level string) m { return m{"effort": level} }
	for _, c := range []struct {
		model    string
		level    providers.ThinkingLevel
		limit    int
		thinking any
		output   any
		cool     bool // a temperature is sent
	}{
		{"claude-sonnet-4-5-20250929", "", 0, nil, nil, true},
		{"claude-sonnet-4-5", low, 0, budget(2048), nil, false},
		{"claude-sonnet-4-20250514", medium, 0, budget(8192), nil, false},
		{"claude-3-7-sonnet-20250219", high, 40000, budget(16384), nil, false},
		{"anthropic/claude-haiku-4.5", high, 8000, budget(4000), nil, false},
		{"claude-opus-4-1", high, 2000, nil, nil, true}, // no room for the least budget
		{"claude-sonnet-4-5", off, 0, nil, nil, true},
		{"claude-3-5-haiku-latest", high, 0, nil, nil, true},
		{"claude-3-haiku-20240307", low, 0, nil, nil, true},
		{"claude-sonnet-4-6", medium, 0, adaptive(), effort("medium"), false},
		{"claude-sonnet-4-6", off, 0, nil, nil, true},
		{"claude-opus-4-7", high, 0, adaptive("summarized"), effort("high"), false},
		{"claude-opus-4-7", "", 0, nil, nil, false},
		{"claude-opus-4-8", off, 0, nil, nil, false},
		{"claude-sonnet-5", off, 0, m{"type": "disabled"}, nil, false},
		{"claude-sonnet-5-5", off, 0, m{"type": "between_tools"}, nil, false},
		{"claude-haiku-5-5", off, 0, m{"type": "disabled"}, nil, false},
		{"claude-opus-5-5", off, 0, nil, effort("low"), false},
		{"claude-fable-5", off, 0, nil, effort("low"), false},
		{"claude-mythos-preview", low, 0, adaptive("summarized"), effort("low"), false},
		{"claude-nova-7", low, 0, adaptive("summarized"), effort("low"), false},
		{"some-other-model", high, 0, nil, nil, true},
	} {
		t.Run(fmt.Sprintf("%s %s %d", c.model, c.level, c.limit), func(t *testing.T) {
			t.Parallel()
			s := serve(t, streamOf(fine))
			req := hello
			req.Model, req.Thinking, req.MaxOutputTokens, req.Temperature = c.model, c.level, c.limit, new(0.25)
			ask(t, s.provider(t, nil), req)
			body := s.request(t, 0)
			if d := cmp.Diff([]any{c.thinking, c.output, c.cool}, []any{body["thinking"], body["output_config"], body["temperature"] == 0.25}); d != "" {
				t.Error(d)
			}
			if limit := body["max_tokens"].(float64); limit <= 0 || c.limit > 0 && int(limit) != c.limit {
				t.Errorf("max_tokens %v", limit)
			}
		})
	}
}

// TestReasoningNeedsItsBeginning: models of the older kind refuse to reason in an exchange that began without, as it does
// when another model takes over.
func TestReasoningNeedsItsBeginning(t *testing.T) {
	t.Parallel()
	s := serve(t, streamOf(fine))
	p := s.provider(t, nil)
	call := func(key string, blocks ...providers.ThinkingBlock) []providers.Message {
		return []providers.Message{
			{Role: providers.RoleAssistant, ThinkingBlocks: blocks, Calls: []providers.Call{{Key: key, Name: "echo", Arguments: "{}", Object: json.RawMessage("{}"), State: providers.Whole}}},
			{Role: providers.RoleTool, CallKey: key, Content: "ok"},
		}
	}
	foreign := signed
	foreign.Provider = "openrouter"
	user := providers.Message{Role: providers.RoleUser, Content: "and now?"}
	for name, c := range map[string]struct {
		messages [][]providers.Message
		asks     bool
	}{
		"begun with reasoning":         {[][]providers.Message{call("a", signed)}, true},
		"more calls without new ones":  {[][]providers.Message{call("a", signed), call("b")}, true},
		"begun without":                {[][]providers.Message{call("a")}, false},
		"begun by another":             {[][]providers.Message{call("a", foreign), call("b", signed)}, false},
		"an older exchange is another": {[][]providers.Message{call("a"), {user}}, true},
	} {
		req := hello
		req.Thinking = providers.ThinkingLow
		for _, m := range c.messages {
			req.Messages = append(slices.Clip(req.Messages), m...)
		}
		ask(t, p, req)
		if asks := s.request(t, s.count()-1)["thinking"] != nil; asks != c.asks {
			t.Errorf("%s: reasoning asked for: %v", name, asks)
		}
	}
}

// TestRefusedParametersAreLeftOut: what a gateway or a model doesn't take is left out of the next try, and of later
// requests; what only a conversation caused is not kept.
func TestRefusedParametersAreLeftOut(t *testing.T) {
	t.Parallel()
	req := corpus.Conversation(signed)
	req.Messages = append(req.Messages, providers.Message{Role: providers.RoleUser, Content: "go on"})
	req.Thinking = providers.ThinkingLow
	cool := hello
	cool.Temperature = new(0.5)
	adaptive := hello
	adaptive.Model, adaptive.Thinking = "claude-opus-4-7", providers.ThinkingHigh
	for _, c := range []struct {
		name    string
		req     providers.Request
		has     string
		message string
		kept    bool
	}{
		{"P44 the bound on the answer", req, `"max_tokens":4000`, "max_tokens: 4000 > 3000, which is the maximum allowed number of output tokens for x", true},
		{"thinking", req, `"thinking":{`, `"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort"`, true},
		{"effort", adaptive, `"output_config"`, "output_config: Extra inputs are not permitted", true},
		{"temperature", cool, `"temperature"`, "`temperature` is deprecated for this model", true},
		{"cache marks", req, `"cache_control"`, "cache_control: Extra inputs are not permitted", true},
		{"blocks of reasoning", req, `"signature"`, "messages.1.content.0: Invalid `signature` in `thinking` block", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var s *service
			s = serve(t, func(w http.ResponseWriter, r *http.Request) {
				if strings.Contains(string(s.bodies[s.count()-1]), c.has) {
					status(400, refusal("invalid_request_error", c.message))(w, r)
					return
				}
				streamOf(fine)(w, r)
			})
			p := s.provider(t, nil)
			ask(t, p, c.req)
			if s.count() != 2 {
				t.Errorf("%d requests for the first answer", s.count())
			}
			ask(t, p, c.req)
			if kept := s.count() == 3; kept != c.kept {
				t.Errorf("%d requests for two answers", s.count())
			}
		})
	}
}

func TestAServiceThatAlwaysRefusesIsNotAskedForEver(t *testing.T) {
	t.Parallel()
	s := serve(t, status(400, refusal("invalid_request_error", "max_tokens: 9 > 1; thinking block signature effort temperature cache_control")))
	req := corpus.Conversation(signed)
	req.Thinking, req.Temperature = providers.ThinkingLow, new(0.5)
	_, err := providers.Collect(s.provider(t, nil).Stream(t.Context(), req), nil)
	if providers.KindOf(err) != providers.KindBadRequest || s.count() > 8 {
		t.Errorf("%d requests, error %v", s.count(), err)
	}
}

func TestImages(t *testing.T) {
	t.Parallel()
	s := serve(t, streamOf(fine))
	req := providers.Request{Messages: []providers.Message{{Role: providers.RoleUser, Content: "what is this?", Images: []providers.Image{
		{MIME: "image/webp", Data: []byte("abc")}, {MIME: "image/tiff", Data: []byte("abc")}, {MIME: "image/png"}, {MIME: "image/png", Data: make([]byte, 4<<20)},
	}}}}
	ask(t, s.provider(t, nil), req)
	blocks := s.request(t, 0)["messages"].([]any)[0].(map[string]any)["content"].([]any)
	unmarked(blocks)
	want := []any{
		map[string]any{"type": "image", "source": map[string]any{"type": "base64", "media_type": "image/webp", "data": "YWJj"}},
		map[string]any{"type": "text", "text": "[a picture that can't be shown: its format is not one of JPEG, PNG, GIF and WebP]"},
		map[string]any{"type": "text", "text": "[a picture that can't be shown: it is empty or too large]"},
		map[string]any{"type": "text", "text": "[a picture that can't be shown: it is empty or too large]"},
		map[string]any{"type": "text", "text": "what is this?"},
	}
	if d := cmp.Diff(want, blocks); d != "" {
		t.Error(d)
	}
}

// TestShapesOfMessages: P25, P45, P46, P51 and the ids of P4, P18, P19.
func TestShapesOfMessages(t *testing.T) {
	t.Parallel()
	user := func(text string) providers.Message { return providers.Message{Role: providers.RoleUser, Content: text} }
	for _, c := range []struct {
		name     string
		messages []providers.Message
		want     string
	}{
		{
			"begun by the model",
			[]providers.Message{{Role: providers.RoleAssistant, Content: "Reminder: tea."}, user("thanks")},
			`user: text (earlier messages are left out) | assistant: text Reminder: tea. | user: text thanks`,
		},
		{"P25 empty words", []providers.Message{user("a"), {Role: providers.RoleAssistant, Content: " \n"}, user(" "), user("b")}, `user: text a, text b`},
		{"an empty last word", []providers.Message{{Role: providers.RoleAssistant, Content: "a"}, user("")}, `user: text (earlier messages are left out) | assistant: text a | user: text (empty)`},
		{"P45 a system text behind", []providers.Message{user("a"), {Role: providers.RoleSystem, Content: "s"}}, `user: text a`},
		{"CD126 a system text first", []providers.Message{{Role: providers.RoleSystem, Content: "s"}, user("a")}, `system: s | user: text a`},
		{"P15 P16 P17 P18 P51 calls", []providers.Message{
			user("a"),
			{Role: providers.RoleAssistant, Calls: []providers.Call{
				{Key: "1", ID: "x", Name: "echo", Arguments: `{"a":`, State: providers.Truncated},
				{Key: "2", ID: "x", Name: "echo", Arguments: `[]`, State: providers.Malformed},
				{Key: "3", ID: "call.3", Name: "", Arguments: ``, State: providers.Whole},
			}},
			{Role: providers.RoleTool, CallKey: "3", Content: "r3"},
			{Role: providers.RoleTool, CallKey: "1", Content: "r1", Failed: true},
			{Role: providers.RoleTool, CallKey: "9"},
		}, `user: text a | assistant: tool_use x echo map[], tool_use #1 echo map[], tool_use #2 unnamed map[] | user: tool_result x r1 failed, tool_result #1 not run: interrupted failed, tool_result #2 r3`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, streamOf(fine))
			ask(t, s.provider(t, nil), providers.Request{Messages: c.messages})
			if got := shape(s.request(t, 0)); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

// shape tells a request's messages in a line; derived ids are numbered.
func shape(body map[string]any) string {
	var turns []string
	derived := map[string]string{}
	id := func(v any) string {
		s := v.(string)
		if len(s) != 9 {
			return s
		}
		if derived[s] == "" {
			derived[s] = fmt.Sprint("#", len(derived)+1)
		}
		return derived[s]
	}
	if system, ok := body["system"].([]any); ok {
		turns = append(turns, "system: "+system[0].(map[string]any)["text"].(string))
	}
	for _, m := range body["messages"].([]any) {
		var blocks []string
		for _, b := range m.(map[string]any)["content"].([]any) {
			b := b.(map[string]any)
			s := b["type"].(string)
			switch s {
			case "text":
				s += " " + b["text"].(string)
			case "tool_use":
				s += fmt.Sprintf(" %s %s %v", id(b["id"]), b["name"], b["input"])
			case "tool_result":
				s += fmt.Sprintf(" %s %s", id(b["tool_use_id"]), b["content"].([]any)[0].(map[string]any)["text"])
				if b["is_error"] == true {
					s += " failed"
				}
			}
			blocks = append(blocks, s)
		}
		turns = append(turns, m.(map[string]any)["role"].(string)+": "+strings.Join(blocks, ", "))
	}
	return strings.Join(turns, " | ")
}

func TestSchemasAreObjects(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		`{"type":"object","additionalProperties":false,"properties":{"n":{"type":["null","integer"]}}}`: `{"type":"object","additionalProperties":false,"properties":{"n":{"type":["null","integer"]}}}`,
		`{"properties":{"n":{}}}`: `{"properties":{"n":{}},"type":"object"}`,
		``:                        `{"type":"object","properties":{}}`,
		`null`:                    `{"type":"object","properties":{}}`,
		`[1]`:                     `{"type":"object","properties":{}}`,
	} {
		if got := string(objectSchema(json.RawMessage(given))); got != want {
			t.Errorf("%s becomes %s", given, got)
		}
	}
}
