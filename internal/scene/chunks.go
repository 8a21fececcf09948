package scene

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// chunks is the format of OpenAI's chat completions.
type chunks struct{}

func (chunks) thinks(p *performance, piece string) bool {
	return p.chunk(map[string]any{"reasoning_content": piece}, nil)
}

func (chunks) says(p *performance, piece string) bool {
	return p.chunk(map[string]any{"content": piece}, nil)
}

func (chunks) call(p *performance, index int, name string) bool {
	first := map[string]any{
		"index": index, "id": fmt.Sprintf("call_%d", index+1), "type": "function",
		"function": map[string]any{"name": name, "arguments": ""},
	}
	return p.chunk(map[string]any{"tool_calls": []any{first}}, nil)
}

func (chunks) argument(p *performance, index int, piece string) bool {
	more := map[string]any{"index": index, "function": map[string]any{"arguments": piece}}
	return p.chunk(map[string]any{"tool_calls": []any{more}}, nil)
}

func (chunks) end(p *performance, reason ending) {
	p.chunk(map[string]any{}, &reason)
	p.write(`data: {"id":"chatcmpl-scene","object":"chat.completion.chunk","created":1,"model":"scene-model","choices":[],` +
		`"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}` + "\n\ndata: [DONE]\n\n")
}

func (chunks) failure(text string) any {
	return map[string]any{"error": map[string]any{"message": text, "type": "scene", "code": nil}}
}

// chunk is one event of the wire.
func (p *performance) chunk(delta any, reason *ending) bool {
	p.begin()
	data, err := json.Marshal(map[string]any{
		"id": "chatcmpl-scene", "object": "chat.completion.chunk", "created": 1, "model": "scene-model",
		"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": reason}},
	})
	return err == nil && p.write("data: "+string(data)+"\n\n")
}

// readChunksAsked reads a request of the wire as far as scenes look at it.
func readChunksAsked(body []byte) (*asked, error) {
	var wire struct {
		Stream   bool `json:"stream"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
			Calls   []struct {
				Function struct{ Name, Arguments string } `json:"function"`
			} `json:"tool_calls"`
		} `json:"messages"`
		Tools []struct {
			Function struct{ Name string } `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &wire); err != nil {
		return nil, fmt.Errorf("reading the request: %w", err)
	}
	if !wire.Stream {
		return nil, errors.New("only streamed answers are played")
	}
	r := &asked{given: make(chan struct{})}
	var all strings.Builder
	for _, m := range wire.Messages {
		text := contentText(m.Content)
		fmt.Fprintf(&all, "%s: %s\n", m.Role, text)
		for _, c := range m.Calls {
			fmt.Fprintf(&all, "%s calls %s %s\n", m.Role, c.Function.Name, c.Function.Arguments)
		}
		switch m.Role {
		case "user":
			r.last = text
		case "tool":
			r.results = append(r.results, text)
		}
	}
	for _, t := range wire.Tools {
		r.tools = append(r.tools, t.Function.Name)
	}
	r.text = all.String()
	return r, nil
}
