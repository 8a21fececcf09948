package observe_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/parleybot/parley/internal/observe"
)

func atNoon() time.Time {
	return time.Date(2026, 3, 4, 13, 0, 0, 7_000_000, time.FixedZone("CET", 3600))
}

func newLogger(t *testing.T, c observe.LogConfig) (zerolog.Logger, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	c.Output, c.Now = &out, atNoon
	log, err := observe.NewLogger(c)
	if err != nil {
		t.Fatal(err)
	}
	return log, &out
}

func TestJSONLine(t *testing.T) {
	t.Parallel()
	// auto, and a buffer is no terminal
	log, out := newLogger(t, observe.LogConfig{Level: "info", Format: "auto", Redactor: observe.NewRedactor("hunter2")})
	turn := observe.TurnLogger(log, "t1", "c1", "")
	turn.Debug().Msg("below the level")
	turn.Info().Str("body", "key hunter2").Err(errors.New("refused hunter2")).Msg("turn.end")
	var got map[string]string
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	want := map[string]string{
		"level": "info", "turn": "t1", "channel": "c1", "body": "key [redacted]", "error": "refused [redacted]",
		"time": "2026-03-04T12:00:00.007Z", "message": "turn.end",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("line (-want +got):\n%s", diff)
	}
}

func TestConsoleLine(t *testing.T) {
	t.Parallel()
	log, out := newLogger(t, observe.LogConfig{Level: "debug", Format: "console", Redactor: observe.NewRedactor("hunter2")})
	log.Info().Str("who", "\x1b[31mada\u202e").Msg("hi \x1b[2Jhunter2\nforged line")
	got := out.String()
	if strings.ContainsAny(strings.TrimSuffix(got, "\n"), "\x1b\n") {
		t.Errorf("control characters reach the terminal: %q", got)
	}
	if !strings.Contains(got, "hi \ufffd[2J[redacted]\ufffdforged line") {
		t.Errorf("line = %q, want the message cleaned and printable", got)
	}
}

func TestLoggerRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	for _, c := range []observe.LogConfig{{Level: "loud", Format: "json"}, {Level: "", Format: "json"}, {Level: "info", Format: "xml"}} {
		c.Output = new(bytes.Buffer)
		if _, err := observe.NewLogger(c); err == nil {
			t.Errorf("NewLogger(level %q, format %q) was accepted", c.Level, c.Format)
		}
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

// zerolog reports a failed write on standard error and goes on; a log that can't be written must not stop a turn.
func TestBrokenOutputDoesNotPanic(t *testing.T) {
	t.Parallel()
	log, err := observe.NewLogger(observe.LogConfig{Output: brokenWriter{}, Level: "info", Format: "json"})
	if err != nil {
		t.Fatal(err)
	}
	log.Info().Msg("lost")
}
