package providers

import (
	"encoding/json"
	"fmt"
	"strings"
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
