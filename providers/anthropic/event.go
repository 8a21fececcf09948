package anthropic

import (
	"bytes"
	"encoding/json"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/providers/internal/wire"
)

// event is one data event of a stream, of any type. Events and members that aren't known are ignored: the vendor adds
// more over time.
type event struct {
	Type    wire.Text       `json:"type"`
	Message *message        `json:"message"`
	Index   *wire.Count     `json:"index"`
	Block   *block          `json:"content_block"`
	Delta   *delta          `json:"delta"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

// message is what a stream begins with, or an answer that was not streamed.
type message struct {
	Type       wire.Text         `json:"type"`
	Model      wire.Text         `json:"model"`
	Content    []json.RawMessage `json:"content"`
	StopReason wire.Text         `json:"stop_reason"`
	Usage      *usage            `json:"usage"`
	Error      json.RawMessage   `json:"error"`
}

// block is the start of a content block. What is sent back later is kept as raw text.
type block struct {
	Type      wire.Text       `json:"type"`
	ID        wire.Text       `json:"id"`
	Name      wire.Text       `json:"name"`
	Input     json.RawMessage `json:"input"`
	Text      wire.Text       `json:"text"`
	Thinking  json.RawMessage `json:"thinking"`
	Signature json.RawMessage `json:"signature"`
	Data      json.RawMessage `json:"data"`
}

type delta struct {
	Type        wire.Text       `json:"type"`
	Text        wire.Text       `json:"text"`
	Thinking    json.RawMessage `json:"thinking"`
	Signature   json.RawMessage `json:"signature"`
	PartialJSON json.RawMessage `json:"partial_json"`
	StopReason  wire.Text       `json:"stop_reason"`
}

type usage struct {
	Input         wire.Count `json:"input_tokens"`
	Output        wire.Count `json:"output_tokens"`
	CacheRead     wire.Count `json:"cache_read_input_tokens"`
	CacheWrite    wire.Count `json:"cache_creation_input_tokens"`
	OutputDetails struct {
		Thinking wire.Count `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// merge takes over the numbers of a later report. They are totals, and servers leave out or send as 0 what they said
// before.
func (u *usage) merge(later usage) {
	for _, m := range []struct {
		have *wire.Count
		now  wire.Count
	}{
		{&u.Input, later.Input},
		{&u.Output, later.Output},
		{&u.CacheRead, later.CacheRead},
		{&u.CacheWrite, later.CacheWrite},
		{&u.OutputDetails.Thinking, later.OutputDetails.Thinking},
	} {
		if m.now > 0 {
			*m.have = m.now
		}
	}
}

// neutral counts everything sent as input: this vendor counts what was read from the cache and written to it beside it.
func (u *usage) neutral() providers.Usage {
	return providers.Usage{
		Input: int(u.Input + u.CacheRead + u.CacheWrite), Output: int(u.Output),
		CacheRead: int(u.CacheRead), CacheWrite: int(u.CacheWrite), Reasoning: int(u.OutputDetails.Thinking),
	}
}

// asText reads a member that is a string, or in odd gateways an object in its place.
func asText(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return ""
	case raw[0] == '"':
		var s wire.Text
		_ = s.UnmarshalJSON(raw)
		return string(s)
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// inside is a JSON string without its quotes, its escapes untouched: pieces of one text joined this way are exactly what
// was sent, also where an escape or a character was split between them.
func inside(raw json.RawMessage) []byte {
	raw = bytes.TrimSpace(raw)
	if len(raw) < 2 || raw[0] != '"' {
		return nil
	}
	return raw[1 : len(raw)-1]
}
