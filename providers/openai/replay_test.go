package openai

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/providers/internal/corpus"
	"github.com/parleybot/parley/providers/internal/wire"
)

// replay reads a body as if a service had answered it, in pieces of one size.
func replay(t *testing.T, body string, size int, tools ...string) (providers.Response, error) {
	t.Helper()
	return replayAs(t, "text/event-stream", body, size, tools...)
}

func replayAs(t *testing.T, contentType, body string, size int, tools ...string) (providers.Response, error) {
	t.Helper()
	return read(contentType, &corpus.Pieces{Text: body, Size: func() int { return size }}, tools...)
}

func read(contentType string, body io.Reader, tools ...string) (providers.Response, error) {
	p := &Provider{service: &wire.Service{Name: "openai"}}
	res := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(body)}
	return providers.Collect(func(yield func(providers.Fragment, error) bool) {
		a := answer{provider: p, yield: yield, model: "m", slots: slots{offered: func(name string) bool { return slices.Contains(tools, name) }}}
		if err := a.readBody(res); err != nil && !errors.Is(err, wire.ErrLeft) {
			yield(nil, err)
		}
	}, nil)
}

// recorded is this wire over recorded streams.
var recorded = corpus.Wire{
	Folder: "openai",
	Read: func(body io.Reader) (providers.Response, error) {
		return read("text/event-stream", body)
	},
	Ended: saysEnd,
	Judged: map[string]corpus.Judgement{
		"OpenAICompatibleCommon-avian-kimi-multi-tool-streaming-0": {
			Text: new("I'll add and multiply 2 and 3 for you at the same time."),
			Why:  "the server sent a space after the calls, and the client kept only that",
		},
	},
}

// saysEnd looks for a finish reason or [DONE] in lines that arrived whole, without our readers.
func saysEnd(body string) bool {
	for line := range strings.Lines(body) {
		data, isData := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "data:")
		var c struct {
			Choices []struct {
				Reason string `json:"finish_reason"`
			} `json:"choices"`
		}
		switch data = strings.TrimSpace(data); {
		case !isData:
		case data == "[DONE]":
			return true
		case json.Unmarshal([]byte(data), &c) == nil && len(c.Choices) > 0 && c.Choices[0].Reason != "":
			return true
		}
	}
	return false
}

func TestRecordings(t *testing.T)    { t.Parallel(); recorded.Replay(t) }
func TestRecordingsCut(t *testing.T) { t.Parallel(); recorded.Cut(t) }

// TestRecordingCutEverywhere cuts one stream with reasoning, text, parallel calls and usage at every byte.
func TestRecordingCutEverywhere(t *testing.T) {
	t.Parallel()
	body := recorded.Body(t, "OpenAICompatibleCommon-llama-cpp-gpt-oss-tool-streaming-0")
	recorded.CutAt(t, body, corpus.Everywhere(body))
}

// TestCutEverywhere does the same with a stream of our own, which is always there.
func TestCutEverywhere(t *testing.T) {
	t.Parallel()
	body := ": hello\n\n" + deltaChunk(`{"role":"assistant","reasoning_content":"hm"}`) + sayChunk("one 👋🏽 moment") +
		deltaChunk(`{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"echo","arguments":""}}]}`) +
		deltaChunk(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"n\":"}}]}`) +
		deltaChunk(`{"tool_calls":[{"index":0,"function":{"arguments":"12345678901234567890}"}}]}`) +
		deltaChunk(`{"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"echo","arguments":"{}"}}]}`) +
		endChunk("tool_calls") + event(`{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}`) + doneLine
	recorded.CutAt(t, body, corpus.Everywhere(body))
	crlf := strings.ReplaceAll(body, "\n", "\r\n")
	recorded.CutAt(t, crlf, corpus.Everywhere(crlf))
}
