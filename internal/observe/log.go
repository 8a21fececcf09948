// Package observe is how the process is seen from outside: its log, which never shows a secret, and its counters.
// It knows nothing of the packages that use it; they get loggers, functions and counters handed in.
package observe

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/mattn/go-isatty"
	"github.com/rs/zerolog"
)

// timeLayout is RFC 3339 with milliseconds, always in UTC.
const timeLayout = "2006-01-02T15:04:05.000Z07:00"

// LogConfig says where and how the log is written.
type LogConfig struct {
	// Output takes the lines. Each line is one Write; concurrent writes are serialised.
	Output io.Writer
	// Level is debug, info, warn or error.
	Level string
	// Format is json, console, or auto: console when Output is a terminal.
	Format string
	// Redactor cleans each line; nil cleans shapes only.
	Redactor *Redactor
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// NewLogger returns the process's logger. Nothing reaches Output before the redactor has seen it.
func NewLogger(c LogConfig) (zerolog.Logger, error) {
	level, err := zerolog.ParseLevel(c.Level)
	if err != nil || c.Level == "" {
		return zerolog.Nop(), fmt.Errorf("make the logger: level %q is unknown", c.Level)
	}
	if c.Redactor == nil {
		c.Redactor = NewRedactor()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	out := c.Output
	switch c.Format {
	case "json":
	case "console":
		out = console(c.Output)
	case "auto":
		if isTerminal(c.Output) {
			out = console(c.Output)
		}
	default:
		return zerolog.Nop(), fmt.Errorf("make the logger: format %q is unknown", c.Format)
	}
	// The line is cleaned while it is still JSON, so that every form gets the same cleaning.
	clean := zerolog.SyncWriter(&redactingWriter{next: out, redactor: c.Redactor})
	return zerolog.New(clean).Level(level).Hook(stamp(c.Now)), nil
}

// TurnLogger returns the logger of one turn: every line carries the turn's ids.
func TurnLogger(base zerolog.Logger, turn, channel, guild string) zerolog.Logger {
	ctx := base.With().Str("turn", turn).Str("channel", channel)
	if guild != "" {
		ctx = ctx.Str("guild", guild)
	}
	return ctx.Logger()
}

// stamp adds the time as a hook, since zerolog's own time format is global state.
func stamp(now func() time.Time) zerolog.HookFunc {
	return func(e *zerolog.Event, _ zerolog.Level, _ string) {
		e.Str(zerolog.TimestampFieldName, now().UTC().Format(timeLayout))
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// console renders lines for people. Members choose some of what is logged, so control characters are made visible:
// a message must not move the cursor of the operator's terminal.
func console(out io.Writer) zerolog.ConsoleWriter {
	return zerolog.ConsoleWriter{
		Out:        out,
		NoColor:    !isTerminal(out) || os.Getenv("NO_COLOR") != "",
		PartsOrder: []string{zerolog.TimestampFieldName, zerolog.LevelFieldName, zerolog.MessageFieldName},
		FormatTimestamp: func(v any) string {
			s, _ := v.(string)
			if at, err := time.Parse(timeLayout, s); err == nil {
				return at.Local().Format("15:04:05.000")
			}
			return s
		},
		FormatMessage: func(v any) string {
			s, _ := v.(string)
			return printable(s)
		},
	}
}

func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

type redactingWriter struct {
	next     io.Writer
	redactor *Redactor
}

// Write reports len(p) on success: a cleaned line may be shorter, and that is no short write.
func (w *redactingWriter) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.next, w.redactor.Clean(string(p))); err != nil {
		return 0, fmt.Errorf("write a log line: %w", err)
	}
	return len(p), nil
}
