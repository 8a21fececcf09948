package openai

import (
	"encoding/json"
	"strings"

	"github.com/parleybot/parley/providers"
)

// reasoned gathers what a service wants back of a model's reasoning, in the form in which it wants it.
type reasoned struct {
	form    replayForm
	content strings.Builder
	details []map[string]any
	bytes   int
}

// maxReplay bounds what is kept to be sent back; more is not sent back at all.
const maxReplay = providers.MaxThinkingBytes / 2

func (r *reasoned) add(d *delta) {
	switch r.form {
	case replayContent:
		r.bytes += len(d.ReasoningContent)
		if r.bytes <= maxReplay {
			r.content.WriteString(string(d.ReasoningContent))
		}
	case replayDetails:
		r.bytes += len(d.ReasoningDetails)
		if r.bytes <= 4*maxReplay {
			r.addDetails(d.ReasoningDetails)
		}
	case replayNot:
	}
}

// addDetails joins parts that came in pieces: those of one kind under one index follow each other, their texts grow and
// the signature comes last.
func (r *reasoned) addDetails(raw json.RawMessage) {
	var parts []map[string]any
	if len(raw) == 0 || json.Unmarshal(raw, &parts) != nil {
		return
	}
	for _, part := range parts {
		if part == nil {
			continue
		}
		var last map[string]any
		if len(r.details) > 0 {
			last = r.details[len(r.details)-1]
		}
		if last == nil || !continues(last, part) {
			r.details = append(r.details, part)
			continue
		}
		for name, value := range part {
			text, isText := value.(string)
			before, grows := last[name].(string)
			switch {
			case value == nil:
			case isText && grows && (name == "text" || name == "summary" || name == "data"):
				last[name] = before + text
			case isText && grows && text == "":
			default:
				last[name] = value
			}
		}
	}
}

// continues reports whether a part is the next piece of the one before. Encrypted parts are whole.
func continues(last, part map[string]any) bool {
	kind, _ := part["type"].(string)
	return kind != "reasoning.encrypted" && last["type"] == part["type"] && last["index"] == part["index"] &&
		(last["id"] == part["id"] || part["id"] == nil || last["id"] == nil)
}

// block is what goes back, nil for nothing.
func (r *reasoned) block(provider, model string) *providers.ThinkingBlock {
	var value any
	switch {
	case r.content.Len() > 0 && r.bytes <= maxReplay:
		value = r.content.String()
	case len(r.details) > 0:
		value = r.details
	default:
		return nil
	}
	raw, err := json.Marshal(map[string]any{r.form.member(): value})
	if err != nil || len(raw) > maxReplay {
		return nil
	}
	return &providers.ThinkingBlock{Provider: provider, Model: model, Raw: raw}
}
