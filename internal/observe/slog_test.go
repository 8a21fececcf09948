package observe_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/slogtest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/parleybot/parley/internal/observe"
)

func TestSlogHandlerConforms(t *testing.T) {
	t.Parallel()
	var out *bytes.Buffer
	slogtest.Run(t, func(t *testing.T) slog.Handler {
		if strings.HasSuffix(t.Name(), "/zero-time") {
			t.Skip("a line's time is the logger's own; a record's time is not used")
		}
		var log zerolog.Logger
		log, out = newLogger(t, observe.LogConfig{Level: "debug", Format: "json"})
		return observe.NewSlogHandler(log)
	}, func(t *testing.T) map[string]any {
		var flat map[string]any
		if err := json.Unmarshal(out.Bytes(), &flat); err != nil {
			t.Fatalf("%v in %q", err, out)
		}
		flat[slog.MessageKey] = flat[zerolog.MessageFieldName]
		return nest(flat)
	})
}

// nest turns dotted keys back into the groups they stand for.
func nest(flat map[string]any) map[string]any {
	out := map[string]any{}
	for key, value := range flat {
		at := out
		parts := strings.Split(key, ".")
		for _, group := range parts[:len(parts)-1] {
			inner, ok := at[group].(map[string]any)
			if !ok {
				inner = map[string]any{}
				at[group] = inner
			}
			at = inner
		}
		at[parts[len(parts)-1]] = value
	}
	return out
}

func TestSlogValuesAndLevels(t *testing.T) {
	t.Parallel()
	log, out := newLogger(t, observe.LogConfig{Level: "info", Format: "json", Redactor: observe.NewRedactor("hunter2")})
	l := slog.New(observe.NewSlogHandler(log)).With("sdk", "x").WithGroup("req")
	l.Debug("not written")
	l.Warn("retry", "key", "hunter2", "n", uint64(7), "f", 1.5, "ok", true, "took", 2*time.Second, "at", atNoon(), "err", errors.New("boom"), "list", []int{1})
	var got map[string]any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	want := map[string]any{
		"level": "warn", "message": "retry", "time": "2026-03-04T12:00:00.007Z", "sdk": "x", "req.key": "[redacted]", "req.n": 7.0, "req.f": 1.5,
		"req.ok": true, "req.took": "2s", "req.at": "2026-03-04T12:00:00.007Z", "req.err": "boom", "req.list": []any{1.0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("line (-want +got):\n%s", diff)
	}
}
