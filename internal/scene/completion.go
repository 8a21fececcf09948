package scene

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// slowly is the time between two pieces of a slow answer.
const slowly = 20 * time.Millisecond

// answer is what the model does with one request.
type answer struct {
	line   int
	source string
	// when is what the newest message of a person must contain; empty for any request.
	when string
	acts []bound
}

// performance plays one answer on one connection.
type performance struct {
	server *modelServer
	ctx    context.Context //nolint:containedctx // lives as long as the request it answers
	w      http.ResponseWriter
	out    *http.ResponseController
	begun  bool
	pace   time.Duration
	calls  int
}

// perform does the acts of an answer in order and ends it as a stream should end, unless an act ends it otherwise.
func (p *performance) perform(a *answer) {
	for _, act := range a.acts {
		if act.form == "slowly" {
			p.pace = slowly
		}
	}
	for _, act := range a.acts {
		if !p.act(a, act) {
			return
		}
	}
	reason := "stop"
	if p.calls > 0 {
		reason = "tool_calls"
	}
	p.finish(reason)
}

// act does one act; false when the answer has ended.
func (p *performance) act(a *answer, b bound) bool {
	switch b.form {
	case "thinks TEXT":
		return p.pieces(b.text("TEXT"), func(s string) any { return map[string]any{"reasoning_content": s} })
	case "says TEXT":
		return p.pieces(b.text("TEXT"), func(s string) any { return map[string]any{"content": s} })
	case "calls WORD ARGS":
		return p.call(b.text("WORD"), b.text("ARGS"))
	case "pauses":
		p.begin()
		return p.server.hold(p.ctx)
	case "ends by length":
		return p.finish("length")
	case "ends by filter":
		return p.finish("content_filter")
	case "ends without a reason":
		p.begin()
		return false
	case "is cut off":
		p.begin()
		panic(http.ErrAbortHandler)
	case "fails with STATUS TEXT", "fails with STATUS":
		return p.fail(a, b)
	case "sends raw TEXT":
		p.begin()
		p.write(b.text("TEXT") + "\n")
		return false
	}
	return true
}

// begin sends the head of a stream, so that the client sees that it was heard.
func (p *performance) begin() {
	if p.begun {
		return
	}
	p.begun = true
	p.w.Header().Set("Content-Type", "text/event-stream")
	p.w.WriteHeader(http.StatusOK)
	_ = p.out.Flush()
}

// write sends bytes; false when the client has left.
func (p *performance) write(text string) bool {
	_, err := p.w.Write([]byte(text))
	return err == nil && p.out.Flush() == nil
}

// chunk is one event of the wire.
func (p *performance) chunk(delta any, reason *string) bool {
	p.begin()
	data, err := json.Marshal(map[string]any{
		"id": "chatcmpl-scene", "object": "chat.completion.chunk", "created": 1, "model": "scene-model",
		"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": reason}},
	})
	return err == nil && p.write("data: "+string(data)+"\n\n")
}

// pieces streams a text word by word.
func (p *performance) pieces(text string, delta func(string) any) bool {
	for piece := range strings.SplitAfterSeq(text, " ") {
		if !p.wait() || !p.chunk(delta(piece), nil) {
			return false
		}
	}
	return true
}

// wait is the pause before a piece of a slow answer.
func (p *performance) wait() bool {
	if p.pace == 0 {
		return true
	}
	t := time.NewTimer(p.pace)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-p.ctx.Done():
		return false
	}
}

// call streams one tool call: its name first, then its arguments in two halves, as vendors do.
func (p *performance) call(name, arguments string) bool {
	index := p.calls
	p.calls++
	first := map[string]any{
		"index": index, "id": fmt.Sprintf("call_%d", index+1), "type": "function",
		"function": map[string]any{"name": name, "arguments": ""},
	}
	if !p.wait() || !p.chunk(map[string]any{"tool_calls": []any{first}}, nil) {
		return false
	}
	half := len(arguments) / 2
	for half > 0 && arguments[half]&0xC0 == 0x80 { // not inside a character
		half--
	}
	for _, part := range []string{arguments[:half], arguments[half:]} {
		more := map[string]any{"index": index, "function": map[string]any{"arguments": part}}
		if part != "" && (!p.wait() || !p.chunk(map[string]any{"tool_calls": []any{more}}, nil)) {
			return false
		}
	}
	return true
}

// finish ends the stream with a reason, usage and the end mark. It gives false: nothing follows.
func (p *performance) finish(reason string) bool {
	p.chunk(map[string]any{}, &reason)
	p.write(`data: {"id":"chatcmpl-scene","object":"chat.completion.chunk","created":1,"model":"scene-model","choices":[],` +
		`"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}` + "\n\ndata: [DONE]\n\n")
	return false
}

// fail answers with an error instead of a stream.
func (p *performance) fail(a *answer, b bound) bool {
	text := b.text("TEXT")
	if text == "" {
		text = "the scene says so"
	}
	for _, other := range a.acts {
		if other.form == "retry after TIME" {
			seconds := int((other.duration("TIME") + time.Second - 1) / time.Second)
			p.w.Header().Set("Retry-After", strconv.Itoa(seconds))
		}
	}
	body, err := json.Marshal(map[string]any{"error": map[string]any{"message": text, "type": "scene", "code": nil}})
	if err != nil {
		return false
	}
	p.w.Header().Set("Content-Type", "application/json")
	p.w.WriteHeader(b.number("STATUS"))
	p.write(string(body))
	return false
}
