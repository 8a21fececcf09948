package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// transcriptVersion is the only version of a transcript there is.
const transcriptVersion = 1

// EntryKind says who a transcript entry is from.
type EntryKind string

// The entry kinds. EntryNote is local: shown and stored, never sent to a provider.
const (
	EntrySystem    EntryKind = "system"
	EntryUser      EntryKind = "user"
	EntryAssistant EntryKind = "assistant"
	EntryTool      EntryKind = "tool"
	EntryNote      EntryKind = "note"
)

// Fields are the parts of a stored object that this version does not know, kept as they are and written back.
type Fields map[string]json.RawMessage

// Transcript is a stored sequence of entries. Its form is {"v":1,"entries":[…]}.
type Transcript struct {
	Entries []Entry
	// Unknown are the fields beside v and entries.
	Unknown Fields
}

// Entry is one message of a transcript: what someone said, what calls an assistant made, what a tool answered.
type Entry struct {
	Kind EntryKind
	ID   string
	// TS is when, in milliseconds since 1970.
	TS      int64
	Content string
	// Calls are what an assistant asked for; each is answered by a tool entry with its key.
	Calls []EntryCall
	// CallKey names, in a tool entry, the call it answers.
	CallKey string
	Unknown Fields
}

// EntryCall is one call of an assistant's entry.
type EntryCall struct {
	Key string
	// Name is the tool's, Arguments the raw text that the model sent.
	Name      string
	Arguments string
	Unknown   Fields
}

// Decode reads a stored transcript. An empty document is an empty transcript. Everything else that is not the form of
// this version is ErrCorrupt, and the error says where: not JSON, no entries, a field of a wrong type, an unknown kind, a
// later version. Callers don't write over what they could not read.
func Decode(document json.RawMessage) (Transcript, error) {
	if len(document) == 0 {
		return Transcript{}, nil
	}
	t, err := decodeTranscript(document)
	if err != nil {
		return Transcript{}, fmt.Errorf("decode transcript: %w: %w", ErrCorrupt, err)
	}
	return t, nil
}

func decodeTranscript(document json.RawMessage) (Transcript, error) {
	fields, err := object(document)
	if err != nil {
		return Transcript{}, err
	}
	var version int
	if err := take(fields, "v", &version, required); err != nil {
		return Transcript{}, err
	}
	if version != transcriptVersion {
		return Transcript{}, fmt.Errorf("its version is %d, this binary knows %d", version, transcriptVersion)
	}
	var raw []json.RawMessage
	if err := take(fields, "entries", &raw, required); err != nil {
		return Transcript{}, err
	}
	t := Transcript{Entries: make([]Entry, len(raw)), Unknown: rest(fields)}
	for i := range raw {
		if t.Entries[i], err = decodeEntry(raw[i]); err != nil {
			return Transcript{}, fmt.Errorf("entry %d: %w", i, err)
		}
	}
	return t, nil
}

func decodeEntry(document json.RawMessage) (Entry, error) {
	fields, err := object(document)
	if err != nil {
		return Entry{}, err
	}
	var (
		e     Entry
		calls []json.RawMessage
	)
	err = errors.Join(
		take(fields, "kind", &e.Kind, required),
		take(fields, "id", &e.ID, optional),
		take(fields, "ts", &e.TS, optional),
		take(fields, "content", &e.Content, optional),
		take(fields, "calls", &calls, optional),
		take(fields, "call_key", &e.CallKey, optional),
	)
	if err != nil {
		return Entry{}, err
	}
	switch e.Kind {
	case EntrySystem, EntryUser, EntryAssistant, EntryTool, EntryNote:
	default:
		return Entry{}, fmt.Errorf("unknown kind %q", e.Kind)
	}
	for i, raw := range calls {
		c, err := decodeCall(raw)
		if err != nil {
			return Entry{}, fmt.Errorf("call %d: %w", i, err)
		}
		e.Calls = append(e.Calls, c)
	}
	e.Unknown = rest(fields)
	return e, nil
}

func decodeCall(document json.RawMessage) (EntryCall, error) {
	fields, err := object(document)
	if err != nil {
		return EntryCall{}, err
	}
	var c EntryCall
	err = errors.Join(
		take(fields, "key", &c.Key, required),
		take(fields, "name", &c.Name, optional),
		take(fields, "arguments", &c.Arguments, optional),
	)
	c.Unknown = rest(fields)
	return c, err
}

// object splits a JSON object into its fields. json.Unmarshal alone would take null for an empty one.
func object(document json.RawMessage) (Fields, error) {
	if !bytes.HasPrefix(bytes.TrimLeft(document, " \t\r\n"), []byte("{")) {
		return nil, fmt.Errorf("not an object: %.40q", document)
	}
	var fields Fields
	if err := json.Unmarshal(document, &fields); err != nil {
		return nil, err
	}
	return fields, nil
}

type presence bool

const (
	required presence = true
	optional presence = false
)

// take moves a known field out of fields into target. A null counts as a wrong type.
func take(fields Fields, name string, target any, need presence) error {
	value, ok := fields[name]
	if !ok {
		if need == required {
			return fmt.Errorf("no field %q", name)
		}
		return nil
	}
	delete(fields, name)
	if string(value) == "null" {
		return fmt.Errorf("field %q is null", name)
	}
	if err := json.Unmarshal(value, target); err != nil {
		return fmt.Errorf("field %q: %w", name, err)
	}
	return nil
}

// rest is what is left after the known fields were taken; nil when nothing is.
func rest(fields Fields) Fields {
	if len(fields) == 0 {
		return nil
	}
	return fields
}

// Encode writes a transcript in its stored form, which Decode reads back to the same value. Signs like < and & are not
// escaped: code would take twice the room. It fails only on an unknown field that is not JSON.
func Encode(t Transcript) (json.RawMessage, error) {
	document := appendTranscript(nil, t)
	if !json.Valid(document) {
		return nil, fmt.Errorf("encode transcript: %w: an unknown field is not JSON", ErrInvalid)
	}
	return document, nil
}

func appendTranscript(b []byte, t Transcript) []byte {
	b = append(b, `{"v":1,"entries":[`...)
	for i, e := range t.Entries {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendEntry(b, e)
	}
	return append(appendFields(append(b, ']'), t.Unknown), '}')
}

func appendEntry(b []byte, e Entry) []byte {
	b = appendText(append(b, `{"kind":`...), string(e.Kind))
	if e.ID != "" {
		b = appendText(append(b, `,"id":`...), e.ID)
	}
	if e.TS != 0 {
		b = fmt.Appendf(b, `,"ts":%d`, e.TS)
	}
	if e.Content != "" {
		b = appendText(append(b, `,"content":`...), e.Content)
	}
	if e.CallKey != "" {
		b = appendText(append(b, `,"call_key":`...), e.CallKey)
	}
	for i, c := range e.Calls {
		if i == 0 {
			b = append(b, `,"calls":[`...)
		} else {
			b = append(b, ',')
		}
		b = appendText(append(b, `{"key":`...), c.Key)
		b = appendText(append(b, `,"name":`...), c.Name)
		b = appendText(append(b, `,"arguments":`...), c.Arguments)
		b = append(appendFields(b, c.Unknown), '}')
	}
	if len(e.Calls) > 0 {
		b = append(b, ']')
	}
	return append(appendFields(b, e.Unknown), '}')
}

// appendFields writes unknown fields in the order of their names, so that equal transcripts are equal bytes.
func appendFields(b []byte, fields Fields) []byte {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		b = append(appendText(append(b, ','), name), ':')
		b = append(b, fields[name]...)
	}
	return b
}

func appendText(b []byte, text string) []byte {
	buffer := bytes.NewBuffer(b)
	encoder := json.NewEncoder(buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil { // a string always encodes
		panic("store: encode a string: " + err.Error())
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n"))
}
