package observe

import (
	"context"
	"log/slog"
	"slices"

	"github.com/rs/zerolog"
)

// NewSlogHandler returns a handler that writes slog records, which is what the vendors' libraries speak, to a zerolog
// logger. Groups become dotted prefixes. The time of a line is the logger's own, not the record's.
func NewSlogHandler(logger zerolog.Logger) slog.Handler {
	return slogHandler{logger: logger}
}

type slogHandler struct {
	logger zerolog.Logger
	prefix string      // open groups, each followed by a dot
	attrs  []slog.Attr // keys already prefixed, values resolved
}

func (h slogHandler) Enabled(_ context.Context, level slog.Level) bool {
	return zerologLevel(level) >= h.logger.GetLevel()
}

func (h slogHandler) Handle(_ context.Context, r slog.Record) error {
	attrs := slices.Clone(h.attrs)
	r.Attrs(func(a slog.Attr) bool {
		attrs = flatten(attrs, h.prefix, a)
		return true
	})
	e := h.logger.WithLevel(zerologLevel(r.Level))
	for _, a := range attrs {
		write(e, a)
	}
	e.Msg(r.Message)
	return nil
}

func (h slogHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	h.attrs = slices.Clone(h.attrs)
	for _, a := range attrs {
		h.attrs = flatten(h.attrs, h.prefix, a)
	}
	return h
}

func (h slogHandler) WithGroup(name string) slog.Handler {
	if name != "" {
		h.prefix += name + "."
	}
	return h
}

// flatten appends a, and what it groups, with prefixed keys and resolved values.
func flatten(to []slog.Attr, prefix string, a slog.Attr) []slog.Attr {
	value := a.Value.Resolve()
	if value.Kind() != slog.KindGroup {
		if a.Key == "" && value.Any() == nil {
			return to
		}
		return append(to, slog.Attr{Key: prefix + a.Key, Value: value})
	}
	if a.Key != "" {
		prefix += a.Key + "."
	}
	for _, inner := range value.Group() {
		to = flatten(to, prefix, inner)
	}
	return to
}

func write(e *zerolog.Event, a slog.Attr) {
	switch a.Value.Kind() {
	case slog.KindString:
		e.Str(a.Key, a.Value.String())
	case slog.KindInt64:
		e.Int64(a.Key, a.Value.Int64())
	case slog.KindUint64:
		e.Uint64(a.Key, a.Value.Uint64())
	case slog.KindFloat64:
		e.Float64(a.Key, a.Value.Float64())
	case slog.KindBool:
		e.Bool(a.Key, a.Value.Bool())
	case slog.KindDuration:
		e.Str(a.Key, a.Value.Duration().String())
	case slog.KindTime:
		e.Str(a.Key, a.Value.Time().UTC().Format(timeLayout))
	case slog.KindAny, slog.KindGroup, slog.KindLogValuer: // the last two are gone after flatten
		if err, ok := a.Value.Any().(error); ok {
			e.Str(a.Key, err.Error())
			return
		}
		e.Interface(a.Key, a.Value.Any())
	}
}

func zerologLevel(l slog.Level) zerolog.Level {
	switch {
	case l >= slog.LevelError:
		return zerolog.ErrorLevel
	case l >= slog.LevelWarn:
		return zerolog.WarnLevel
	case l >= slog.LevelInfo:
		return zerolog.InfoLevel
	default:
		return zerolog.DebugLevel
	}
}
