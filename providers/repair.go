package providers

import (
	"encoding/json"
	"strings"
)

// What a model reads in place of a result that never came.
const (
	notRunDenied      = "not run: an earlier call was denied"
	notRunInterrupted = "not run: interrupted"
	// deniedReason begins the reason of a denied call's result.
	deniedReason = "denied by user"
)

// Repair returns the conversation in the form every vendor accepts; wires send its answer, never what they were given.
// Denial, stop, crash and trimming all leave calls without results behind, and one such call makes vendors refuse every
// later request. In the copy, every call has exactly one result, in call order, directly after the message that asked
// for it: missing ones are supplied, strays and seconds are dropped. Arguments that were no whole object become {}.
// Notes and assistant messages that say nothing are left out. The input is not modified.
func Repair(messages []Message) []Message {
	out := make([]Message, 0, len(messages))
	for i := 0; i < len(messages); i++ {
		m := messages[i]
		switch m.Role {
		case RoleNote, RoleTool:
			// A tool message met here follows no call.
		case RoleAssistant:
			if len(m.Calls) == 0 {
				if strings.TrimSpace(m.Content) != "" {
					out = append(out, m)
				}
				continue
			}
			end := resultsEnd(messages, i+1)
			out = appendExchange(out, m, messages[i+1:end])
			i = end - 1
		case RoleSystem, RoleUser:
			out = append(out, m)
		}
	}
	return out
}

// resultsEnd finds where the results of an assistant message stop: at the next word of a user or a model.
func resultsEnd(messages []Message, from int) int {
	for i := from; i < len(messages); i++ {
		if r := messages[i].Role; r == RoleUser || r == RoleAssistant || r == RoleSystem {
			return i
		}
	}
	return len(messages)
}

func appendExchange(out []Message, asked Message, between []Message) []Message {
	results := make(map[string]Message, len(between))
	missing := notRunInterrupted
	for _, r := range between {
		if r.Role != RoleTool {
			continue
		}
		if _, second := results[r.CallKey]; !second {
			results[r.CallKey] = r
		}
	}
	calls := make([]Call, len(asked.Calls))
	for i, c := range asked.Calls {
		calls[i] = sendable(c)
		if isDenied(results[c.Key]) {
			missing = notRunDenied
		}
	}
	asked.Calls = calls
	out = append(out, asked)
	for _, c := range calls {
		r, ok := results[c.Key]
		if !ok {
			r = Message{Role: RoleTool, Content: missing, Failed: true}
		}
		delete(results, c.Key)
		r.CallKey, r.ToolName = c.Key, c.Name
		out = append(out, r)
	}
	return out
}

// isDenied recognises a denial both as the bare reason and inside the failure object that the loop records.
func isDenied(r Message) bool {
	return r.Failed && (strings.HasPrefix(r.Content, deniedReason) || strings.Contains(r.Content, `"`+deniedReason))
}

// sendable makes a call's arguments a JSON object: its own one when it is whole, else an empty one.
func sendable(c Call) Call {
	object := c.Object
	if c.State != Whole || len(object) == 0 {
		object = json.RawMessage("{}")
		if a := Classify(c.Arguments, FinishStop); a.State == Whole && (c.State == "" || c.State == Whole) {
			object = a.Object
		}
	}
	c.Arguments, c.Object = string(object), object
	return c
}
