package openai

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/parleybot/parley/providers/internal/wire"
)

// chunk is one data event of a stream, or a whole answer that was not streamed.
type chunk struct {
	Error   json.RawMessage `json:"error"`
	Model   wire.Text       `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
}

type choice struct {
	Index        wire.Count `json:"index"`
	Delta        *delta     `json:"delta"`
	Message      *delta     `json:"message"`
	FinishReason wire.Text  `json:"finish_reason"`
}

type delta struct {
	Content          json.RawMessage   `json:"content"`
	Refusal          wire.Text         `json:"refusal"`
	ReasoningContent wire.Text         `json:"reasoning_content"`
	Reasoning        wire.Text         `json:"reasoning"`
	ReasoningDetails json.RawMessage   `json:"reasoning_details"`
	ToolCalls        []json.RawMessage `json:"tool_calls"`
	FunctionCall     *functionPart     `json:"function_call"`
}

type functionPart struct {
	Name      wire.Text       `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// thinking is the reasoning of a delta. Some servers send the same text under two names, so only one counts.
func (d *delta) thinking() string {
	switch {
	case d.ReasoningContent != "":
		return string(d.ReasoningContent)
	case d.Reasoning != "":
		return string(d.Reasoning)
	case len(d.ReasoningDetails) == 0:
		return ""
	}
	var parts []struct {
		Text    wire.Text `json:"text"`
		Summary wire.Text `json:"summary"`
	}
	if json.Unmarshal(d.ReasoningDetails, &parts) != nil {
		return ""
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(string(p.Text + p.Summary))
	}
	return b.String()
}

// content reads a delta's content, which is a string or a list of typed parts.
func (d *delta) content() (shown, thought string) {
	raw := bytes.TrimSpace(d.Content)
	if len(raw) == 0 || raw[0] != '[' {
		var s wire.Text
		if len(raw) > 0 {
			_ = s.UnmarshalJSON(raw)
		}
		return string(s), ""
	}
	var parts []contentPart
	if json.Unmarshal(raw, &parts) != nil {
		return "", ""
	}
	for _, p := range parts {
		switch p.Type {
		case "text", "output_text":
			shown += string(p.Text)
		case "thinking", "reasoning":
			thought += string(p.Text) + p.inner()
		}
	}
	return shown, thought
}

type contentPart struct {
	Type wire.Text `json:"type"`
	Text wire.Text `json:"text"`
	// Thinking is a string or again a list of text parts.
	Thinking json.RawMessage `json:"thinking"`
}

func (p contentPart) inner() string {
	inner := delta{Content: p.Thinking}
	shown, _ := inner.content()
	return shown
}

// entries reads the pieces of calls in a delta. broken counts those that could not be read.
func (d *delta) entries(provider, model string) (entries []entry, broken int) {
	for _, raw := range d.ToolCalls {
		var wire struct {
			Index            *wire.Count     `json:"index"`
			ID               wire.Text       `json:"id"`
			Function         functionPart    `json:"function"`
			ExtraContent     json.RawMessage `json:"extra_content"`
			ThoughtSignature json.RawMessage `json:"thought_signature"`
		}
		if json.Unmarshal(raw, &wire) != nil {
			broken++
			continue
		}
		e := wire.Function.entry()
		e.id = string(wire.ID)
		if wire.Index != nil {
			e.index = new(int(*wire.Index))
		}
		e.opaque = keepOpaque(provider, model, map[string]json.RawMessage{
			"extra_content": wire.ExtraContent, "thought_signature": wire.ThoughtSignature,
		})
		entries = append(entries, e)
	}
	if f := d.FunctionCall; f != nil {
		e := f.entry()
		e.index = new(int)
		entries = append(entries, e)
	}
	return entries, broken
}

func (f functionPart) entry() entry {
	e := entry{name: string(f.Name)}
	switch raw := bytes.TrimSpace(f.Arguments); {
	case len(raw) == 0 || string(raw) == "null":
	case raw[0] == '"':
		var s wire.Text
		_ = s.UnmarshalJSON(raw)
		e.arguments = string(s)
	default:
		e.arguments, e.whole = compact(raw), true
	}
	return e
}

// keepOpaque packs vendor members of a call with their origin.
func keepOpaque(provider, model string, members map[string]json.RawMessage) json.RawMessage {
	for name, value := range members {
		if len(value) == 0 || string(value) == "null" {
			delete(members, name)
		}
	}
	if len(members) == 0 {
		return nil
	}
	packed, err := json.Marshal(opaque{Provider: provider, Model: model, Members: members})
	if err != nil {
		return nil
	}
	return packed
}
