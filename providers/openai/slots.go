package openai

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/parleybot/parley/providers"
)

// entry is one element of a chunk's tool_calls, with the absences that matter kept apart from values.
type entry struct {
	index *int
	id    string
	name  string
	// arguments is a piece of the argument text; whole marks one that came as a JSON object instead of text.
	arguments string
	whole     bool
	opaque    json.RawMessage
}

func (e entry) empty() bool {
	return e.id == "" && e.name == "" && e.arguments == "" && len(e.opaque) == 0
}

// slot is one call in the making.
type slot struct {
	id, name  string
	arguments strings.Builder
	shape     shape
	opaque    bool
	// held is set while the arguments are exactly {} and not passed on: some gateways begin every call with an empty
	// object and send the real one behind it.
	held bool
	// chunk is the chunk that touched the slot last.
	chunk int
}

func (s *slot) complete() bool {
	return s.shape.closed && json.Valid([]byte(s.arguments.String()))
}

// slots assembles the calls of one answer. Vendors send indexes that are missing, always 0 or reused, ids that are
// missing, repeated or late, and names whole, in pieces or again and again; the rules tell these apart.
type slots struct {
	// offered reports whether a name is a tool of the request.
	offered func(string) bool
	all     []*slot
	byIndex map[int]int
	chunk   int
	last    int
	// ignored counts entries that belong to no call.
	ignored int
}

// nextChunk marks that what follows comes from another chunk.
func (s *slots) nextChunk() { s.chunk++ }

// add applies one entry and returns what it adds to its call; ok is false when it adds nothing.
func (s *slots) add(e entry) (d providers.CallDelta, ok bool) {
	n := s.find(e)
	if n < 0 {
		s.ignored++
		return d, false
	}
	slot := s.all[n]
	slot.chunk, s.last = s.chunk, n
	if e.index != nil {
		if s.byIndex == nil {
			s.byIndex = map[int]int{}
		}
		s.byIndex[*e.index] = n
	}
	d.Slot = n
	if slot.id == "" && e.id != "" {
		slot.id, d.ID = e.id, e.id
	}
	if e.name != "" && e.name != slot.name && !s.offered(slot.name) {
		slot.name += e.name
		d.Name = slot.name
	}
	if !slot.opaque && len(e.opaque) > 0 {
		slot.opaque, d.Opaque = true, e.opaque
	}
	d.Arguments = slot.take(e)
	return d, d.ID != "" || d.Name != "" || d.Arguments != "" || d.Opaque != nil
}

// find chooses the slot of an entry, opening one if need be; -1 means that it belongs to none.
func (s *slots) find(e entry) int {
	if e.id != "" {
		for n, slot := range s.all {
			if slot.id == e.id {
				return n
			}
		}
	}
	if e.index == nil {
		return s.findWithoutIndex(e)
	}
	n, mapped := s.byIndex[*e.index]
	switch {
	case !mapped && e.empty():
		return -1
	case !mapped || s.reused(s.all[n], e):
		return s.open()
	}
	return n
}

// reused reports whether an entry on a known index begins another call.
func (s *slots) reused(slot *slot, e entry) bool {
	if e.id != "" && slot.id != "" {
		return true // find would have met the same id
	}
	if e.name == "" || !slot.complete() {
		return false
	}
	if e.name == slot.name && e.arguments == slot.arguments.String() {
		return false // the whole call again
	}
	return strings.HasPrefix(strings.TrimLeft(e.arguments, jsonSpace), "{") || e.name != slot.name && s.offered(slot.name)
}

const jsonSpace = " \t\r\n"

func (s *slots) findWithoutIndex(e entry) int {
	if len(s.all) == 0 {
		if e.id == "" && e.name == "" {
			return -1
		}
		return s.open()
	}
	last := s.all[s.last]
	if e.id != "" {
		late := last.id == "" && last.chunk < s.chunk && e.name == "" && !last.complete()
		if late {
			return s.last
		}
		return s.open()
	}
	if e.name != "" && (last.chunk == s.chunk || last.complete()) {
		return s.open()
	}
	return s.last
}

func (s *slots) open() int {
	s.all = append(s.all, &slot{})
	return len(s.all) - 1
}

// take merges an entry's arguments and returns the text to pass on.
func (s *slot) take(e entry) string {
	text := e.arguments
	switch {
	case text == "":
		return ""
	case s.arguments.Len() == 0:
	case e.whole && !s.held:
		return ""
	case s.held && strings.HasPrefix(strings.TrimLeft(text, jsonSpace), "{"):
		if text == emptyObject {
			return ""
		}
		s.arguments.Reset()
		s.shape, s.held = shape{}, false
	case s.shape.closed && text == s.arguments.String() && s.complete():
		return ""
	}
	if s.arguments.Len() <= providers.MaxArgumentBytes {
		s.arguments.WriteString(text)
		s.shape.feed(text)
	}
	if s.arguments.String() == emptyObject && text == emptyObject {
		s.held = true
		return ""
	}
	if s.held {
		s.held = false
		return emptyObject + text
	}
	return text
}

const emptyObject = "{}"

// flush returns what was held back, at the end of the stream.
func (s *slots) flush() []providers.CallDelta {
	var out []providers.CallDelta
	for n, slot := range s.all {
		if slot.held {
			slot.held = false
			out = append(out, providers.CallDelta{Slot: n, Arguments: emptyObject})
		}
	}
	return out
}

// shape follows the braces of argument text as it grows, so that asking for completeness does not read it all each time.
type shape struct {
	depth           int
	inString, slash bool
	begun, closed   bool
}

func (s *shape) feed(text string) {
	for i := range len(text) {
		c := text[i]
		switch {
		case s.inString && s.slash:
			s.slash = false
		case s.inString:
			s.slash, s.inString = c == '\\', c != '"'
		case c == '"':
			s.inString = true
		case c == '{' || c == '[':
			s.depth++
			s.begun = true
		case c == '}' || c == ']':
			s.depth--
		}
	}
	s.closed = s.begun && s.depth == 0 && !s.inString
}

// compact writes a JSON value without its spaces, digits untouched.
func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}
