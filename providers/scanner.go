package providers

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// scanner checks JSON strictly, once over, without building values. It stops at the first thing that is wrong; cut tells
// "the text ended here" from "the text is broken here", which encoding/json cannot be asked for reliably.
type scanner struct {
	text    string
	pos     int
	problem string
	cut     bool
	whole   []string
	// keys are the names seen in the objects that are open now, innermost last.
	keys []string
}

func (s *scanner) failed() bool { return s.problem != "" }

func (s *scanner) end(where string) { s.problem, s.cut = where, true }

func (s *scanner) broken(format string, args ...any) {
	s.problem = fmt.Sprintf(format, args...)
}

func (s *scanner) space() {
	for s.pos < len(s.text) && strings.IndexByte(jsonSpace, s.text[s.pos]) >= 0 {
		s.pos++
	}
}

// next skips white space and returns the byte there without consuming it; false when the text ended.
func (s *scanner) next(where string) (byte, bool) {
	s.space()
	if s.pos == len(s.text) {
		s.end(where)
		return 0, false
	}
	return s.text[s.pos], true
}

func (s *scanner) unexpected(want string) {
	r, size := utf8.DecodeRuneInString(s.text[s.pos:])
	if r == utf8.RuneError && size <= 1 {
		s.broken("invalid UTF-8 at byte %d", s.pos)
		return
	}
	s.broken("unexpected %q at byte %d, expected %s", r, s.pos, want)
}

func (s *scanner) value(depth int) {
	c, ok := s.next("a value is missing")
	if !ok {
		return
	}
	switch {
	case c == '{':
		s.object(depth)
	case c == '[':
		s.array(depth)
	case c == '"':
		s.string()
	case c == '-' || c >= '0' && c <= '9':
		s.number()
	case c == 't':
		s.literal("true")
	case c == 'f':
		s.literal("false")
	case c == 'n':
		s.literal("null")
	default:
		s.unexpected("a value")
	}
}

func (s *scanner) deep(depth int) bool {
	if depth > MaxArgumentDepth {
		s.broken("nested deeper than %d levels at byte %d", MaxArgumentDepth, s.pos)
	}
	return s.failed()
}

func (s *scanner) object(depth int) {
	if s.deep(depth) {
		return
	}
	s.pos++
	names := nameSet{start: len(s.keys)}
	defer func() { s.keys = s.keys[:names.start] }()
	const inside = "inside an object"
	c, ok := s.next(inside)
	if ok && c == '}' {
		s.pos++
		return
	}
	for ok {
		if c != '"' {
			s.unexpected("a key in double quotes")
			return
		}
		key := s.key(&names)
		if s.failed() {
			return
		}
		if c, ok = s.next("after a key"); !ok {
			return
		}
		if c != ':' {
			s.unexpected("':'")
			return
		}
		s.pos++
		s.value(depth + 1)
		if s.failed() {
			return
		}
		if depth == 1 {
			s.whole = append(s.whole, key)
		}
		if c, ok = s.next(inside); !ok {
			return
		}
		s.pos++
		switch c {
		case '}':
			return
		case ',':
			c, ok = s.next(inside)
		default:
			s.pos--
			s.unexpected("',' or '}'")
			return
		}
	}
}

// key reads an object's key and refuses one that the object already has: decoders disagree on which of two wins, so an
// approval could show one value and the tool run with the other.
func (s *scanner) key(names *nameSet) string {
	start := s.pos
	s.string()
	if s.failed() {
		return ""
	}
	key := s.text[start+1 : s.pos-1]
	if strings.IndexByte(key, '\\') >= 0 {
		if err := json.Unmarshal([]byte(s.text[start:s.pos]), &key); err != nil {
			s.broken("unreadable key at byte %d", start)
			return ""
		}
	}
	if names.has(s.keys, key) {
		s.broken("duplicate key %q", key)
		return ""
	}
	s.keys = append(s.keys, key)
	names.add(s.keys, key)
	return key
}

func (s *scanner) array(depth int) {
	if s.deep(depth) {
		return
	}
	s.pos++
	const inside = "inside an array"
	c, ok := s.next(inside)
	if ok && c == ']' {
		s.pos++
		return
	}
	for ok {
		s.value(depth + 1)
		if s.failed() {
			return
		}
		if c, ok = s.next(inside); !ok {
			return
		}
		switch c {
		case ']':
			s.pos++
			return
		case ',':
			s.pos++
		default:
			s.unexpected("',' or ']'")
			return
		}
	}
}

func (s *scanner) string() {
	start := s.pos
	for s.pos++; s.pos < len(s.text); {
		switch c := s.text[s.pos]; {
		case c == '"':
			s.pos++
			return
		case c == '\\':
			s.escape()
			if s.failed() {
				return
			}
		case c < 0x20:
			s.broken("a raw control character inside a string at byte %d", s.pos)
			return
		case c < utf8.RuneSelf:
			s.pos++
		default:
			r, size := utf8.DecodeRuneInString(s.text[s.pos:])
			if r == utf8.RuneError && size == 1 {
				if !utf8.FullRuneInString(s.text[s.pos:]) {
					s.end(fmt.Sprintf("inside a string that began at byte %d", start))
					return
				}
				s.broken("invalid UTF-8 at byte %d", s.pos)
				return
			}
			s.pos += size
		}
	}
	s.end(fmt.Sprintf("inside a string that began at byte %d", start))
}

func (s *scanner) escape() {
	rest := s.text[s.pos+1:]
	switch {
	case rest == "":
		s.end("inside an escape")
	case strings.IndexByte(`"\/bfnrt`, rest[0]) >= 0:
		s.pos += 2
	case rest[0] == 'u':
		for i := 1; i <= 4; i++ {
			if i == len(rest) {
				s.end("inside an escape")
				return
			}
			if !isHex(rest[i]) {
				s.broken("invalid escape in a string at byte %d", s.pos)
				return
			}
		}
		s.pos += 6
	default:
		s.broken("invalid escape in a string at byte %d", s.pos)
	}
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// number reads a number. One that reaches the end of the text counts as cut: it may be the prefix of a longer one.
func (s *scanner) number() {
	start := s.pos
	if s.text[s.pos] == '-' {
		s.pos++
	}
	intStart := s.pos
	if !s.digits(start) {
		return
	}
	if s.text[intStart] == '0' && s.pos > intStart+1 {
		s.broken("a number with a leading zero at byte %d", start)
		return
	}
	if s.at('.') {
		s.pos++
		if !s.digits(start) {
			return
		}
	}
	if s.at('e') || s.at('E') {
		s.pos++
		if s.at('+') || s.at('-') {
			s.pos++
		}
		if !s.digits(start) {
			return
		}
	}
	if s.pos == len(s.text) {
		s.end(fmt.Sprintf("inside a number that began at byte %d", start))
	}
}

func (s *scanner) at(c byte) bool { return s.pos < len(s.text) && s.text[s.pos] == c }

func (s *scanner) digits(start int) bool {
	from := s.pos
	for s.pos < len(s.text) && s.text[s.pos] >= '0' && s.text[s.pos] <= '9' {
		s.pos++
	}
	switch {
	case s.pos > from:
		return true
	case s.pos == len(s.text):
		s.end(fmt.Sprintf("inside a number that began at byte %d", start))
	default:
		s.unexpected("a digit")
	}
	return false
}

func (s *scanner) literal(word string) {
	rest := s.text[s.pos:]
	switch {
	case strings.HasPrefix(rest, word):
		s.pos += len(word)
	case strings.HasPrefix(word, rest):
		s.end("inside " + word)
	default:
		s.broken("unexpected word at byte %d, expected %s", s.pos, word)
	}
}

// nameSet finds repeated keys of one object. Real arguments have a handful, for which a look at each is cheapest; a map
// keeps hostile ones from costing quadratic time.
type nameSet struct {
	start int
	index map[string]struct{}
}

const linearNames = 16

func (n *nameSet) has(keys []string, key string) bool {
	if n.index != nil {
		_, seen := n.index[key]
		return seen
	}
	return slices.Contains(keys[n.start:], key)
}

func (n *nameSet) add(keys []string, key string) {
	if n.index != nil {
		n.index[key] = struct{}{}
		return
	}
	if own := keys[n.start:]; len(own) > linearNames {
		n.index = make(map[string]struct{}, 4*linearNames)
		for _, k := range own {
			n.index[k] = struct{}{}
		}
	}
}
