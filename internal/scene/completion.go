package scene

import (
	"context"
	"encoding/json"
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
	format format
	begun  bool
	pace   time.Duration
	calls  int
}

// format is how one wire says what a model does. A piece that can't be sent any more is answered with false.
type format interface {
	// thinks and says send a piece of reasoning or text.
	thinks(p *performance, piece string) bool
	says(p *performance, piece string) bool
	// call begins the call with this index, argument sends a piece of its arguments.
	call(p *performance, index int, name string) bool
	argument(p *performance, index int, piece string) bool
	// end ends the stream with a reason and usage.
	end(p *performance, reason ending)
	// failure is the body of an error.
	failure(text string) any
}

// ending is how a scripted answer ends.
type ending string

const (
	endsNormally ending = "stop"
	endsInCalls  ending = "tool_calls"
	endsByLength ending = "length"
	endsByFilter ending = "content_filter"
)

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
	reason := endsNormally
	if p.calls > 0 {
		reason = endsInCalls
	}
	p.format.end(p, reason)
}

// act does one act; false when the answer has ended.
func (p *performance) act(a *answer, b bound) bool {
	switch b.form {
	case "thinks TEXT":
		return p.pieces(b.text("TEXT"), p.format.thinks)
	case "says TEXT":
		return p.pieces(b.text("TEXT"), p.format.says)
	case "calls WORD ARGS":
		return p.call(b.text("WORD"), b.text("ARGS"))
	case "pauses":
		p.begin()
		return p.server.hold(p.ctx)
	case "ends by length":
		p.format.end(p, endsByLength)
		return false
	case "ends by filter":
		p.format.end(p, endsByFilter)
		return false
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

// pieces streams a text word by word.
func (p *performance) pieces(text string, send func(*performance, string) bool) bool {
	for piece := range strings.SplitAfterSeq(text, " ") {
		if !p.wait() || !send(p, piece) {
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
	if !p.wait() || !p.format.call(p, index, name) {
		return false
	}
	half := len(arguments) / 2
	for half > 0 && arguments[half]&0xC0 == 0x80 { // not inside a character
		half--
	}
	for _, part := range []string{arguments[:half], arguments[half:]} {
		if part != "" && (!p.wait() || !p.format.argument(p, index, part)) {
			return false
		}
	}
	return true
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
	body, err := json.Marshal(p.format.failure(text))
	if err != nil {
		return false
	}
	p.w.Header().Set("Content-Type", "application/json")
	p.w.WriteHeader(b.number("STATUS"))
	p.write(string(body))
	return false
}
