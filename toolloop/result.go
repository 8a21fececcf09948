package toolloop

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

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

// resultValue is a success's data within the cap: structured data over the cap becomes a cut string, and data that
// cannot be encoded is told as such.
func (l *Loop) resultValue(res registry.Result) any {
	if res.Data == nil {
		return completedResult{Status: "completed"}
	}
	if s, ok := res.Data.(string); ok {
		return cut(s, l.limits.ResultMaxBytes)
	}
	text := encode(res.Data)
	if len(text) > l.limits.ResultMaxBytes {
		return cut(text, l.limits.ResultMaxBytes)
	}
	return json.RawMessage(text)
}

// resultText is the same as text, for the journal and for events.
func (l *Loop) resultText(res registry.Result) string {
	switch v := l.resultValue(res).(type) {
	case string:
		return v
	case json.RawMessage:
		return string(v)
	default:
		return encode(v)
	}
}

// encode gives v as JSON without escaping <, > and &, which would take six bytes each.
func encode(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		b.Reset()
		_ = enc.Encode(map[string]string{"status": "completed", "note": "the result could not be encoded: " + err.Error()}) // strings always encode
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// cut keeps at most limit bytes, ending on a rune boundary, and says how many were cut; the marker is not counted.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	n := limit
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + fmt.Sprintf("\n[truncated %d bytes]", len(s)-n)
}

// sticker reads what a sticker call selected: a known sticker of the guild, or nothing, which clears.
func (l *Loop) sticker(guildID string, res registry.Result) StickerChange {
	var data struct {
		StickerID string `json:"sticker_id"`
	}
	if err := json.Unmarshal([]byte(encode(res.Data)), &data); err != nil || data.StickerID == "" {
		return StickerCleared{}
	}
	if l.stickers == nil || !l.stickers.KnownSticker(guildID, data.StickerID) {
		return StickerCleared{}
	}
	return StickerSelected{ID: data.StickerID}
}

// final is the context of a write that must happen although the turn has ended.
func final(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), finalWrite)
}

func responseID(t *Turn) string { return "r" + strconv.Itoa(t.iteration+1) }
