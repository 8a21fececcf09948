package openai

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/providers/internal/rows"
)

// trickled answers a stream in pieces of one size, each in a write of its own.
func trickled(body string, size int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for len(body) > 0 {
			n := min(size, len(body))
			_, _ = io.WriteString(w, body[:n])
			w.(http.Flusher).Flush()
			body = body[n:]
		}
	}
}

// offering is a request with tools.
func offering(names ...string) providers.Request {
	req := hello
	for _, name := range names {
		req.Tools = append(req.Tools, providers.ToolSpec{Name: name, Schema: json.RawMessage(`{"type":"object"}`)})
	}
	return req
}

func toolEntry(entry string) string { return deltaChunk(`{"tool_calls":[` + entry + `]}`) }

// TestPitfalls replays the shapes of public reports against a server on loopback. Their numbers are those of the list of
// pitfalls in the specification.
func TestPitfalls(t *testing.T) {
	t.Parallel()
	const end = "tool_calls"
	one, two := `\"n\":1}`, `\"n\":2}`
	usage := func(text string) string { return event(`{"choices":[],"usage":` + text + `}`) }
	for _, c := range []struct{ name, body, want string }{
		{"P01 entries without an index", toolEntry(`{"id":"a","function":{"name":"echo","arguments":"{"}}`) + toolEntry(`{"function":{"arguments":"`+one+`"}}`) +
			toolEntry(`{"id":"b","function":{"name":"add","arguments":"{`+two+`"}}`) + endChunk(end), `a/echo/{"n":1} b/add/{"n":2} | stop`},
		{"P02 index 0 for every call", toolEntry(`{"index":0,"id":"a","function":{"name":"echo","arguments":"{`+one+`"}}`) +
			toolEntry(`{"index":0,"id":"b","function":{"name":"echo","arguments":"{`+two+`"}}`) + endChunk(end), `a/echo/{"n":1} b/echo/{"n":2} | stop`},
		{"P03 calls without ids on one index", toolEntry(`{"index":0,"function":{"name":"echo","arguments":"{`+one+`"}}`) +
			toolEntry(`{"index":0,"function":{"name":"add","arguments":"{`+two+`"}}`) + endChunk(end), `/echo/{"n":1} /add/{"n":2} | stop`},
		{"P05 empty id and name later", toolEntry(`{"index":0,"id":"a","function":{"name":"echo","arguments":"{"}}`) +
			toolEntry(`{"index":0,"id":"","function":{"name":"","arguments":"`+one+`"}}`) + endChunk(end), `a/echo/{"n":1} | stop`},
		{"P06 id and name in every chunk", toolEntry(`{"index":0,"id":"a","function":{"name":"echo","arguments":"{"}}`) +
			toolEntry(`{"index":0,"id":"a","function":{"name":"echo","arguments":"`+one+`"}}`) + endChunk(end), `a/echo/{"n":1} | stop`},
		{"P06 a name in pieces", toolEntry(`{"index":0,"id":"a","function":{"name":"ec"}}`) + toolEntry(`{"index":0,"function":{"name":"ho"}}`) +
			toolEntry(`{"index":0,"function":{"arguments":"{`+one+`"}}`) + endChunk(end), `a/echo/{"n":1} | stop`},
		{"P07 names of calls that follow each other", toolEntry(`{"index":0,"id":"a","function":{"name":"echo","arguments":"{}"}}`) +
			toolEntry(`{"index":1,"id":"b","function":{"name":"echo","arguments":"{}"}}`) + endChunk(end), `a/echo/{} b/echo/{} | stop`},
		{
			"P08 whole arguments and more members", toolEntry(`{"index":0,"id":"a","type":"function","x":{"y":1},"function":{"name":"echo","arguments":"{`+one+`","output":null}}`) + endChunk(end),
			`a/echo/{"n":1} | stop`,
		},
		{
			"P09 arguments as an object", toolEntry(`{"index":0,"id":"a","function":{"name":"echo","arguments":{"n": 12345678901234567890}}}`) + endChunk(end),
			`a/echo/{"n":12345678901234567890} | stop`,
		},
		{
			"P10 arguments encoded twice", toolEntry(`{"index":0,"id":"a","function":{"name":"echo","arguments":"\"{\\\"n\\\":1}\""}}`) + endChunk(end),
			`a/echo/{"n":1} | stop`,
		},
		{
			"P10 a string that is no object", toolEntry(`{"index":0,"id":"a","function":{"name":"echo","arguments":"\"hello\""}}`) + endChunk(end),
			`a/echo/malformed | stop`,
		},
		{"P11 no arguments", toolEntry(`{"index":0,"id":"a","function":{"name":"echo","arguments":""}}`) + endChunk(end), `a/echo/{} | stop`},
		{"P12 a whole object, then nothing", toolEntry(`{"index":0,"id":"a","function":{"name":"echo","arguments":"{` + one + `"}}`), `a/echo/truncated | missing | error:truncated`},
		{
			"P12 a whole object, then more", toolEntry(`{"index":0,"id":"a","function":{"name":"echo","arguments":"{`+one+`"}}`) +
				toolEntry(`{"index":0,"function":{"arguments":"{`+two+`"}}`) + endChunk(end), `a/echo/malformed | stop`,
		},
		{"P13 stop with a call", wholeCall() + endChunk("stop") + doneLine, `a/echo/{"n":1} | stop`},
		{"P14 the limit within arguments", halfCall() + endChunk("length") + doneLine, "a/echo/truncated | length"},
		{"P14 the limit under another reason", halfCall() + endChunk("tool_calls") + usage(`{"prompt_tokens":1,"completion_tokens":64}`) + doneLine, "a/echo/truncated | usage:1/64 | length"},
		{"P20 reasoning_content", deltaChunk(`{"reasoning_content":"hm"}`) + sayChunk("a") + endChunk("stop"), "think:hm | say:a | stop"},
		{"P20 reasoning", deltaChunk(`{"reasoning":"hm"}`) + sayChunk("a") + endChunk("stop"), "think:hm | say:a | stop"},
		{"P20 both, once", deltaChunk(`{"reasoning":"hm","reasoning_content":"hm"}`) + sayChunk("a") + endChunk("stop"), "think:hm | say:a | stop"},
		{"P26 comments", ": OPENROUTER PROCESSING\n\n" + sayChunk("a") + ": OPENROUTER PROCESSING\n\n" + "data: : x\n\n" + endChunk("stop") + doneLine, "say:a | stop"},
		{"P27 CRLF", strings.ReplaceAll(sayChunk("a")+sayChunk("b")+endChunk("stop")+doneLine, "\n", "\r\n"), "say:ab | stop"},
		{"P28 no space behind data:", strings.ReplaceAll(sayChunk("a")+endChunk("stop")+doneLine, "data: ", "data:"), "say:a | stop"},
		{"P29 several data lines", "data: {\"choices\":[\ndata: {\"index\":0,\"delta\":\ndata: {\"content\":\"a\"}}]}\n\n" + endChunk("stop"), "say:a | stop"},
		{"P30 runes in pieces", sayChunk("👋🏽 Grüße 日本") + endChunk("stop"), "say:👋🏽 Grüße 日本 | stop"},
		{"P32 text, then nothing", sayChunk("a"), "say:a | missing | error:truncated"},
		{"P32 [DONE] without a reason", sayChunk("a") + doneLine, "say:a | stop"},
		{"P32 a reason without [DONE]", sayChunk("a") + endChunk("stop"), "say:a | stop"},
		{"P33 an error event", sayChunk("a") + "event: error\ndata: {\"error\":{\"message\":\"busy\",\"type\":\"overloaded_error\"}}\n\n", "say:a | error | error:overloaded"},
		{"P34 an error object beside choices", sayChunk("a") + event(`{"error":{"message":"x","code":502},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`), "say:a | error | error:unavailable"},
		{"P35 nothing at all", "", "error | error:protocol"},
		{"P40 no choices, no delta", event(`{"choices":[],"prompt_filter_results":[{}]}`) + event(`{"choices":[{"index":0,"content_filter_results":{}}]}`) +
			event(`{"choices":null}`) + sayChunk("a") + endChunk("stop"), "say:a | stop"},
		{
			"P41 usage that grows", event(`{"choices":[{"index":0,"delta":{"content":"a"}}],"usage":{"prompt_tokens":5,"completion_tokens":1}}`) +
				event(`{"choices":[{"index":0,"delta":{"content":"b"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2}}`),
			"say:ab | usage:5/2 | stop",
		},
		{
			"P43 usage of nothing at the end", event(`{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":1}}`) +
				usage(`{"prompt_tokens":0,"completion_tokens":0}`), "say:a | usage:5/1 | stop",
		},
		{"P47 a refusal", deltaChunk(`{"refusal":"No."}`) + endChunk("refusal"), "say:No. | filtered"},
		{"P47 a filter with a call", wholeCall() + endChunk("content_filter"), "a/echo/{\"n\":1} | filtered"},
		{"P47 the window is full", sayChunk("a") + endChunk("model_context_window_exceeded"), "say:a | length"},
		{
			"P48 content as a list", deltaChunk(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"a"},{"type":"reference","reference_ids":[1]}]}`) + endChunk("stop"),
			"think:hm | say:a | stop",
		},
		{
			"P49 a call written as text", sayChunk(`<tool_call>{"name":"echo","arguments":{}}</tool_call>`) + endChunk("stop"),
			`say:<tool_call>{"name":"echo","arguments":{}}</tool_call> | stop`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rows.Ran(t, c.name[:3])
			for _, size := range []int{1, 5, len(c.body) + 1} {
				s := serve(t, trickled(c.body, size))
				req := offering("echo", "add")
				req.MaxOutputTokens = 64
				if got := show(providers.Collect(s.provider(t, nil).Stream(t.Context(), req), nil)); got != c.want {
					t.Fatalf("in pieces of %d:\n got %s\nwant %s", size, got, c.want)
				}
			}
		})
	}
}

// lineOf is one chunk whose line is as long as asked.
func lineOf(bytes int) string { return sayChunk(strings.Repeat("x", bytes)) }

func TestP31LongLines(t *testing.T) {
	t.Parallel()
	rows.Ran(t, "P31")
	for _, c := range []struct {
		bytes int
		kind  providers.ErrorKind
	}{{70 << 10, ""}, {1 << 20, ""}, {5 << 20, providers.KindProtocol}} {
		s := serve(t, streamOf(lineOf(c.bytes)+endChunk("stop")))
		got, err := providers.Collect(s.provider(t, nil).Stream(t.Context(), hello), nil)
		if providers.KindOf(err) != c.kind || err == nil && len(got.Text) != c.bytes {
			t.Errorf("%d bytes: %d read, error %v", c.bytes, len(got.Text), err)
		}
	}
}

func TestP32AServerThatNeverSaysHowAnAnswerEnded(t *testing.T) {
	t.Parallel()
	rows.Ran(t, "P32")
	for _, c := range []struct{ body, want string }{
		{sayChunk("a"), "say:a | stop"},
		{sayChunk("a") + "data: {\"choi", "say:a | missing | error:truncated"},
		{sayChunk("a") + wholeCall(), "say:a | a/echo/truncated | missing | error:truncated"},
		{"", "error | error:protocol"},
	} {
		p := serve(t, streamOf(c.body)).provider(t, func(c *Config) { c.TextMayStop = true })
		if got := show(providers.Collect(p.Stream(t.Context(), offering("echo")), nil)); got != c.want {
			t.Errorf("%q: got %s, want %s", c.body, got, c.want)
		}
	}
}

// sequence answers one handler after the other and keeps to the last.
func sequence(handlers ...http.HandlerFunc) http.HandlerFunc {
	var n int
	return func(w http.ResponseWriter, r *http.Request) {
		h := handlers[min(n, len(handlers)-1)]
		n++
		h(w, r)
	}
}

func TestRetriesAcrossTheWire(t *testing.T) {
	t.Parallel()
	rows.Ran(t, "P36", "P37", "CD122")
	soon := []string{"Retry-After-Ms", "1"}
	for _, c := range []struct {
		name     string
		answer   http.HandlerFunc
		want     string
		requests int
	}{
		{"P36 429, then an answer", sequence(status(429, `{}`, soon...), streamOf(fine)), "say:hi | stop", 2},
		{"P36 429 for a time that is too long", status(429, `{}`, "Retry-After", "61"), "error | error:rate_limit", 1},
		{"P36 429 until a date that is too far", status(429, `{}`, "Retry-After", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)), "error | error:rate_limit", 1},
		{"P36 an error first in a stream", sequence(streamOf(event(`{"error":{"message":"x","code":503}}`)), streamOf(fine)), "say:hi | stop", 2},
		{"P36 an error behind text", sequence(streamOf(sayChunk("a")+event(`{"error":{"message":"x","code":503}}`)), streamOf(fine)), "say:a | error | error:overloaded", 1},
		{"P37 529 for ever", status(529, `{}`, soon...), "error | error:overloaded", 3},
		{"P35 an empty stream, then an answer", sequence(streamOf(""), streamOf(fine)), "say:hi | stop", 2},
		{"408", sequence(status(408, `{}`, soon...), streamOf(fine)), "say:hi | stop", 2},
		{"409", sequence(status(409, `{}`, soon...), streamOf(fine)), "say:hi | stop", 2},
		{"425", sequence(status(425, `{}`, soon...), streamOf(fine)), "say:hi | stop", 2},
		{"500", sequence(status(500, `{}`, soon...), streamOf(fine)), "say:hi | stop", 2},
		{"502", sequence(status(502, `{}`, soon...), streamOf(fine)), "say:hi | stop", 2},
		{"503", sequence(status(503, `{}`, soon...), streamOf(fine)), "say:hi | stop", 2},
		{"504", sequence(status(504, `{}`, soon...), streamOf(fine)), "say:hi | stop", 2},
		{"quota", status(429, `{"error":{"message":"x","code":"insufficient_quota"}}`, soon...), "error | error:quota", 1},
		{"auth", status(401, `{}`, soon...), "error | error:auth", 1},
		{"payment", status(402, `{}`, soon...), "error | error:quota", 1},
		{"422", status(422, `{}`, soon...), "error | error:bad_request", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, c.answer)
			p := providers.Retrying(s.provider(t, nil), providers.RetryPolicy{Jitter: func(time.Duration) time.Duration { return 0 }})
			if got := show(providers.Collect(p.Stream(t.Context(), hello), nil)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if len(s.requests) != c.requests {
				t.Errorf("%d requests, want %d", len(s.requests), c.requests)
			}
		})
	}
}

// TestP38TheClientsOwnTimeoutIsNotUsed: it would end this stream before it began.
func TestP38TheClientsOwnTimeoutIsNotUsed(t *testing.T) {
	t.Parallel()
	rows.Ran(t, "P38")
	p := serve(t, streamOf(fine)).provider(t, func(c *Config) { c.HTTPClient = &http.Client{Timeout: time.Nanosecond} })
	if got := show(providers.Collect(p.Stream(t.Context(), hello), nil)); got != "say:hi | stop" {
		t.Error(got)
	}
}

// refusing refuses requests for a reason until it has none.
func refusing(t *testing.T, refusal func(body map[string]any) string) *service {
	t.Helper()
	s := serve(t, nil)
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		s.requests = append(s.requests, body)
		s.mu.Unlock()
		if reason := refusal(body); reason != "" {
			status(400, fmt.Sprintf(`{"error":{"message":%q}}`, reason))(w, r)
			return
		}
		streamOf(fine)(w, r)
	})
	return s
}

func TestRefusedParametersAreLeftOut(t *testing.T) {
	t.Parallel()
	rows.Ran(t, "P24", "P39", "P44")
	warm := 0.7
	silent := []providers.Message{
		{Role: providers.RoleUser, Content: "hello"},
		{Role: providers.RoleAssistant, Calls: []providers.Call{{Key: "k", ID: "a", Name: "echo", Object: json.RawMessage(`{}`), State: providers.Whole}}},
		{Role: providers.RoleTool, CallKey: "k", Content: "x"},
	}
	picture := []providers.Message{{Role: providers.RoleUser, Content: "look", Images: []providers.Image{{MIME: "image/png", Data: []byte("x")}}}}
	has := func(name, reason string) func(map[string]any) string {
		return func(body map[string]any) string {
			if body[name] != nil {
				return reason
			}
			return ""
		}
	}
	for _, c := range []struct {
		name    string
		request providers.Request
		refusal func(map[string]any) string
	}{
		{"P39 stream_options", hello, has("stream_options", "Unknown parameter: stream_options")},
		{"P44 max_tokens", providers.Request{Messages: hello.Messages, MaxOutputTokens: 9}, has("max_tokens", "use 'max_completion_tokens'")},
		{"P44 max_completion_tokens", providers.Request{Model: "gpt-5", Messages: hello.Messages, MaxOutputTokens: 9}, has("max_completion_tokens", "max_completion_tokens: extra fields not permitted")},
		{"temperature", providers.Request{Messages: hello.Messages, Temperature: &warm}, has("temperature", "Unsupported value: 'temperature'")},
		{"thinking", providers.Request{Messages: hello.Messages, Thinking: providers.ThinkingHigh}, has("reasoning_effort", "Unrecognized request argument: reasoning_effort")},
		{"pictures", providers.Request{Messages: picture}, func(body map[string]any) string {
			if raw, _ := json.Marshal(body); strings.Contains(string(raw), "image_url") {
				return "No endpoints found that support image input"
			}
			return ""
		}},
		{"P24 an empty text beside calls", providers.Request{Messages: silent}, func(body map[string]any) string {
			if raw, _ := json.Marshal(body["messages"]); strings.Contains(string(raw), `"content":""`) {
				return "messages.1: text content blocks must be non-empty"
			}
			return ""
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := refusing(t, c.refusal)
			p := s.provider(t, func(c *Config) { c.Vendor, c.Sees = "openai", func(string) bool { return true } })
			if c.name == "P44 max_tokens" {
				p = s.provider(t, nil)
			}
			for range 2 {
				if got := show(providers.Collect(p.Stream(t.Context(), c.request), nil)); got != "say:hi | stop" {
					t.Fatal(got)
				}
			}
			if len(s.requests) != 3 {
				t.Errorf("%d requests: what was learned is not kept, or more than that was tried", len(s.requests))
			}
		})
	}
}

func TestP42CachedTokensInBothConventions(t *testing.T) {
	t.Parallel()
	rows.Ran(t, "P42")
	for _, c := range []struct {
		name, vendor, usage string
		want                providers.Usage
	}{
		{"part of the prompt", "", `{"prompt_tokens":1000,"completion_tokens":50,"total_tokens":1050,"prompt_tokens_details":{"cached_tokens":800}}`, providers.Usage{Input: 1000, Output: 50, CacheRead: 800}},
		{"DeepSeek's name for it", "deepseek", `{"prompt_tokens":1000,"completion_tokens":50,"prompt_cache_hit_tokens":800,"prompt_cache_miss_tokens":200}`, providers.Usage{Input: 1000, Output: 50, CacheRead: 800}},
		{"beside it, by the total", "", `{"prompt_tokens":1000,"completion_tokens":50,"total_tokens":1850,"prompt_tokens_details":{"cached_tokens":800}}`, providers.Usage{Input: 1800, Output: 50, CacheRead: 800}},
		{"beside it, being more than it", "", `{"prompt_tokens":200,"completion_tokens":50,"prompt_tokens_details":{"cached_tokens":800}}`, providers.Usage{Input: 1000, Output: 50, CacheRead: 800}},
		{"written", "openrouter", `{"prompt_tokens":1000,"completion_tokens":50,"prompt_tokens_details":{"cached_tokens":0,"cache_write_tokens":700}}`, providers.Usage{Input: 1000, Output: 50, CacheWrite: 700}},
		{"reasoning within the completion", "", `{"prompt_tokens":10,"completion_tokens":50,"total_tokens":60,"completion_tokens_details":{"reasoning_tokens":40}}`, providers.Usage{Input: 10, Output: 50, Reasoning: 40}},
		{"beside it, by the total", "xai", `{"prompt_tokens":468,"completion_tokens":77,"total_tokens":1127,"completion_tokens_details":{"reasoning_tokens":582}}`, providers.Usage{Input: 468, Output: 659, Reasoning: 582}},
		{"beside it, by the table", "xai", `{"prompt_tokens":10,"completion_tokens":50,"completion_tokens_details":{"reasoning_tokens":40}}`, providers.Usage{Input: 10, Output: 90, Reasoning: 40}},
		{"the total is right against the table", "xai", `{"prompt_tokens":10,"completion_tokens":50,"total_tokens":60,"completion_tokens_details":{"reasoning_tokens":40}}`, providers.Usage{Input: 10, Output: 50, Reasoning: 40}},
		{"numbers with a point, and rubbish", "", `{"prompt_tokens":10.0,"completion_tokens":"7","prompt_tokens_details":null}`, providers.Usage{Input: 10}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := serve(t, streamOf(sayChunk("a")+endChunk("stop")+event(`{"choices":[],"usage":`+c.usage+`}`))).provider(t, func(cfg *Config) { cfg.Vendor = c.vendor })
			got, err := providers.Collect(p.Stream(t.Context(), hello), nil)
			if d := cmp.Diff(c.want, got.Usage); err != nil || d != "" {
				t.Error(err, d)
			}
		})
	}
}

func TestP50SchemasAreAPlainSubset(t *testing.T) {
	t.Parallel()
	rows.Ran(t, "P50")
	got, err := json.Marshal(plainSchema(json.RawMessage(`{"$schema":"x","$defs":{},"type":"object","additionalProperties":false,"required":["n"],
		"properties":{"n":{"type":["null","integer"],"minimum":1,"format":"int32","default":3,"description":"d"},
		"l":{"type":"array","minItems":1,"items":{"type":"object","properties":{"x":{"$ref":"#/$defs/x","const":"y","enum":["y"]}}}},
		"o":{"anyOf":[{"type":"string"}]}}}`)))
	want := `{"properties":{"l":{"items":{"properties":{"x":{"enum":["y"]}},"type":"object"},"type":"array"},` +
		`"n":{"description":"d","type":"integer"},"o":{}},"required":["n"],"type":"object"}`
	if err != nil || string(got) != want {
		t.Errorf("got  %s\nwant %s, error %v", got, want, err)
	}
}
