package scene

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// blocks is the format of Anthropic's messages: content blocks that open, grow and close. One value plays one answer.
type blocks struct {
	begun bool
	// open is the kind of the open block, index its number.
	open  string
	index int
}

func (b *blocks) thinks(p *performance, piece string) bool {
	return b.grow(p, "thinking", map[string]any{"type": "thinking", "thinking": "", "signature": ""}, map[string]any{"type": "thinking_delta", "thinking": piece})
}

func (b *blocks) says(p *performance, piece string) bool {
	return b.grow(p, "text", map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": piece})
}

func (b *blocks) call(p *performance, index int, name string) bool {
	return b.close(p) && b.grow(p, "tool_use", map[string]any{
		"type": "tool_use", "id": fmt.Sprintf("toolu_%d", index+1), "name": name, "input": map[string]any{},
	}, nil)
}

func (b *blocks) argument(p *performance, _ int, piece string) bool {
	return b.grow(p, "tool_use", nil, map[string]any{"type": "input_json_delta", "partial_json": piece})
}

// grow sends a piece of a block of a kind, opening one if need be.
func (b *blocks) grow(p *performance, kind string, start, delta map[string]any) bool {
	if b.open != kind {
		if !b.close(p) {
			return false
		}
		b.open = kind
		if !b.event(p, map[string]any{"type": "content_block_start", "index": b.index, "content_block": start}) {
			return false
		}
	}
	return delta == nil || b.event(p, map[string]any{"type": "content_block_delta", "index": b.index, "delta": delta})
}

// close ends the open block; reasoning is signed first.
func (b *blocks) close(p *performance) bool {
	if b.open == "" {
		return true
	}
	signed := b.open != "thinking" || b.event(p, map[string]any{
		"type": "content_block_delta", "index": b.index,
		"delta": map[string]any{"type": "signature_delta", "signature": fmt.Sprintf("signed-%d", b.index)},
	})
	index := b.index
	b.open = ""
	b.index++
	return signed && b.event(p, map[string]any{"type": "content_block_stop", "index": index})
}

func (b *blocks) end(p *performance, reason ending) {
	word := map[ending]string{
		endsNormally: "end_turn", endsInCalls: "tool_use", endsByLength: "max_tokens", endsByFilter: "refusal",
	}[reason]
	// An answer that was cut by its limit has no end of its last block either.
	if reason == endsByLength || b.close(p) {
		b.event(p, map[string]any{
			"type": "message_delta", "delta": map[string]any{"stop_reason": word, "stop_sequence": nil}, "usage": map[string]any{"output_tokens": 5},
		})
		b.event(p, map[string]any{"type": "message_stop"})
	}
}

func (*blocks) failure(text string) any {
	return map[string]any{"type": "error", "error": map[string]any{"type": "scene", "message": text}}
}

// event sends one event of the wire, behind the one that begins every stream.
func (b *blocks) event(p *performance, event map[string]any) bool {
	if !b.begun {
		b.begun = true
		p.begin()
		if !b.event(p, map[string]any{"type": "message_start", "message": map[string]any{
			"id": "msg_scene", "type": "message", "role": "assistant", "model": "scene-model", "content": []any{}, "stop_reason": nil,
			"usage": map[string]any{"input_tokens": 10, "output_tokens": 1},
		}}) {
			return false
		}
	}
	data, err := json.Marshal(event)
	return err == nil && p.write(fmt.Sprintf("event: %s\ndata: %s\n\n", event["type"], data))
}

// readBlocksAsked reads a request of the wire as far as scenes look at it. Reasoning that is sent back counts as text, so
// that a scene can ask for it.
func readBlocksAsked(body []byte) (*asked, error) {
	type block struct {
		Type, Text, Name, Thinking, Signature string
		Input                                 json.RawMessage
		Content                               json.RawMessage
	}
	var wire struct {
		Stream   bool
		System   json.RawMessage
		Messages []struct {
			Role    string
			Content []block
		}
		Tools []struct{ Name string }
	}
	if err := json.Unmarshal(body, &wire); err != nil {
		return nil, fmt.Errorf("reading the request: %w", err)
	}
	if !wire.Stream {
		return nil, errors.New("only streamed answers are played")
	}
	r := &asked{given: make(chan struct{})}
	var all strings.Builder
	if len(wire.System) > 0 {
		fmt.Fprintf(&all, "system: %s\n", contentText(wire.System))
	}
	for _, m := range wire.Messages {
		var said []string
		for _, b := range m.Content {
			switch b.Type {
			case "text":
				fmt.Fprintf(&all, "%s: %s\n", m.Role, b.Text)
				said = append(said, b.Text)
			case "thinking":
				fmt.Fprintf(&all, "%s thinks %s (%s)\n", m.Role, b.Thinking, b.Signature)
			case "tool_use":
				fmt.Fprintf(&all, "%s calls %s %s\n", m.Role, b.Name, b.Input)
			case "tool_result":
				text := contentText(b.Content)
				fmt.Fprintf(&all, "tool: %s\n", text)
				r.results = append(r.results, text)
			}
		}
		if m.Role == "user" && len(said) > 0 {
			r.last = said[len(said)-1]
		}
	}
	for _, t := range wire.Tools {
		r.tools = append(r.tools, t.Name)
	}
	r.text = all.String()
	return r, nil
}
