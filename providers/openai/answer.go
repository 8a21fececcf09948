package openai

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
	provider *Provider
	yield    func(providers.Fragment, error) bool
	model    string
	// limit is the number of tokens the request allowed, 0 for none.
	limit int

	slots      slots
	reasoned   reasoned
	usage      *usage
	usageModel string
	reason     string
	// heard is set by the first readable chunk, said by the first thing passed on of the answer.
	heard, said bool
	unreadable  int
}

// emit passes a fragment on.
func (a *answer) emit(f providers.Fragment) error {
	if !a.yield(f, nil) {
		return wire.ErrLeft
	}
	return nil
}

// say passes a part of the answer on.
func (a *answer) say(f providers.Fragment) error {
	a.said = true
	return a.emit(f)
}

// readBody reads the response to its end. It returns the failure that ends the stream, or nil after an End.
func (a *answer) readBody(res *http.Response) error {
	body := bufio.NewReader(res.Body)
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	first := wire.FirstByte(body)
	switch {
	case kind == "text/html" || first == '<':
		return a.provider.service.Failure(providers.KindProtocol, "the service answered with a web page", nil)
	case strings.HasSuffix(kind, "json") && (first == '{' || first == '['):
		return a.readWhole(body)
	}
	return a.readStream(body)
}

// readWhole reads an answer that is one JSON document: an error object, or a completion from a server that doesn't stream.
func (a *answer) readWhole(body io.Reader) error {
	raw, err := io.ReadAll(io.LimitReader(body, maxWholeBody+1))
	switch {
	case err != nil:
		return a.finish(a.broken(err))
	case len(raw) > maxWholeBody:
		return a.provider.service.Failure(providers.KindProtocol, "the answer is too long", nil)
	}
	if raw = bytes.TrimSpace(raw); raw[0] == '[' {
		raw = wire.FirstElement(raw)
	}
	var c chunk
	if json.Unmarshal(raw, &c) != nil {
		return a.provider.service.Failure(providers.KindProtocol, "the answer is not readable", nil)
	}
	if err := a.take(&c); err != nil {
		return a.ended(err)
	}
	if a.reason == "" && a.heard {
		a.reason = "stop"
	}
	return a.finish(nil)
}

func (a *answer) readStream(body io.Reader) error {
	r := sse.NewReader(body, sse.Limits{})
	for {
		event, err := r.Next()
		if err != nil {
			return a.finish(a.broken(err))
		}
		data := bytes.TrimSpace(event.Data)
		switch {
		case event.Beat || len(data) == 0 || data[0] == ':':
			err = a.emit(providers.Beat{})
		case string(data) == "[DONE]":
			return a.finish(a.doneError())
		default:
			err = a.event(data)
		}
		if err != nil {
			return a.ended(err)
		}
	}
}

func (a *answer) event(data []byte) error {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		if a.unreadable++; a.unreadable > maxUnreadable {
			return a.provider.service.Failure(providers.KindProtocol, "the stream is not readable", nil)
		}
		return a.emit(providers.Beat{})
	}
	a.unreadable = 0
	return a.take(&c)
}

// take passes on what a chunk says.
func (a *answer) take(c *chunk) error {
	if failure := a.provider.service.InStream(c.Error, a.said); failure != nil {
		return failure
	}
	if c.Usage != nil && (a.usage == nil || c.Usage.Prompt+c.Usage.Completion > 0) {
		a.usage = c.Usage
	}
	if c.Model != "" {
		a.usageModel = string(c.Model)
	}
	a.heard = a.heard || len(c.Choices) > 0 || c.Usage != nil
	a.slots.nextChunk()
	told := false
	for i := range c.Choices {
		if c.Choices[i].Index != 0 {
			continue
		}
		t, err := a.choice(&c.Choices[i])
		if err != nil {
			return err
		}
		told = told || t
	}
	if !told {
		return a.emit(providers.Beat{})
	}
	return nil
}

func (a *answer) choice(c *choice) (told bool, err error) {
	if a.reason == "" {
		a.reason = string(c.FinishReason)
	}
	d := c.Delta
	if d == nil {
		d = c.Message
	}
	if d == nil {
		return false, nil
	}
	a.reasoned.add(d)
	shown, thought := d.content()
	var out []providers.Fragment
	if thought = d.thinking() + thought; thought != "" {
		out = append(out, providers.ThinkingDelta{Text: thought})
	}
	if shown += string(d.Refusal); shown != "" {
		out = append(out, providers.TextDelta{Text: shown})
	}
	entries, broken := d.entries(a.provider.service.Name, a.model)
	a.slots.ignored += broken
	for _, e := range entries {
		if part, ok := a.slots.add(e); ok {
			out = append(out, part)
		}
	}
	for _, f := range out {
		if err := a.say(f); err != nil {
			return true, err
		}
	}
	return len(out) > 0, nil
}

// broken is the failure of a body that ended or broke off without [DONE]; nil when the answer was complete before that.
func (a *answer) broken(err error) error {
	tooLong := errors.Is(err, sse.ErrLineTooLong) || errors.Is(err, sse.ErrEventTooLong) || errors.Is(err, sse.ErrBodyTooLong)
	switch {
	case tooLong:
		return a.provider.service.Failure(providers.KindProtocol, "the stream is over its limits", err)
	case a.reason != "":
		return nil
	case a.unreadable > 0:
		return a.provider.service.Failure(providers.KindProtocol, "the stream is not readable", nil)
	case !a.heard && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)):
		return a.emptyError()
	case a.provider.quirks.loose && a.said && len(a.slots.all) == 0 && errors.Is(err, io.EOF):
		return nil
	}
	cause := err
	if errors.Is(err, io.EOF) {
		cause = nil
	}
	failure := a.provider.service.Failure(providers.KindTruncated, "the answer was cut off: it ended without saying how", cause)
	failure.Retryable = !a.said
	return failure
}

// doneError is the failure of a stream that ended with [DONE]; a missing reason alone is none.
func (a *answer) doneError() error {
	switch {
	case a.reason != "":
		return nil
	case a.unreadable > 0:
		return a.provider.service.Failure(providers.KindProtocol, "the stream is not readable", nil)
	case !a.heard:
		return a.emptyError()
	}
	return nil
}

func (a *answer) emptyError() error {
	return wire.Retryable(a.provider.service.Failure(providers.KindProtocol, "empty response", nil))
}

// ended finishes a stream that err ended, unless the reader is gone.
func (a *answer) ended(err error) error {
	if errors.Is(err, wire.ErrLeft) {
		return err
	}
	return a.finish(err)
}

// finish passes on what is still held, the usage, and the end; or returns err behind the first two.
func (a *answer) finish(err error) error {
	for _, d := range a.slots.flush() {
		if err := a.say(d); err != nil {
			return err
		}
	}
	if a.usage != nil {
		q := a.provider.quirks
		report := providers.UsageReport{Usage: a.usage.neutral(q), Model: a.usageModel, Reported: a.usage.reported(q)}
		if err := a.emit(report); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	if len(a.slots.all) > 0 {
		// Only an exchange that goes on hands reasoning back.
		if b := a.reasoned.block(a.provider.service.Name, a.model); b != nil {
			if err := a.say(providers.ThinkingDone{Block: *b}); err != nil {
				return err
			}
		}
	}
	reason := finishReason(a.reason)
	if reason == providers.FinishError {
		return a.provider.service.Failure(providers.KindUnavailable, fmt.Sprintf("the service ended the answer with %q", wire.Bounded(a.reason)), nil)
	}
	if reason == providers.FinishStop && a.limit > 0 && a.usage != nil && int(a.usage.Completion) >= a.limit {
		// Routers hide the output limit behind another reason; the numbers don't lie.
		reason = providers.FinishLength
	}
	return a.emit(providers.End{Reason: reason, Raw: wire.Bounded(a.reason)})
}

// finishReason maps the vendors' words. Any that isn't known to be bad is a normal end: whether there are calls decides
// what happens next, not the word.
func finishReason(raw string) providers.FinishReason {
	word := strings.ToLower(raw)
	switch {
	case slices.Contains([]string{"length", "max_tokens", "model_context_window_exceeded", "model_length"}, word):
		return providers.FinishLength
	case slices.Contains([]string{"content_filter", "refusal", "safety", "recitation", "blocklist", "prohibited_content", "spii", "sensitive"}, word):
		return providers.FinishFiltered
	case slices.Contains([]string{
		"error", "network_error", "insufficient_system_resource", "malformed_function_call", "cancelled", "abort",
	}, word):
		return providers.FinishError
	}
	return providers.FinishStop
}
