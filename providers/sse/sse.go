// Package sse reads a stream of server-sent events byte by byte. It is stricter than the SDKs' readers about losing
// nothing (a last event without a blank line, lone carriage returns, a byte order mark, a rune split between reads) and
// about its own limits.
package sse

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// The default limits.
const (
	MaxLine  = 4 << 20
	MaxEvent = 8 << 20
	MaxBody  = 64 << 20
)

// What Next may answer besides io.EOF and the errors of the source.
var (
	// ErrTruncated means that the stream ended inside an event.
	ErrTruncated = errors.New("stream ended inside an event")
	// ErrLineTooLong means that a line is over the limit.
	ErrLineTooLong = errors.New("line too long")
	// ErrEventTooLong means that the data lines of an event are over the limit together.
	ErrEventTooLong = errors.New("event too long")
	// ErrBodyTooLong means that the whole stream is over the limit.
	ErrBodyTooLong = errors.New("stream too long")
)

// Event is one event, or a sign of life between events.
type Event struct {
	// Name is the event's name; "" when it has none.
	Name string
	// Data is the joined data. It is valid until the next call of Next.
	Data []byte
	// Beat marks a comment: nothing was said, but the stream is alive.
	Beat bool
}

// Limits bound a stream in bytes; a zero field takes the default.
type Limits struct{ Line, Event, Body int }

// Reader reads events from a byte stream. It is not safe for concurrent use.
type Reader struct {
	source io.Reader
	limits Limits

	// buf[from:to] was read and not consumed; buf[from:seen] holds no line end.
	buf            []byte
	from, seen, to int
	total          int
	started        bool
	// skipLF swallows the line feed of a CRLF, so that a carriage return can end its line at once.
	skipLF bool

	name    string
	data    []byte
	hasData bool
	// failed is the source's error, ended the reader's own.
	failed, ended error
}

const readSize = 16 << 10

// NewReader returns a reader of source.
func NewReader(source io.Reader, limits Limits) *Reader {
	if limits.Line == 0 {
		limits.Line = MaxLine
	}
	if limits.Event == 0 {
		limits.Event = MaxEvent
	}
	if limits.Body == 0 {
		limits.Body = MaxBody
	}
	return &Reader{source: source, limits: limits}
}

// Next returns the next event. At the end of the stream it returns io.EOF, or ErrTruncated when the stream ended inside
// an event. An unfinished last event counts when its data is complete JSON or [DONE]: many servers leave the last blank
// line out. Errors are final.
func (r *Reader) Next() (Event, error) {
	for r.ended == nil {
		line, err := r.line()
		if err != nil {
			return r.finish(line, err)
		}
		e, ok, err := r.field(line)
		if err != nil {
			r.ended = err
		} else if ok {
			return e, nil
		}
	}
	return Event{}, r.ended
}

// finish handles the end of the stream for whatever reason; rest is a last line without an end.
func (r *Reader) finish(rest []byte, err error) (Event, error) {
	r.ended = err
	if len(rest) > 0 {
		if _, _, err := r.field(rest); err != nil {
			r.ended = err
			return Event{}, err
		}
	}
	if !r.hasData {
		return Event{}, r.ended
	}
	if e := r.dispatch(); bytes.Equal(bytes.TrimSpace(e.Data), done) || json.Valid(e.Data) {
		return e, nil
	}
	if errors.Is(err, io.EOF) {
		r.ended = ErrTruncated
	}
	return Event{}, r.ended
}

var done = []byte("[DONE]")

// field applies one line; ok is true when that completes an event or is a beat.
func (r *Reader) field(line []byte) (e Event, ok bool, err error) {
	if len(line) == 0 {
		if !r.hasData {
			r.name = ""
			return Event{}, false, nil
		}
		return r.dispatch(), true, nil
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	if len(name) == 0 {
		return Event{Beat: true}, true, nil
	}
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		r.name = string(value)
	case "data":
		if len(r.data)+len(value) > r.limits.Event {
			return Event{}, false, fmt.Errorf("%w: over %d bytes", ErrEventTooLong, r.limits.Event)
		}
		if r.hasData {
			r.data = append(r.data, '\n')
		}
		r.data = append(r.data, value...)
		r.hasData = true
	}
	return Event{}, false, nil
}

func (r *Reader) dispatch() Event {
	e := Event{Name: r.name, Data: r.data}
	r.name, r.data, r.hasData = "", r.data[:0], false
	return e
}

// line returns the next line without its end. With an error it returns what is left of the stream.
func (r *Reader) line() ([]byte, error) {
	for {
		line, whole := r.buffered()
		if len(line) > r.limits.Line {
			return nil, fmt.Errorf("%w: over %d bytes", ErrLineTooLong, r.limits.Line)
		}
		if whole {
			return r.withoutBOM(line), nil
		}
		if err := r.read(); err != nil {
			return r.withoutBOM(r.buf[r.from:r.to]), err
		}
	}
}

// buffered cuts a line off the bytes at hand; whole is false when its end is not among them yet.
func (r *Reader) buffered() (line []byte, whole bool) {
	if r.skipLF && r.from < r.to {
		r.skipLF = false
		if r.buf[r.from] == '\n' {
			r.from++
			r.seen = r.from
		}
	}
	fresh := r.buf[r.seen:r.to]
	end := bytes.IndexByte(fresh, '\n')
	if end >= 0 {
		fresh = fresh[:end]
	}
	if cr := bytes.IndexByte(fresh, '\r'); cr >= 0 {
		end, r.skipLF = cr, true
	}
	if end < 0 {
		r.seen = r.to
		return r.buf[r.from:r.to], false
	}
	line = r.buf[r.from : r.seen+end]
	r.from = r.seen + end + 1
	r.seen = r.from
	return line, true
}

// read gets more bytes, making room first.
func (r *Reader) read() error {
	switch {
	case r.from == r.to:
		r.from, r.seen, r.to = 0, 0, 0
	case r.from > 0 && len(r.buf)-r.to < readSize/2:
		copy(r.buf, r.buf[r.from:r.to])
		r.seen, r.to, r.from = r.seen-r.from, r.to-r.from, 0
	}
	if len(r.buf)-r.to < readSize/2 {
		grown := make([]byte, max(readSize, 2*len(r.buf)))
		copy(grown, r.buf[:r.to])
		r.buf = grown
	}
	// Never reading past the limit keeps what is delivered before the error independent of how the bytes arrive.
	room := r.buf[r.to:]
	left := r.limits.Body - r.total
	if left == 0 {
		room = make([]byte, 1)
	} else if len(room) > left {
		room = room[:left]
	}
	n, err := r.readSome(room)
	if n > 0 && left == 0 {
		return fmt.Errorf("%w: over %d bytes", ErrBodyTooLong, r.limits.Body)
	}
	r.to += n
	r.total += n
	return err
}

// readSome reads at least one byte or answers the source's error, which it keeps when it came along with bytes.
func (r *Reader) readSome(room []byte) (int, error) {
	const emptyReads = 100
	for range emptyReads {
		if r.failed != nil {
			return 0, r.failed
		}
		var n int
		if n, r.failed = r.source.Read(room); n > 0 {
			return n, nil
		}
	}
	return 0, io.ErrNoProgress
}

// withoutBOM drops one byte order mark at the very start of the stream.
func (r *Reader) withoutBOM(line []byte) []byte {
	if !r.started {
		r.started = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	return line
}
