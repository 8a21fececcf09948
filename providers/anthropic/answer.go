package anthropic

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/providers/internal/wire"
	"github.com/parleybot/parley/providers/sse"
)

const (
	// maxWholeBody bounds an answer that was not streamed.
	maxWholeBody = 8 << 20
	// maxUnreadable is how many data events in a row may be no JSON before the stream is given up.
	maxUnreadable = 3
)

// answer turns one 200 response into fragments.
type answer struct {
	service *wire.Service
	yield   wire.Yield
	model   string
	// limit is the number of tokens the request allowed, 0 for none.
	limit int

	blocks     blocks
	usage      *usage
	usageModel string
	reason     string
	// heard is set by the first event that belongs to an answer, said by the first thing passed on of it, ended by the
	// event that ends it.
	heard, said, ended bool
	unreadable         int
}

// emit passes a fragment on.
func (a *answer) emit(f providers.Fragment) error {
	if !a.yield(f, nil) {
		return wire.ErrLeft
	}
	return nil
}

// say passes parts of the answer on, or a sign of life when there are none.
func (a *answer) say(parts []providers.Fragment) error {
	if len(parts) == 0 {
		return a.emit(providers.Beat{})
	}
	for _, f := range parts {
		a.said = true
		if err := a.emit(f); err != nil {
			return err
		}
	}
	return nil
}

// readBody reads the response to its end. It returns the failure that ends the stream, or nil after an End.
func (a *answer) readBody(res *http.Response) error {
	body := bufio.NewReader(res.Body)
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	first := wire.FirstByte(body)
	switch {
	case kind == "text/html" || first == '<':
		return a.service.Failure(providers.KindProtocol, "the service answered with a web page", nil)
	case strings.HasSuffix(kind, "json") && first == '{':
		return a.readWhole(body)
	}
	return a.readStream(body)
}

// readWhole reads an answer that is one JSON document: an error object, or a message from a server that doesn't stream.
func (a *answer) readWhole(body io.Reader) error {
	raw, err := io.ReadAll(io.LimitReader(body, maxWholeBody+1))
	switch {
	case err != nil:
		return a.finish(a.broken(err))
	case len(raw) > maxWholeBody:
		return a.service.Failure(providers.KindProtocol, "the answer is too long", nil)
	}
	var m message
	if json.Unmarshal(raw, &m) != nil {
		return a.service.Failure(providers.KindProtocol, "the answer is not readable", nil)
	}
	if m.Type == "error" || len(m.Error) > 0 {
		return a.finish(a.reported(m.Error))
	}
	if m.Type != "message" && m.Content == nil {
		return a.service.Failure(providers.KindProtocol, "the answer is not readable", nil)
	}
	a.begin(&m)
	for i, content := range m.Content {
		var b block
		if json.Unmarshal(content, &b) != nil {
			continue
		}
		index := wire.Count(i)
		if err := a.say(slices.Concat(a.blocks.open(&index, &b, a.origin()), a.blocks.stop(&index))); err != nil {
			return err
		}
	}
	a.ended = true
	return a.finish(a.unfinished(io.EOF))
}

func (a *answer) readStream(body io.Reader) error {
	r := sse.NewReader(body, sse.Limits{})
	for !a.ended {
		e, err := r.Next()
		if err != nil {
			return a.finish(a.broken(err))
		}
		data := bytes.TrimSpace(e.Data)
		switch {
		case e.Beat || len(data) == 0 || data[0] == ':':
			err = a.emit(providers.Beat{})
		case string(data) == "[DONE]":
			// Gateways that speak several formats end all of them the same way.
			a.ended = true
		default:
			err = a.event(e.Name, data)
		}
		if errors.Is(err, wire.ErrLeft) {
			return err
		}
		if err != nil {
			return a.finish(err)
		}
	}
	return a.finish(a.unfinished(io.EOF))
}

func (a *answer) event(name string, data []byte) error {
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		if a.unreadable++; a.unreadable > maxUnreadable {
			return a.service.Failure(providers.KindProtocol, "the stream is not readable", nil)
		}
		return a.emit(providers.Beat{})
	}
	a.unreadable = 0
	if e.Type == "" {
		e.Type = wire.Text(name)
	}
	if e.Type == "error" || len(e.Error) > 0 && string(e.Error) != "null" {
		return a.reported(e.Error)
	}
	return a.take(&e)
}

// take passes on what an event says.
func (a *answer) take(e *event) error {
	switch e.Type {
	case "message_start":
		a.begin(e.Message)
	case "content_block_start":
		a.heard = true
		return a.say(a.blocks.open(e.Index, e.Block, a.origin()))
	case "content_block_delta":
		a.heard = true
		return a.say(a.blocks.grow(e.Index, e.Delta))
	case "content_block_stop":
		return a.say(a.blocks.stop(e.Index))
	case "message_delta":
		a.heard = true
		a.count(e.Usage)
		if e.Delta != nil && e.Delta.StopReason != "" {
			a.reason = string(e.Delta.StopReason)
		}
	case "message_stop":
		a.ended = true
	}
	return a.emit(providers.Beat{})
}

func (a *answer) begin(m *message) {
	a.heard = true
	if m == nil {
		return
	}
	a.usageModel = string(m.Model)
	a.count(m.Usage)
	if m.StopReason != "" {
		a.reason = string(m.StopReason)
	}
}

func (a *answer) count(u *usage) {
	if u == nil {
		return
	}
	if a.usage == nil {
		a.usage = &usage{}
	}
	a.usage.merge(*u)
}

// origin says where this answer's reasoning comes from.
func (a *answer) origin() providers.ThinkingBlock {
	return providers.ThinkingBlock{Provider: a.service.Name, Model: a.model}
}

// reported is the failure that an error event reports.
func (a *answer) reported(raw json.RawMessage) error {
	if failure := a.service.InStream(raw, a.said); failure != nil {
		return failure
	}
	return a.service.Failure(providers.KindUnavailable, "the service reported an error without saying which", nil)
}

// broken is the failure of a body that ended or broke off by itself; nil when the answer was complete before that.
func (a *answer) broken(err error) error {
	if errors.Is(err, sse.ErrLineTooLong) || errors.Is(err, sse.ErrEventTooLong) || errors.Is(err, sse.ErrBodyTooLong) {
		return a.service.Failure(providers.KindProtocol, "the stream is over its limits", err)
	}
	return a.unfinished(err)
}

// unfinished is the failure of an answer that says no reason for its end; nil when it says one. An end without a reason
// is taken for one where nothing is at stake: in an answer that asks for no tool.
func (a *answer) unfinished(err error) error {
	switch {
	case a.reason != "":
		return nil
	case a.unreadable > 0:
		return a.service.Failure(providers.KindProtocol, "the stream is not readable", nil)
	case !a.heard && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)):
		return wire.Retryable(a.service.Failure(providers.KindProtocol, "empty response", nil))
	case a.ended && a.blocks.calls == 0:
		return nil
	}
	cause := err
	if errors.Is(err, io.EOF) {
		cause = nil
	}
	failure := a.service.Failure(providers.KindTruncated, "the answer was cut off: it ended without saying how", cause)
	failure.Retryable = !a.said
	return failure
}

// finish passes on what is still held, the usage, and the end; or returns err behind the first two.
func (a *answer) finish(err error) error {
	if held := a.blocks.flush(); len(held) > 0 {
		if err := a.say(held); err != nil {
			return err
		}
	}
	if a.usage != nil {
		if err := a.emit(providers.UsageReport{Usage: a.usage.neutral(), Model: a.usageModel}); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	reason := finishReason(a.reason)
	if reason == providers.FinishError {
		return a.service.Failure(providers.KindProtocol, fmt.Sprintf("the service ended the answer with %q", wire.Bounded(a.reason)), nil)
	}
	if reason == providers.FinishStop && a.limit > 0 && a.usage != nil && int(a.usage.Output) >= a.limit {
		// Gateways hide the output limit behind another reason; the numbers don't lie.
		reason = providers.FinishLength
	}
	return a.emit(providers.End{Reason: reason, Raw: wire.Bounded(a.reason)})
}

// finishReason maps the vendor's words. One that isn't known is no normal end: each one that was added so far (a refusal,
// a full context, a pause) would have passed for an answer.
func finishReason(word string) providers.FinishReason {
	switch word {
	case "end_turn", "tool_use", "stop_sequence", "":
		return providers.FinishStop
	case "max_tokens", "model_context_window_exceeded":
		return providers.FinishLength
	case "refusal":
		return providers.FinishFiltered
	}
	return providers.FinishError
}
