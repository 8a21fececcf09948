package turn

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/store"
)

// Fields of a stored entry that only turns know; the store keeps them as they are.
const (
	fieldTool    = "tool"
	fieldFailed  = "failed"
	fieldStopped = "stopped"
	fieldID      = "id"
	fieldOpaque  = "opaque"
)

// encodeTranscript gives the stored form of a turn's exchange within limit bytes; see store.Cap. A result's text is
// stored once, on its tool entry.
func encodeTranscript(messages []providers.Message, limit int) (json.RawMessage, error) {
	entries := make([]store.Entry, len(messages))
	for i, m := range messages {
		entries[i] = entryOf(m)
	}
	data, err := store.Encode(store.Transcript{Entries: store.Cap(entries, limit)})
	if err != nil {
		return nil, fmt.Errorf("encoding the transcript: %w", err)
	}
	return data, nil
}

// entryOf leaves signed reasoning out: its signature holds for the exchange it came from, and another turn's conversation
// is another one.
func entryOf(m providers.Message) store.Entry {
	e := store.Entry{Kind: store.EntryKind(m.Role), Content: m.Content, CallKey: m.CallKey, Unknown: store.Fields{}}
	if m.ToolName != "" {
		e.Unknown[fieldTool] = quoted(m.ToolName)
	}
	for name, set := range map[string]bool{fieldFailed: m.Failed, fieldStopped: m.Stopped} {
		if set {
			e.Unknown[name] = json.RawMessage("true")
		}
	}
	for _, c := range m.Calls {
		call := store.EntryCall{Key: c.Key, Name: c.Name, Arguments: c.Arguments, Unknown: store.Fields{}}
		if c.ID != "" {
			call.Unknown[fieldID] = quoted(c.ID)
		}
		if len(c.Opaque) > 0 {
			call.Unknown[fieldOpaque] = slices.Clone(c.Opaque)
		}
		e.Calls = append(e.Calls, call)
	}
	return e
}

// decodeTranscript reads a stored exchange. Keys become unique in a conversation of several turns by the turn's id. What a
// call's arguments are worth is left to providers.Repair: they may be broken, and must not break every later request.
func decodeTranscript(turnID string, data json.RawMessage) ([]providers.Message, error) {
	t, err := store.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("transcript of turn %s: %w", turnID, err)
	}
	out := make([]providers.Message, len(t.Entries))
	for i, e := range t.Entries {
		out[i] = providers.Message{
			Role: providers.Role(e.Kind), Content: e.Content, ToolName: unquoted(e.Unknown[fieldTool]),
			Failed: len(e.Unknown[fieldFailed]) > 0, Stopped: len(e.Unknown[fieldStopped]) > 0,
		}
		if e.CallKey != "" {
			out[i].CallKey = turnID + "/" + e.CallKey
		}
		for _, c := range e.Calls {
			out[i].Calls = append(out[i].Calls, providers.Call{
				Key: turnID + "/" + c.Key, ID: unquoted(c.Unknown[fieldID]), Name: c.Name, Arguments: c.Arguments, Opaque: c.Unknown[fieldOpaque],
			})
		}
	}
	return out, nil
}

func quoted(s string) json.RawMessage {
	data, err := json.Marshal(s)
	if err != nil { // strings always marshal
		return nil
	}
	return data
}

// unquoted reads a field that holds a string; anything else counts as absent.
func unquoted(data json.RawMessage) string {
	var s string
	if json.Unmarshal(data, &s) != nil {
		return ""
	}
	return s
}
