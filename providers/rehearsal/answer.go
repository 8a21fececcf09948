package rehearsal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/parleybot/parley/providers"
)

// result is a tool's result as the model reads it.
type result struct {
	tool   string
	failed bool
	// text is the result in a few words: the reason of a failure, else the data.
	text string
	// data is the decoded result when it is JSON.
	data any
}

func readResult(m providers.Message, callName string) result {
	r := result{tool: m.ToolName, failed: m.Failed, text: strings.TrimSpace(m.Content)}
	if r.tool == "" {
		r.tool = callName
	}
	r.data = unwrap(decode(m.Content))
	object, _ := r.data.(map[string]any)
	switch status, _ := object["status"].(string); status {
	case "tool_execution_failed":
		r.failed = true
		if reason, ok := object["reason"].(string); ok {
			r.text = reason
		}
	case "blocked_by_deliberate_tool_mode":
		r.failed = true
		r.text = "it isn't exposed in this turn"
	}
	return r
}

// decode reads JSON with its digits kept; nil when text is none.
func decode(text string) any {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || d.More() {
		return nil
	}
	return v
}

// unwrap takes a result out of its functionResponse envelope, when it has one.
func unwrap(v any) any {
	for _, key := range []string{"functionResponse", "response", "result"} {
		object, ok := v.(map[string]any)
		if !ok {
			return v
		}
		if inner, ok := object[key]; ok {
			v = inner
		}
	}
	return v
}

// How much of the results an answer repeats: the newest ones, each shortened.
const (
	shownResults = 10
	shownResult  = 300
)

func reportResults(results []result) string {
	if len(results) == 0 {
		return "Done. (I'm the rehearsal model; no tool result came back.)"
	}
	var lines []string
	if more := len(results) - shownResults; more > 0 {
		lines = append(lines, fmt.Sprintf("(%d earlier results left out)", more))
		results = results[more:]
	}
	for _, r := range results {
		verb := "answered"
		if r.failed {
			verb = "failed"
		}
		lines = append(lines, fmt.Sprintf("%s %s: %s", r.tool, verb, shorten(oneLine(r.text), shownResult)))
	}
	return strings.Join(lines, "\n")
}

// oneLine compacts JSON and folds white space.
func oneLine(text string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) == nil {
		return b.String()
	}
	return strings.Join(strings.Fields(text), " ")
}

func shorten(text string, runes int) string {
	for i := range text {
		if runes == 0 {
			return text[:i] + "…"
		}
		runes--
	}
	return text
}
