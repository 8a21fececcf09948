package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/providers/internal/wire"
)

// part is one content block in the making.
type part struct {
	index int
	kind  string
	// slot orders the calls.
	slot int
	// whole are arguments that came with the start; pieces that follow replace them. grown says that some did.
	whole string
	grown bool
	// thinking, signature and data are the insides of JSON strings, to be sent back as they came.
	thinking, signature, data []byte
	origin                    providers.ThinkingBlock
}

// blocks follows the content blocks of one answer, several of which may be open at once.
type blocks struct {
	parts []*part
	// text and calls are how many bytes the answer said and how many tools it asked for so far.
	text, calls int
}

// maxOpen bounds how many blocks are followed at once. No answer has more than a few open, and each one that is looked for
// in vain costs a look at all of them.
const maxOpen = 64

// find returns the open block of an index; without an index it is the last one. nil means that there is none.
func (b *blocks) find(index *wire.Count) *part {
	for _, p := range slices.Backward(b.parts) {
		if index == nil || p.index == int(*index) {
			return p
		}
	}
	return nil
}

// open begins a block and returns what its start already says. Blocks of the vendor's own tools, and those of kinds that
// aren't known, are followed so that their pieces are told from others', and say nothing.
func (b *blocks) open(index *wire.Count, start *block, origin providers.ThinkingBlock) []providers.Fragment {
	if start == nil {
		return nil
	}
	var out []providers.Fragment
	origin.AfterText, origin.AfterCalls = b.text, b.calls
	p := &part{index: -1, kind: string(start.Type), origin: origin}
	if index != nil {
		p.index = int(*index)
		// A gateway that numbers all blocks alike ends one by beginning the next.
		out = b.stop(index)
	}
	b.parts = append(b.parts, p)
	if len(b.parts) > maxOpen {
		out = append(out, b.end(b.parts[0])...)
	}
	switch p.kind {
	case "text":
		out = append(out, b.say(start.Text)...)
	case "thinking":
		out = append(out, p.think(start.Thinking)...)
		p.signature = append(p.signature, inside(start.Signature)...)
	case "redacted_thinking":
		p.data = inside(start.Data)
	case "tool_use":
		p.slot = b.calls
		b.calls++
		if whole := asText(start.Input); whole != "{}" {
			p.whole = whole
		}
		out = append(out, providers.CallDelta{Slot: p.slot, ID: string(start.ID), Name: string(start.Name)})
	}
	return out
}

// grow applies a piece to its block. Text and reasoning also count without one; pieces of a call don't.
func (b *blocks) grow(index *wire.Count, d *delta) []providers.Fragment {
	if d == nil {
		return nil
	}
	p := b.find(index)
	switch d.Type {
	case "text_delta":
		return b.say(d.Text)
	case "thinking_delta":
		if p == nil {
			p = &part{}
		}
		return p.think(d.Thinking)
	case "signature_delta":
		if p != nil {
			p.signature = append(p.signature, inside(d.Signature)...)
		}
	case "input_json_delta":
		if text := asText(d.PartialJSON); text != "" && p != nil && p.kind == "tool_use" {
			p.grown = true
			return []providers.Fragment{providers.CallDelta{Slot: p.slot, Arguments: text}}
		}
	}
	return nil
}

func (b *blocks) say(text wire.Text) []providers.Fragment {
	if text == "" {
		return nil
	}
	b.text += len(text)
	return []providers.Fragment{providers.TextDelta{Text: string(text)}}
}

func (p *part) think(raw json.RawMessage) []providers.Fragment {
	p.thinking = append(p.thinking, inside(raw)...)
	if text := asText(raw); text != "" {
		return []providers.Fragment{providers.ThinkingDelta{Text: text}}
	}
	return nil
}

// stop ends the block of an index and returns what was held until then.
func (b *blocks) stop(index *wire.Count) []providers.Fragment {
	if p := b.find(index); p != nil {
		return b.end(p)
	}
	return nil
}

func (b *blocks) end(p *part) []providers.Fragment {
	b.parts = slices.DeleteFunc(b.parts, func(q *part) bool { return q == p })
	switch p.kind {
	case "tool_use":
		return p.held()
	case "thinking":
		// Without its signature a block can't be sent back; with one it can, even when its text was left out.
		if len(p.signature) > 0 {
			return p.done([]byte(`{"type":"thinking","thinking":"`), p.thinking, []byte(`","signature":"`), p.signature, []byte(`"}`))
		}
	case "redacted_thinking":
		if len(p.data) > 0 {
			return p.done([]byte(`{"type":"redacted_thinking","data":"`), p.data, []byte(`"}`))
		}
	}
	return nil
}

func (p *part) done(raw ...[]byte) []providers.Fragment {
	block := p.origin
	block.Raw = bytes.Join(raw, nil)
	if !json.Valid(block.Raw) {
		return nil
	}
	return []providers.Fragment{providers.ThinkingDone{Block: block}}
}

// held are the arguments that came whole with the start of the block, if nothing else came.
func (p *part) held() []providers.Fragment {
	if p.grown || p.whole == "" {
		return nil
	}
	return []providers.Fragment{providers.CallDelta{Slot: p.slot, Arguments: p.whole}}
}

// flush returns the arguments that are still held, at the end of a stream that left the ends of its blocks out.
func (b *blocks) flush() []providers.Fragment {
	var out []providers.Fragment
	for _, p := range b.parts {
		if p.kind == "tool_use" {
			out = append(out, p.held()...)
		}
	}
	b.parts = nil
	return out
}
