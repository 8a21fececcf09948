package providers

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
)

// Limits on one response. Text beyond its limit ends the stream with KindTooLarge; thinking beyond it is dropped, since
// it is only ever looked at; a call whose arguments are longer than MaxArgumentBytes is malformed. MaxCalls is well above
// what the tool loop runs of one response, so that the calls it refuses can each be answered.
const (
	MaxTextBytes     = 1 << 20
	MaxThinkingBytes = 1 << 20
	MaxCalls         = 128
)

// maxCountedSlots bounds the memory that counting surplus calls may take.
const maxCountedSlots = 4096

// Response is one whole answer of a model.
type Response struct {
	Text     string
	Thinking string
	// ThinkingBlocks are the blocks to send back with the calls of this answer.
	ThinkingBlocks []ThinkingBlock
	// Calls are in slot order; each has its State decided by the end of the stream and the classifier.
	Calls []Call
	// Extra counts calls beyond the limit that were dropped.
	Extra  int
	Usage  Usage
	Model  string
	Finish FinishReason
	// RawFinish is the vendor's own word for the end.
	RawFinish string
}

// Collect reads a whole stream. Every fragment is handed to sink as it arrives (sink may be nil and must not block; a
// panic of it is swallowed: looking at a stream can't break it). Calls are assembled only after the end was seen, and
// their Key is left empty for the caller to set. On an error the response holds what had arrived, its calls classified
// as truncated, and the error is returned beside it. A stream that just stops is FinishMissing and an *Error of
// KindTruncated; one that a context ended returns that context's error as it is.
func Collect(seq iter.Seq2[Fragment, error], sink func(Fragment)) (Response, error) {
	var c collector
	var err error
	for f, e := range seq {
		if e != nil {
			err = e
			break
		}
		if f == nil {
			continue
		}
		show(sink, f)
		if err = c.add(f); err != nil {
			break
		}
	}
	return c.finish(err)
}

func show(sink func(Fragment), f Fragment) {
	if sink == nil {
		return
	}
	defer func() { _ = recover() }()
	sink(f)
}

// collector is a response in the making.
type collector struct {
	text, thinking strings.Builder
	blocks         []ThinkingBlock
	blockBytes     int
	calls          []*partialCall
	surplus        map[int]struct{}
	usage          Usage
	model          string
	end            End
}

type partialCall struct {
	slot      int
	id, name  string
	arguments strings.Builder
	tooLong   bool
	opaque    json.RawMessage
}

func (c *collector) add(f Fragment) error {
	switch f := f.(type) {
	case TextDelta:
		if c.text.Len()+len(f.Text) > MaxTextBytes {
			return &Error{Provider: "stream", Kind: KindTooLarge, Message: "the answer's text is over 1 MiB"}
		}
		c.text.WriteString(f.Text)
	case ThinkingDelta:
		if c.thinking.Len()+len(f.Text) <= MaxThinkingBytes {
			c.thinking.WriteString(f.Text)
		}
	case ThinkingDone:
		return c.addBlock(f.Block)
	case CallDelta:
		c.addCall(f)
	case UsageReport:
		c.usage = f.Usage
		if f.Model != "" {
			c.model = f.Model
		}
	case Beat:
	case End:
		c.end = f
	}
	return nil
}

// addBlock keeps a block whole or refuses the answer: without one of its blocks the exchange could not go on.
func (c *collector) addBlock(b ThinkingBlock) error {
	if c.blockBytes += len(b.Raw); c.blockBytes > MaxThinkingBytes {
		return &Error{Provider: "stream", Kind: KindTooLarge, Message: "the answer's signed reasoning is over 1 MiB"}
	}
	c.blocks = append(c.blocks, b)
	return nil
}

func (c *collector) addCall(d CallDelta) {
	p := c.slot(d.Slot)
	if p == nil {
		return
	}
	if p.id == "" {
		p.id = d.ID
	}
	if d.Name != "" {
		p.name = d.Name
	}
	if len(p.opaque) == 0 {
		p.opaque = d.Opaque
	}
	if p.arguments.Len()+len(d.Arguments) > MaxArgumentBytes {
		p.tooLong = true
	}
	if !p.tooLong {
		p.arguments.WriteString(d.Arguments)
	}
}

// slot finds or opens the call of a slot; nil when the response has too many.
func (c *collector) slot(n int) *partialCall {
	for _, p := range c.calls {
		if p.slot == n {
			return p
		}
	}
	if len(c.calls) == MaxCalls {
		if c.surplus == nil {
			c.surplus = make(map[int]struct{})
		}
		if len(c.surplus) < maxCountedSlots {
			c.surplus[n] = struct{}{}
		}
		return nil
	}
	p := &partialCall{slot: n}
	c.calls = append(c.calls, p)
	return p
}

func (c *collector) finish(err error) (Response, error) {
	reason := c.end.Reason
	if err == nil {
		err = endError(reason)
	}
	if err != nil {
		reason = brokenReason(err)
	}
	r := Response{
		Text: c.text.String(), Thinking: c.thinking.String(), ThinkingBlocks: c.blocks, Extra: len(c.surplus),
		Usage: c.usage, Model: c.model, Finish: reason, RawFinish: c.end.Raw,
	}
	if len(c.calls) > 0 {
		r.Calls = c.wholeCalls(reason, err != nil)
	}
	return r, err
}

// endError is the failure of a stream that ended without saying how, or with a word outside the closed set.
func endError(reason FinishReason) error {
	switch reason {
	case FinishStop, FinishLength, FinishFiltered, FinishError:
		return nil
	case FinishMissing:
	}
	return &Error{Provider: "stream", Kind: KindTruncated, Message: "the answer was cut off: it ended without saying how"}
}

func brokenReason(err error) FinishReason {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), KindOf(err) == KindTruncated:
		return FinishMissing
	case KindOf(err) == KindFiltered:
		return FinishFiltered
	}
	return FinishError
}

func (c *collector) wholeCalls(reason FinishReason, broken bool) []Call {
	slices.SortFunc(c.calls, func(a, b *partialCall) int { return cmp.Compare(a.slot, b.slot) })
	calls := make([]Call, len(c.calls))
	for i, p := range c.calls {
		calls[i] = p.classified(reason, broken)
	}
	return calls
}

func (p *partialCall) classified(reason FinishReason, broken bool) Call {
	call := Call{ID: p.id, Name: p.name, Arguments: p.arguments.String(), Opaque: p.opaque}
	var a Arguments
	if p.tooLong {
		a = malformed("the arguments are longer than 256 KiB")
	} else {
		a = Classify(call.Arguments, reason)
	}
	if broken && a.State == Whole {
		// More may have been on its way: without an end, nothing tells a whole object from the first of two.
		a = Arguments{State: Truncated, Problem: "the answer broke off before its end"}
	}
	call.State, call.Object, call.Problem, call.WholeKeys = a.State, a.Object, a.Problem, a.WholeKeys
	return call
}
