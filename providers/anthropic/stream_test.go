package anthropic

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/providers/internal/corpus"
	"github.com/parleybot/parley/providers/internal/rows"
	"github.com/parleybot/parley/providers/internal/wire"
)

// replay reads a body as if a service had answered it, in pieces of one size.
func replay(body string, size int) (providers.Response, error) {
	return read("text/event-stream", &corpus.Pieces{Text: body, Size: func() int { return size }}, 0)
}

func read(contentType string, body io.Reader, limit int) (providers.Response, error) {
	res := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(body)}
	return providers.Collect(func(yield func(providers.Fragment, error) bool) {
		a := answer{service: &wire.Service{Name: "anthropic"}, yield: yield, model: "m", limit: limit}
		if err := a.readBody(res); err != nil && !errors.Is(err, wire.ErrLeft) {
			yield(nil, err)
		}
	}, nil)
}

func sent(data string) string {
	kind, _, _ := strings.Cut(strings.TrimPrefix(data, `{"type":"`), `"`)
	return "event: " + kind + "\ndata: " + data + "\n\n"
}

func begin() string {
	return sent(`{"type":"message_start","message":{"type":"message","model":"x","content":[],"stop_reason":null,"usage":{"input_tokens":5,"output_tokens":1}}}`)
}

func start(index int, block string) string {
	return sent(fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, index, block))
}

func grow(index int, delta string) string {
	return sent(fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, index, delta))
}

func stop(index int) string {
	return sent(fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, index))
}

func textBlock(index int, text string) string {
	return start(index, `{"type":"text","text":""}`) + grow(index, fmt.Sprintf(`{"type":"text_delta","text":%q}`, text)) + stop(index)
}

func toolBlock(index int, id, name string, parts ...string) string {
	out := start(index, fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":{}}`, id, name))
	for _, p := range parts {
		out += argument(index, p)
	}
	return out + stop(index)
}

func argument(index int, part string) string {
	return grow(index, fmt.Sprintf(`{"type":"input_json_delta","partial_json":%q}`, part))
}

func end(reason string) string {
	return sent(fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%q},"usage":{"output_tokens":9}}`, reason)) + sent(`{"type":"message_stop"}`)
}

// show tells a response in one line.
func show(r providers.Response, err error) string {
	var parts []string
	if r.Thinking != "" {
		parts = append(parts, "think:"+r.Thinking)
	}
	for _, b := range r.ThinkingBlocks {
		parts = append(parts, "block:"+string(b.Raw))
	}
	if r.Text != "" {
		parts = append(parts, "say:"+r.Text)
	}
	for _, c := range r.Calls {
		what := string(c.Object)
		if c.State != providers.Whole {
			what = string(c.State)
		}
		parts = append(parts, c.ID+"/"+c.Name+"/"+what)
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
	rows.Ran(t, "CD113", "CD114", "CD115", "CD118", "CD119", "CD131", "CD132", "CD133")
	echo := toolBlock(1, "a", "echo", `{"n":`, `1}`)
	for _, c := range []struct{ name, body, want string }{
		{"text", begin() + textBlock(0, "hi") + end("end_turn"), "say:hi | usage:5/9 | stop"},
		{"text and a call", begin() + textBlock(0, "hi") + echo + end("tool_use"), `say:hi | a/echo/{"n":1} | usage:5/9 | stop`},
		{"P13 a call under another reason", begin() + echo + end("end_turn"), `a/echo/{"n":1} | usage:5/9 | stop`},
		{"a stop sequence", begin() + textBlock(0, "a") + end("stop_sequence"), "say:a | usage:5/9 | stop"},
		{"CD113 P26 P27 CRLF, comments, pings, no final blank line", strings.TrimRight(strings.ReplaceAll(": hello\n\n"+begin()+sent(`{"type": "ping"}`)+textBlock(0, "a")+end("end_turn"), "\n", "\r\n"), "\r\n"), "say:a | usage:5/9 | stop"},
		{"CD114 P30 runes", begin() + textBlock(0, "👋🏽 é") + end("end_turn"), "say:👋🏽 é | usage:5/9 | stop"},
		{"CD115 P28 P29 no space, two data lines, lone CR", "data:{\"type\":\"content_block_delta\",\"index\":0,\rdata: \"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\r\r" + end("end_turn"), "say:a | usage:0/9 | stop"},
		{"the type only in the event's name", "event: content_block_delta\ndata: {\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\n" + end("end_turn"), "say:a | usage:0/9 | stop"},
		{"text with the start of its block", begin() + start(0, `{"type":"text","text":"a"}`) + grow(0, `{"type":"text_delta","text":"b"}`) + end("end_turn"), "say:ab | usage:5/9 | stop"},

		{"CD131 B60 interleaved blocks", begin() + start(1, `{"type":"tool_use","id":"a","name":"echo","input":{}}`) + start(2, `{"type":"tool_use","id":"b","name":"add","input":{}}`) +
			argument(1, `{"n"`) + argument(2, `{"m":`) + argument(1, `:1}`) + argument(2, `2}`) + stop(2) + stop(1) + end("tool_use"), `a/echo/{"n":1} | b/add/{"m":2} | usage:5/9 | stop`},
		{"CD132 P11 no arguments at all", begin() + toolBlock(0, "a", "echo") + end("tool_use"), "a/echo/{} | usage:5/9 | stop"},
		{"an empty piece of arguments", begin() + toolBlock(0, "a", "echo", "") + end("tool_use"), "a/echo/{} | usage:5/9 | stop"},
		{"P8 arguments whole with the start", begin() + start(0, `{"type":"tool_use","id":"a","name":"echo","input":{"n": 12345678901234567890}}`) + stop(0) + end("tool_use"), `a/echo/{"n":12345678901234567890} | usage:5/9 | stop`},
		{"arguments with the start, its end left out", begin() + start(0, `{"type":"tool_use","id":"a","name":"echo","input":{"n":1}}`) + end("tool_use"), `a/echo/{"n":1} | usage:5/9 | stop`},
		{"pieces replace arguments of the start", begin() + start(0, `{"type":"tool_use","id":"a","name":"echo","input":{"n":0}}`) + argument(0, `{"n":1}`) + stop(0) + end("tool_use"), `a/echo/{"n":1} | usage:5/9 | stop`},
		{"P9 arguments as an object in a piece", begin() + start(0, `{"type":"tool_use","id":"a","name":"echo"}`) + grow(0, `{"type":"input_json_delta","partial_json":{"n": 1}}`) + stop(0) + end("tool_use"), `a/echo/{"n":1} | usage:5/9 | stop`},
		{"P10 arguments encoded twice", begin() + start(0, `{"type":"tool_use","id":"a","name":"echo","input":"{\"n\":1}"}`) + stop(0) + end("tool_use"), `a/echo/{"n":1} | usage:5/9 | stop`},
		{"B47 arguments that are a list", begin() + start(0, `{"type":"tool_use","id":"a","name":"echo","input":[]}`) + stop(0) + end("tool_use"), "a/echo/malformed | usage:5/9 | stop"},
		{"B47 arguments that are null", begin() + start(0, `{"type":"tool_use","id":"a","name":"echo","input":null}`) + stop(0) + end("tool_use"), "a/echo/{} | usage:5/9 | stop"},
		{"P4 P5 P18 ids that are empty or repeated", begin() + toolBlock(0, "", "echo", `{"n":1}`) + toolBlock(1, "a", "echo", `{"n":2}`) + toolBlock(2, "a", "echo", `{"n":3}`) + end("tool_use"), `/echo/{"n":1} | a/echo/{"n":2} | a/echo/{"n":3} | usage:5/9 | stop`},
		{"P6 P7 names are each call's own", begin() + toolBlock(0, "a", "web_search", `{}`) + toolBlock(1, "b", "web_search", `{}`) + end("tool_use"), `a/web_search/{} | b/web_search/{} | usage:5/9 | stop`},
		{"P49 a call written as text is text", begin() + textBlock(0, "<tool_call>{}</tool_call>") + end("end_turn"), "say:<tool_call>{}</tool_call> | usage:5/9 | stop"},
		{"P2 all blocks with index 0", begin() + toolBlock(0, "a", "echo", `{"n":1}`) + toolBlock(0, "b", "echo", `{"n":2}`) + end("tool_use"), `a/echo/{"n":1} | b/echo/{"n":2} | usage:5/9 | stop`},
		{"P1 no index", begin() + sent(`{"type":"content_block_start","content_block":{"type":"tool_use","id":"a","name":"echo"}}`) +
			sent(`{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{\"n\":1}"}}`) + end("tool_use"), `a/echo/{"n":1} | usage:5/9 | stop`},
		{"arguments of no block", begin() + argument(7, `{"n":1}`) + textBlock(0, "a") + end("end_turn"), "say:a | usage:5/9 | stop"},
		{"P12 two objects in one text", begin() + toolBlock(0, "a", "echo", `{"n":1}`, `{"n":2}`) + end("tool_use"), "a/echo/malformed | usage:5/9 | stop"},

		{"blocks of the vendor's own tools", begin() + start(0, `{"type":"server_tool_use","id":"s","name":"web_search","input":{}}`) + argument(0, `{"query":"x"}`) + stop(0) +
			start(1, `{"type":"web_search_tool_result","tool_use_id":"s","content":[{"type":"web_search_result","title":"t"}]}`) + stop(1) +
			start(2, `{"citations":[],"type":"text","text":""}`) + grow(2, `{"type":"citations_delta","citation":{}}`) + grow(2, `{"type":"text_delta","text":"a"}`) + stop(2) + end("end_turn"), "say:a | usage:5/9 | stop"},
		{"kinds that nobody knows", begin() + sent(`{"type":"compaction_start","index":0}`) + start(0, `{"type":"hologram","text":"x"}`) + grow(0, `{"type":"hologram_delta","text":"x"}`) + stop(0) + textBlock(1, "a") + end("end_turn"), "say:a | usage:5/9 | stop"},

		{"CD118 P33 B65 an error after text", begin() + textBlock(0, "a") + sent(`{"type":"error","error":{"type":"api_error","message":"boom"}}`), "say:a | usage:5/1 | error | error:unavailable"},
		{"CD133 P33 P37 an error first", sent(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), "error | error:overloaded"},
		{"P34 an error in an event without a type", begin() + "data: {\"error\":{\"message\":\"busy\",\"code\":503}}\n\n", "usage:5/1 | error | error:overloaded"},
		{"an error without words", begin() + sent(`{"type":"error"}`), "usage:5/1 | error | error:unavailable"},

		{"CD119 P32 B63 cut in text", begin() + start(0, `{"type":"text","text":""}`) + grow(0, `{"type":"text_delta","text":"a"}`), "say:a | usage:5/1 | missing | error:truncated"},
		{"CD119 P32 B63 cut in a call", begin() + start(0, `{"type":"tool_use","id":"a","name":"echo"}`) + argument(0, `{"n":`), "a/echo/truncated | usage:5/1 | missing | error:truncated"},
		{"CD119 cut after a whole call", begin() + echo, "a/echo/truncated | usage:5/1 | missing | error:truncated"},
		{"B64 a reason and no message_stop", begin() + echo + sent(`{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`), `a/echo/{"n":1} | usage:5/1 | stop`},
		{"B64 message_stop and no reason, text", begin() + textBlock(0, "a") + sent(`{"type":"message_stop"}`), "say:a | usage:5/1 | stop"},
		{"message_stop and no reason, a call", begin() + echo + sent(`{"type":"message_stop"}`), "a/echo/truncated | usage:5/1 | missing | error:truncated"},
		{"[DONE] instead of message_stop", begin() + textBlock(0, "a") + "data: [DONE]\n\n", "say:a | usage:5/1 | stop"},
		{"nothing behind message_stop is read", begin() + textBlock(0, "a") + end("end_turn") + textBlock(1, "b"), "say:a | usage:5/9 | stop"},
		{"P35 an empty stream", "", "error | error:protocol"},
		{"P35 only pings", sent(`{"type":"ping"}`) + ": a\n\n", "error | error:protocol"},
		{"P35 only message_stop", sent(`{"type":"message_stop"}`), "error | error:protocol"},

		{"P14 B70 the limit in a call", begin() + start(0, `{"type":"tool_use","id":"a","name":"echo"}`) + argument(0, `{"n":`) + end("max_tokens"), "a/echo/truncated | usage:5/9 | length"},
		{"the limit before any argument", begin() + start(0, `{"type":"tool_use","id":"a","name":"echo","input":{}}`) + end("max_tokens"), "a/echo/truncated | usage:5/9 | length"},
		{"P14 half a call under another reason", begin() + toolBlock(0, "a", "echo", `{"n":`) + end("tool_use"), "a/echo/truncated | usage:5/9 | stop"},
		{"P47 the context is full", begin() + textBlock(0, "a") + end("model_context_window_exceeded"), "say:a | usage:5/9 | length"},
		{"P47 a refusal without content", begin() + end("refusal"), "usage:5/9 | filtered"},
		{"P47 a pause", begin() + textBlock(0, "a") + end("pause_turn"), "say:a | usage:5/9 | error | error:protocol"},
		{"P47 a word that nobody knows", begin() + echo + end("enlightenment"), "a/echo/truncated | usage:5/9 | error | error:protocol"},

		{"three unreadable events are skipped", begin() + strings.Repeat("data: x\n\n", 3) + textBlock(0, "a") + end("end_turn"), "say:a | usage:5/9 | stop"},
		{"four are not", begin() + textBlock(0, "a") + strings.Repeat("data: x\n\n", 4), "say:a | usage:5/1 | error | error:protocol"},
		{"an unreadable last one is not", begin() + textBlock(0, "a") + "data: {\"type\n\n", "say:a | usage:5/1 | error | error:protocol"},
		{"members of another type", begin() + sent(`{"type":"content_block_start","index":"0","content_block":{"type":"text","text":7}}`) + sent(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`) + end("end_turn"), "say:a | usage:5/9 | stop"},

		{
			"signed thinking", begin() + start(0, `{"type":"thinking","thinking":"","signature":""}`) + grow(0, `{"type":"thinking_delta","thinking":"hm "}`) + grow(0, `{"type":"thinking_delta","thinking":"\u00e9\n"}`) +
				grow(0, `{"type":"signature_delta","signature":"Eq/+="}`) + stop(0) + textBlock(1, "a") + end("end_turn"),
			"think:hm é\n | block:" + `{"type":"thinking","thinking":"hm \u00e9\n","signature":"Eq/+="}` + " | say:a | usage:5/9 | stop",
		},
		{
			"P22 a signature without text", begin() + start(0, `{"type":"thinking","thinking":"","signature":""}`) + grow(0, `{"type":"signature_delta","signature":"S"}`) + stop(0) + echo + end("tool_use"),
			`block:{"type":"thinking","thinking":"","signature":"S"} | a/echo/{"n":1} | usage:5/9 | stop`,
		},
		{"thinking without a signature is not kept", begin() + start(0, `{"type":"thinking","thinking":"hm"}`) + stop(0) + textBlock(1, "a") + end("end_turn"), "think:hm | say:a | usage:5/9 | stop"},
		{"thinking that was cut is not kept", begin() + start(0, `{"type":"thinking","thinking":"hm"}`) + grow(0, `{"type":"signature_delta","signature":"S"}`), "think:hm | usage:5/1 | missing | error:truncated"},
		{"redacted thinking", begin() + start(0, `{"type":"redacted_thinking","data":"a/b+"}`) + stop(0) + textBlock(1, "a") + end("end_turn"), `block:{"type":"redacted_thinking","data":"a/b+"} | say:a | usage:5/9 | stop`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for size := 1; size <= len(c.body)+1; size = size*3 + 1 {
				if got := show(replay(c.body, size)); got != c.want {
					t.Fatalf("in pieces of %d:\n got %s\nwant %s", size, got, c.want)
				}
			}
			p := serve(t, streamOf(c.body)).provider(t, nil)
			if got := show(providers.Collect(p.Stream(t.Context(), hello), nil)); got != c.want {
				t.Errorf("over a connection:\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestBlocksWithoutEnd: a server that opens blocks and never ends one costs neither time nor arguments.
func TestBlocksWithoutEnd(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(begin())
	for i := range 100_000 {
		block := `{"type":"text"}`
		if i == 0 {
			block = `{"type":"tool_use","id":"a","name":"echo","input":{"n":1}}`
		}
		b.WriteString(start(i, block))
	}
	if got := show(replay(b.String()+end("tool_use"), 1<<15)); got != `a/echo/{"n":1} | usage:5/9 | stop` {
		t.Error(got)
	}
}
