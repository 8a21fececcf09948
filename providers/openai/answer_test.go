package openai

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/providers/internal/rows"
)

// say writes a chunk with content, delta writes one with any delta, end one with a finish reason.
func sayChunk(text string) string { return deltaChunk(fmt.Sprintf(`{"content":%q}`, text)) }

func deltaChunk(delta string) string {
	return event(fmt.Sprintf(`{"choices":[{"index":0,"delta":%s}]}`, delta))
}

func endChunk(reason string) string {
	return event(fmt.Sprintf(`{"choices":[{"index":0,"delta":{},"finish_reason":%q}]}`, reason))
}

func event(data string) string { return "data: " + data + "\n\n" }

const doneLine = "data: [DONE]\n\n"

func halfCall() string {
	return deltaChunk(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"echo","arguments":"{\"n\":"}}]}`)
}

func wholeCall() string {
	return deltaChunk(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"echo","arguments":"{\"n\":1}"}}]}`)
}

// show tells a response in one line.
func show(r providers.Response, err error) string {
	var parts []string
	if r.Thinking != "" {
		parts = append(parts, "think:"+r.Thinking)
	}
	if r.Text != "" {
		parts = append(parts, "say:"+r.Text)
	}
	if len(r.Calls) > 0 {
		parts = append(parts, showCalls(r.Calls))
	}
	if r.Usage != (providers.Usage{}) {
		parts = append(parts, fmt.Sprintf("usage:%d/%d", r.Usage.Input, r.Usage.Output))
	}
	parts = append(parts, string(r.Finish))
	if kind := providers.KindOf(err); kind != "" {
		parts = append(parts, "error:"+string(kind))
	}
	return strings.Join(parts, " | ")
}

func TestStreams(t *testing.T) {
	t.Parallel()
	rows.Ran(t, "CD111", "CD112", "CD113", "CD114", "CD115", "CD117", "CD118", "CD119", "CD120", "CD121")
	usage := func(in, out int) string {
		return fmt.Sprintf(`"usage":{"prompt_tokens":%d,"completion_tokens":%d}`, in, out)
	}
	for _, c := range []struct{ name, body, want string }{
		{"CD111 reasoning field", deltaChunk(`{"reasoning_content":"hm"}`) + deltaChunk(`{"reasoning":"m"}`) + sayChunk("a") + endChunk("stop"), "think:hmm | say:a | stop"},
		{"CD111 reasoning details", deltaChunk(`{"reasoning_details":[{"type":"reasoning.text","text":"hm"}]}`) + sayChunk("a") + endChunk("stop"), "think:hm | say:a | stop"},
		{"CD112 both names in one chunk", deltaChunk(`{"reasoning_content":"hm","reasoning":"hm","reasoning_details":[{"text":"hm"}]}`) + sayChunk("a") + endChunk("stop"), "think:hm | say:a | stop"},
		{"CD113 CRLF, comments, no final blank line", strings.ReplaceAll(": hello\n\n"+sayChunk("a")+endChunk("stop"), "\n", "\r\n") + "data: [DONE]", "say:a | stop"},
		{"CD114 runes", sayChunk("👋🏽 é") + endChunk("stop") + doneLine, "say:👋🏽 é | stop"},
		{"CD115 no space, two data lines, lone CR", "data:{\"choices\":[{\"index\":0,\rdata: \"delta\":{\"content\":\"a\"}}]}\r\r" + endChunk("stop"), "say:a | stop"},
		{"a comment written as data", "data: : keep-alive\n\n" + sayChunk("a") + endChunk("stop"), "say:a | stop"},
		{
			"CD117 usage beside choices and in every chunk", event(`{"choices":[{"index":0,"delta":{"content":"a"}}],`+usage(5, 1)+`}`) +
				event(`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],`+usage(5, 2)+`}`) + event(`{"choices":[],`+usage(5, 3)+`}`) + doneLine,
			"say:a | usage:5/3 | stop",
		},
		{"usage on an early end", event(`{"choices":[{"index":0,"delta":{"content":"a"}}],` + usage(5, 1) + `}`), "say:a | usage:5/1 | missing | error:truncated"},
		{"CD118 B65 error object after text", sayChunk("a") + event(`{"error":{"message":"quota exceeded","code":429},"choices":[]}`), "say:a | error | error:quota"},
		{"B65 error object first", event(`{"error":{"message":"busy","code":503}}`), "error | error:overloaded"},
		{"error as a string", event(`{"error":"out of memory"}`), "error | error:unavailable"},
		{"error that is null", event(`{"error":null,"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}`), "say:a | stop"},
		{"reason error", sayChunk("a") + endChunk("error"), "say:a | error | error:unavailable"},
		{"CD119 B63 cut in a call", halfCall(), "a/echo/truncated | missing | error:truncated"},
		{"CD119 cut after a whole call", wholeCall(), "a/echo/truncated | missing | error:truncated"},
		{"B64a text and [DONE]", sayChunk("a") + doneLine, "say:a | stop"},
		{"B64a call and [DONE]", wholeCall() + doneLine, `a/echo/{"n":1} | stop`},
		{"B64b reason and no [DONE]", sayChunk("a") + endChunk("stop"), "say:a | stop"},
		{"B64c neither", sayChunk("a"), "say:a | missing | error:truncated"},
		{"CD120 B70 length with half a call", halfCall() + endChunk("length") + doneLine, "a/echo/truncated | length"},
		{"half a call under a rewritten reason", halfCall() + endChunk("tool_calls") + doneLine, "a/echo/truncated | stop"},
		{"B70 length in text", sayChunk("a") + endChunk("MAX_TOKENS"), "say:a | length"},
		{"B70 filter", sayChunk("a") + endChunk("content_filter"), "say:a | filtered"},
		{"CD121 stop with a call", wholeCall() + endChunk("stop") + doneLine, `a/echo/{"n":1} | stop`},
		{"an unknown reason is a normal end", wholeCall() + endChunk("eos_token") + doneLine, `a/echo/{"n":1} | stop`},
		{"empty stream", "", "error | error:protocol"},
		{"only comments", ": a\n\n: b\n\n", "error | error:protocol"},
		{"only [DONE]", doneLine, "error | error:protocol"},
		{"choice without delta, no choices, other index", event(`{"choices":[{"index":0}]}`) + event(`{"choices":[]}`) +
			event(`{"choices":[{"index":1,"delta":{"content":"x"}}]}`) + sayChunk("a") + endChunk("stop"), "say:a | stop"},
		{
			"content as parts", deltaChunk(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"a"},{"type":"reference","id":1}]}`) + endChunk("stop"),
			"think:hm | say:a | stop",
		},
		{"refusal", deltaChunk(`{"content":null,"refusal":"no"}`) + endChunk("stop"), "say:no | stop"},
		{"three unreadable events are skipped", strings.Repeat(event("x"), 3) + sayChunk("a") + endChunk("stop"), "say:a | stop"},
		{"four are not", sayChunk("a") + strings.Repeat(event("x"), 4) + endChunk("stop"), "say:a | error | error:protocol"},
		{"an unreadable last one is not", sayChunk("a") + event("x") + doneLine, "say:a | error | error:protocol"},
		{"data after [DONE] is not read", sayChunk("a") + endChunk("stop") + doneLine + sayChunk("b"), "say:a | stop"},
		{"reason first, usage later", endChunk("stop") + event(`{"choices":[],`+usage(7, 2)+`}`), "usage:7/2 | stop"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for size := 1; size <= len(c.body)+1; size = size*3 + 1 {
				if got := show(replay(t, c.body, size, "echo")); got != c.want {
					t.Fatalf("in pieces of %d:\n got %s\nwant %s", size, got, c.want)
				}
			}
		})
	}
}

func TestCD116LongLines(t *testing.T) {
	t.Parallel()
	rows.Ran(t, "CD116")
	got, err := replay(t, sayChunk(strings.Repeat("x", 900_000))+endChunk("stop"), 1<<15)
	if err != nil || len(got.Text) != 900_000 {
		t.Errorf("%d bytes, %v", len(got.Text), err)
	}
	padded := event(`{"padding":"` + strings.Repeat("x", 2<<20) + `","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}`)
	if got := show(replay(t, padded, 1<<15)); got != "say:a | stop" {
		t.Error(got)
	}
	if got := show(replay(t, sayChunk("a")+sayChunk(strings.Repeat("x", 5<<20)), 1<<15)); got != "say:a | error | error:protocol" {
		t.Error(got)
	}
}

func TestBodiesThatAreNoStream(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, contentType, body, want string }{
		{
			"whole answer", "application/json; charset=utf-8",
			`{"model":"x","choices":[{"index":0,"message":{"role":"assistant","content":"a","tool_calls":[{"id":"c","type":"function","function":{"name":"echo","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`,
			"say:a | c/echo/{} | usage:1/2 | stop",
		},
		{"error object", "application/json", `{"error":{"message":"no such model","type":"invalid_request_error"}}`, "error | error:bad_request"},
		{"list with an error", "application/json", `[{"error":{"message":"slow down","code":429}}]`, "error | error:rate_limit"},
		{"cut document", "application/json", `{"choices":[`, "error | error:protocol"},
		{"web page", "text/html", `<html>login</html>`, "error | error:protocol"},
		{"web page in disguise", "text/event-stream", "\n<!doctype html>", "error | error:protocol"},
		{"stream called JSON", "application/json", sayChunk("a") + endChunk("stop"), "say:a | stop"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := show(replayAs(t, c.contentType, c.body, 5, "echo")); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestUsageDetails(t *testing.T) {
	t.Parallel()
	got, err := replay(t, sayChunk("a")+event(`{"model":"x","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000.0,"completion_tokens":20,`+
		`"prompt_tokens_details":{"cached_tokens":800,"cache_write_tokens":5},"completion_tokens_details":{"reasoning_tokens":7}}}`), 64)
	want := providers.Usage{Input: 1000, Output: 20, CacheRead: 800, CacheWrite: 5, Reasoning: 7}
	if d := cmp.Diff(want, got.Usage); err != nil || d != "" || got.Model != "x" {
		t.Errorf("model %q, error %v, %s", got.Model, err, d)
	}
}

// TestHowAStreamArrivesDoesNotMatter draws streams from good and bad events, cuts them anywhere and reads them in pieces.
// (A fuzz target would have the whole SDK compiled with instrumentation first.)
func TestHowAStreamArrivesDoesNotMatter(t *testing.T) {
	t.Parallel()
	events := rapid.SampledFrom([]string{
		sayChunk("a"), sayChunk("👋🏽"), halfCall(), wholeCall(), endChunk("stop"), endChunk("length"), doneLine, ": beat\n\n", event("x"), event("{}"),
		deltaChunk(`{"tool_calls":[{"function":{"name":"x","arguments":{"n":1}}}]}`), deltaChunk(`{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}`),
		deltaChunk(`{"tool_calls":[{"index":3,"id":"b"}]}`), deltaChunk(`{"tool_calls":[null,7,{}]}`), deltaChunk(`null`), event(`{"error":{"code":503}}`),
		event(`{"error":"x"}`), event(`{"choices":[],"usage":{"prompt_tokens":-1,"completion_tokens":1e99}}`), event(`{"choices":7}`), "\xef\xbb\xbf", "\r",
	})
	rapid.Check(t, func(rt *rapid.T) {
		body := strings.Join(rapid.SliceOfN(events, 0, 10).Draw(rt, "events"), "")
		body = body[:rapid.IntRange(0, len(body)).Draw(rt, "cut")]
		whole, err := replay(t, body, len(body)+1, "echo")
		for _, c := range whole.Calls {
			if err != nil && c.State == providers.Whole {
				rt.Fatalf("a broken stream has a call to run: %+v", c)
			}
		}
		split, splitErr := replay(t, body, rapid.IntRange(1, 9).Draw(rt, "size"), "echo")
		if d := cmp.Diff(show(whole, err), show(split, splitErr)); d != "" {
			rt.Fatal(d)
		}
	})
}
