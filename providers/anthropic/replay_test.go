package anthropic

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/providers/internal/corpus"
)

// recorded is this wire over recorded streams.
var recorded = corpus.Wire{
	Folder: "anthropic",
	Read:   func(body io.Reader) (providers.Response, error) { return read("text/event-stream", body, 0) },
	Ended:  saysEnd,
	Judged: map[string]corpus.Judgement{
		"AnthropicComputerUse-claude-sonnet-4-computer-use-streaming-0": {
			Text: new("I'll take a screenshot of the desktop for you."),
			Why:  "the text is there, in two deltas before the call; the client kept only the call",
		},
	},
}

// saysEnd looks for a stop reason in lines that arrived whole, without our readers.
func saysEnd(body string) bool {
	for line := range strings.Lines(body) {
		data, isData := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "data:")
		var e struct {
			Delta struct {
				Reason string `json:"stop_reason"`
			} `json:"delta"`
		}
		if isData && json.Unmarshal([]byte(strings.TrimSpace(data)), &e) == nil && e.Delta.Reason != "" {
			return true
		}
	}
	return false
}

func TestRecordings(t *testing.T)    { t.Parallel(); recorded.Replay(t) }
func TestRecordingsCut(t *testing.T) { t.Parallel(); recorded.Cut(t) }

// TestRecordingCutEverywhere cuts one stream with text and parallel calls at every byte.
func TestRecordingCutEverywhere(t *testing.T) {
	t.Parallel()
	body := recorded.Body(t, "AnthropicCommon-claude-sonnet-4-multi-tool-streaming-0")
	recorded.CutAt(t, body, corpus.Everywhere(body))
}

// TestRecordedSignature keeps a real block of reasoning exactly as it was sent.
func TestRecordedSignature(t *testing.T) {
	t.Parallel()
	body := recorded.Body(t, "AnthropicThinking-claude-sonnet-4-thinking-streaming-0")
	got, err := recorded.Read(strings.NewReader(body))
	if err != nil || len(got.ThinkingBlocks) != 1 {
		t.Fatalf("%d blocks, error %v", len(got.ThinkingBlocks), err)
	}
	var block struct{ Type, Thinking, Signature string }
	if err := json.Unmarshal(got.ThinkingBlocks[0].Raw, &block); err != nil {
		t.Fatal(err)
	}
	var signature string
	for line := range strings.Lines(body) {
		var e struct {
			Delta struct{ Signature string } `json:"delta"`
		}
		if data, ok := strings.CutPrefix(line, "data:"); ok && json.Unmarshal([]byte(data), &e) == nil {
			signature += e.Delta.Signature
		}
	}
	if block.Type != "thinking" || block.Thinking != got.Thinking || block.Thinking == "" || block.Signature != signature || signature == "" {
		t.Errorf("block %+v", block)
	}
}

// long is a stream with everything in it.
func long() string {
	return ": hello\n\n" + begin() + start(0, `{"type":"thinking","thinking":"","signature":""}`) + grow(0, `{"type":"thinking_delta","thinking":"hm 👋🏽"}`) +
		grow(0, `{"type":"signature_delta","signature":"EqRk="}`) + stop(0) + sent(`{"type":"ping"}`) + textBlock(1, "one 👋🏽 moment") +
		toolBlock(2, "a", "echo", `{"n":`, `12345678901234567890}`) + toolBlock(3, "b", "echo") +
		start(4, `{"type":"tool_use","id":"c","name":"echo","input":{"n":1}}`) + stop(4) + end("tool_use")
}

// TestCutEverywhere does the same with a stream of our own, which is always there.
func TestCutEverywhere(t *testing.T) {
	t.Parallel()
	body := long()
	recorded.CutAt(t, body, corpus.Everywhere(body))
	crlf := strings.ReplaceAll(body, "\n", "\r\n")
	var sevenths []int
	for at := 0; at <= len(crlf); at += 7 {
		sevenths = append(sevenths, at)
	}
	recorded.CutAt(t, crlf, sevenths)
}

// TestHowAStreamArrivesDoesNotMatter draws streams from good and bad events, cuts them anywhere and reads them in pieces.
func TestHowAStreamArrivesDoesNotMatter(t *testing.T) {
	t.Parallel()
	events := rapid.SampledFrom(strangeEvents())
	rapid.Check(t, func(rt *rapid.T) {
		body := strings.Join(rapid.SliceOfN(events, 0, 12).Draw(rt, "events"), "")
		body = body[:rapid.IntRange(0, len(body)).Draw(rt, "cut")]
		checkChunking(rt, body, rapid.IntRange(1, 9).Draw(rt, "size"))
	})
}

func strangeEvents() []string {
	return []string{
		begin(), textBlock(0, "a"), textBlock(0, "👋🏽"), toolBlock(1, "a", "echo", `{"n":1}`), toolBlock(1, "", "", `{"n":`), end("end_turn"), end("tool_use"),
		end("max_tokens"), end("x"), start(2, `{"type":"tool_use","input":{"n":1}}`), argument(2, `{"n"`), argument(2, `:1}`), stop(2), ": beat\n\n", "data: x\n\n", "data: {}\n\n",
		"data: [DONE]\n\n", "data: null\n\n", "data: 7\n\n", sent(`{"type":"ping"}`), sent(`{"type":"error","error":{"type":"overloaded_error"}}`), "data: {\"error\":\"x\"}\n\n",
		start(0, `{"type":"thinking","thinking":"hm","signature":"S"}`), grow(0, `{"type":"thinking_delta","thinking":"\ud83d"}`), grow(0, `{"type":"signature_delta","signature":7}`), stop(0),
		sent(`{"type":"content_block_start"}`), sent(`{"type":"content_block_delta"}`), sent(`{"type":"content_block_stop"}`), sent(`{"type":"message_delta"}`), sent(`{"type":"message_start"}`),
		sent(`{"type":"message_delta","delta":{"stop_reason":null},"usage":{"input_tokens":-1,"output_tokens":1e99}}`), sent(`{"type":"message_stop"}`), "\xef\xbb\xbf", "\r",
	}
}

// checkChunking reads a body whole and in pieces: the same answer, and nothing to run when it broke.
func checkChunking(t interface{ Fatalf(string, ...any) }, body string, size int) {
	whole, err := replay(body, len(body)+1)
	for _, c := range whole.Calls {
		if err != nil && c.State == providers.Whole {
			t.Fatalf("a broken stream has a call to run: %+v", c)
		}
	}
	for _, b := range whole.ThinkingBlocks {
		if !json.Valid(b.Raw) {
			t.Fatalf("a block is no JSON: %s", b.Raw)
		}
	}
	split, splitErr := replay(body, size)
	if d := cmp.Diff(show(whole, err), show(split, splitErr)); d != "" {
		t.Fatalf("%s", d)
	}
}

// FuzzStream reads any bytes: no panic, and the same answer however they arrive.
func FuzzStream(f *testing.F) {
	f.Add([]byte(long()), 3)
	for _, e := range strangeEvents() {
		f.Add([]byte(begin()+e+end("tool_use")), 5)
	}
	f.Fuzz(func(t *testing.T, body []byte, size int) {
		checkChunking(t, string(body), 1+(size&0xff))
	})
}
