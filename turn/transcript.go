package turn

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/store"
)

// transcriptVersion is the version of the stored form that this binary writes and reads.
const transcriptVersion = 1

// transcript is the stored form of a turn's exchange. A result's text is stored once, on its tool message.
type transcript struct {
	Version  int                 `json:"v"`
	Messages []transcriptMessage `json:"messages"`
}

type transcriptMessage struct {
	Role    providers.Role   `json:"role"`
	Content string           `json:"content,omitempty"`
	Calls   []transcriptCall `json:"calls,omitempty"`
	CallKey string           `json:"call_key,omitempty"`
	Tool    string           `json:"tool,omitempty"`
	Failed  bool             `json:"failed,omitempty"`
	Stopped bool             `json:"stopped,omitempty"`
}

type transcriptCall struct {
	Key       string          `json:"key"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Opaque    json.RawMessage `json:"opaque,omitempty"`
}

// encodeTranscript gives the stored form within limit bytes: when it is too long, the oldest results lose their text.
func encodeTranscript(messages []providers.Message, limit int) (json.RawMessage, error) {
	t := transcript{Version: transcriptVersion, Messages: make([]transcriptMessage, len(messages))}
	for i, m := range messages {
		x := transcriptMessage{
			Role: m.Role, Content: m.Content, CallKey: m.CallKey, Tool: m.ToolName, Failed: m.Failed, Stopped: m.Stopped,
		}
		for _, c := range m.Calls {
			x.Calls = append(x.Calls, transcriptCall{Key: c.Key, ID: c.ID, Name: c.Name, Arguments: c.Arguments, Opaque: c.Opaque})
		}
		t.Messages[i] = x
	}
	data, err := marshal(t)
	for i := 0; err == nil && len(data) > limit && i < len(t.Messages); i++ {
		if m := &t.Messages[i]; m.Role == providers.RoleTool && len(m.Content) > 100 {
			m.Content = fmt.Sprintf("[removed %d bytes of an older result]", len(m.Content))
			data, err = marshal(t)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("encoding the transcript: %w", err)
	}
	return data, nil
}

// marshal encodes without HTML escaping, which would make code twice as long.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// decodeTranscript reads a stored exchange. Keys become unique in a conversation of several turns by the turn's id.
func decodeTranscript(turnID string, data json.RawMessage) ([]providers.Message, error) {
	if len(data) == 0 {
		return nil, nil
	}
	var t transcript
	if err := json.Unmarshal(data, &t); err != nil {
		return nil, fmt.Errorf("%w: transcript of turn %s: %w", store.ErrCorrupt, turnID, err)
	}
	if t.Version != transcriptVersion {
		return nil, fmt.Errorf("%w: transcript of turn %s has version %d, this binary reads %d", store.ErrCorrupt, turnID, t.Version, transcriptVersion)
	}
	out := make([]providers.Message, len(t.Messages))
	for i, x := range t.Messages {
		m := providers.Message{
			Role: x.Role, Content: x.Content, ToolName: x.Tool, Failed: x.Failed, Stopped: x.Stopped,
		}
		if x.CallKey != "" {
			m.CallKey = turnID + "/" + x.CallKey
		}
		for _, c := range x.Calls {
			m.Calls = append(m.Calls, providers.Call{
				Key: turnID + "/" + c.Key, ID: c.ID, Name: c.Name, Arguments: c.Arguments, Object: json.RawMessage(c.Arguments),
				State: providers.Whole, Opaque: c.Opaque,
			})
		}
		out[i] = m
	}
	return out, nil
}
