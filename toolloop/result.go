package toolloop

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/parleybot/parley/registry"
)

// failedResult is the object of every failure but the block.
type failedResult struct {
	Status   string `json:"status"`
	ToolName string `json:"tool_name"`
	Reason   string `json:"reason"`
}

// blockedResult is the object of a call that deliberate mode does not offer. Its field names are given by the source
// document of the execute stage.
type blockedResult struct {
	Status           string   `json:"status"`
	FunctionName     string   `json:"functionName"`     //nolint:tagliatelle // given
	AllowedToolNames []string `json:"allowedToolNames"` //nolint:tagliatelle // given
}

// completedResult stands for a success without data.
type completedResult struct {
	Status string `json:"status"`
	Note   string `json:"note,omitempty"`
}

// rendered is a result in the form it has in an entry and the text that is sent and kept in the journal.
type rendered struct {
	value any
	text  string
}

// newRendered renders one of our own result objects, which always encode.
func newRendered(v any) rendered {
	text, _ := encode(v)
	return rendered{value: v, text: text}
}

// render gives a success's data within the cap: structured data over the cap becomes a cut string, and data that cannot
// be encoded is told as such, for the tool did succeed.
func (l *Loop) render(x *execution, res registry.Result) rendered {
	if res.Data == nil {
		return newRendered(completedResult{Status: "completed"})
	}
	if s, ok := res.Data.(string); ok && s != "" {
		s = cut(s, l.limits.ResultMaxBytes)
		return rendered{value: s, text: s}
	}
	text, err := encode(res.Data)
	if err != nil {
		l.log.Error().Err(err).Str("turn", x.turn.ID).Str("tool", x.name).Msg("tool.result_unencodable")
		return newRendered(completedResult{Status: "completed", Note: "the result could not be encoded"})
	}
	if len(text) > l.limits.ResultMaxBytes {
		text = cut(text, l.limits.ResultMaxBytes)
		return rendered{value: text, text: text}
	}
	return rendered{value: json.RawMessage(text), text: text}
}

// failureReason is what the model reads: the tool's message, else its error, else a generic text.
func failureReason(res registry.Result) string {
	switch {
	case res.Message != "":
		return res.Message
	case res.Error != "":
		return "tool error: " + res.Error
	default:
		return "tool error: the tool failed without saying why"
	}
}

// encode gives v as JSON without escaping <, > and &, which would take six bytes each. v may be a tool's own type, so a
// panic of its methods is an error like any other.
func encode(v any) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic while encoding: %v", p)
		}
	}()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// cut keeps at most limit bytes, ending on a rune boundary, and says how many were cut; the marker is not counted.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	kept := clip(s, limit)
	return kept + fmt.Sprintf("\n[truncated %d bytes]", len(s)-len(kept))
}

// stickerTool is the one tool whose result moves the turn's sticker.
const stickerTool = "select_sticker_for_response"

// sticker reads what a sticker call selected: a known sticker of the guild, or nothing, which clears.
func (l *Loop) sticker(guildID, result string) StickerChange {
	var data struct {
		StickerID string `json:"sticker_id"`
	}
	if err := json.Unmarshal([]byte(result), &data); err != nil || data.StickerID == "" {
		return StickerCleared{}
	}
	if l.stickers == nil || !l.stickers.KnownSticker(guildID, data.StickerID) {
		return StickerCleared{}
	}
	return StickerSelected{ID: data.StickerID}
}
