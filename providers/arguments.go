package providers

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Limits on the arguments of one call. More than either is refused as malformed.
const (
	MaxArgumentBytes = 256 << 10
	MaxArgumentDepth = 64
)

// Arguments is the verdict on the argument text of one call.
type Arguments struct {
	State ArgumentState
	// Object holds the object's own bytes, never re-encoded, so numbers keep their digits. It is set only when State
	// is Whole.
	Object json.RawMessage
	// Problem says, for every state but Whole, what is wrong in words a model can act on.
	Problem string
	// WholeKeys names the top-level keys whose values arrived whole before a cut. For display only.
	WholeKeys []string
}

// Classify decides whether the argument text of a call may be executed, given how the response ended. The text counts as
// it arrived; nothing is ever repaired, because a repaired cut is a plausible command that nobody wrote:
//
//   - one complete JSON object is Whole, also when it came wrapped once in a JSON string;
//   - empty text and null mean {}; but when the answer did not end normally, empty text is a call whose arguments never came;
//   - text that is correct as far as it goes but ends early is Truncated, whatever the finish reason claims: routers
//     rewrite it;
//   - anything else (broken elsewhere, data after the object, a key given twice, too deep, too long, not an object) is
//     Malformed.
func Classify(raw string, finish FinishReason) Arguments {
	if len(raw) > MaxArgumentBytes {
		return malformed(fmt.Sprintf("the arguments are longer than %d bytes", MaxArgumentBytes))
	}
	body := strings.Trim(raw, jsonSpace)
	switch {
	case body == "" && finish == FinishStop, body == "null":
		return Arguments{State: Whole, Object: json.RawMessage("{}")}
	case body == "":
		return Arguments{State: Truncated, Problem: "the answer ended before any argument arrived"}
	case strings.HasPrefix("null", body):
		return truncated(len(raw), "inside null", nil)
	case body[0] == '"':
		return classifyWrapped(raw, body)
	}
	return classifyObject(raw)
}

const jsonSpace = " \t\r\n"

// classifyWrapped handles arguments that were encoded twice. Only one layer is taken off.
func classifyWrapped(raw, body string) Arguments {
	s := scanner{text: body}
	s.string()
	switch {
	case s.cut:
		return truncated(len(raw), s.problem, nil)
	case s.problem != "":
		return malformed(s.problem)
	case s.pos != len(body):
		return malformed(fmt.Sprintf("unexpected data after the string at byte %d", s.pos))
	}
	var inner string
	if err := json.Unmarshal([]byte(body), &inner); err != nil {
		return malformed("the arguments are a string that cannot be read")
	}
	if !strings.HasPrefix(strings.TrimLeft(inner, jsonSpace), "{") {
		return malformed("the arguments must be a JSON object, not a string")
	}
	return classifyObject(inner)
}

func classifyObject(raw string) Arguments {
	s := scanner{text: raw, keys: make([]string, 0, linearNames)}
	s.space()
	start := s.pos
	if raw[start] != '{' {
		return malformed("the arguments must be a JSON object")
	}
	s.object(1)
	switch {
	case s.cut:
		return truncated(len(raw), s.problem, s.whole)
	case s.problem != "":
		return malformed(s.problem)
	}
	end := s.pos
	s.space()
	if s.pos != len(raw) {
		return malformed(fmt.Sprintf("unexpected data after the object at byte %d", s.pos))
	}
	return Arguments{State: Whole, Object: json.RawMessage(raw[start:end])}
}

func truncated(at int, where string, whole []string) Arguments {
	return Arguments{
		State: Truncated, WholeKeys: whole,
		Problem: fmt.Sprintf("the arguments ended early at byte %d: %s", at, where),
	}
}

func malformed(problem string) Arguments { return Arguments{State: Malformed, Problem: problem} }

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
	for _, k := range keys[n.start:] {
		if k == key {
			return true
		}
	}
	return false
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
