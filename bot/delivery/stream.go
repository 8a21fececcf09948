package delivery

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Mode says how an answer appears while it is being written.
type Mode string

const (
	// ModeEdit shows one growing message, edited in place, and the next one when
	// that is full.
	ModeEdit Mode = "edit"
	// ModeMessages sends a message per finished paragraph.
	ModeMessages Mode = "messages"
	// ModeFinal sends everything at the end.
	ModeFinal Mode = "final"
)

const (
	// DefaultPace is the time between two visible changes in a channel.
	DefaultPace = 1200 * time.Millisecond
	// maxText bounds the text of one turn, in bytes; a file of it still fits
	// Discord's upload limit.
	maxText = 8 << 20
	// maxMessages bounds the messages of one turn over all its iterations; after
	// that each iteration has one, with a file.
	maxMessages = 40
	// closeTimeout bounds the closing mark after a kill.
	closeTimeout = 3 * time.Second
)

// ErrClosed is what a call reports that came, or was still running, when the
// Streamer was closed.
var ErrClosed = errors.New("delivery closed")

// Config is what a [Streamer] is made of.
type Config struct {
	Port   Port
	Mode   Mode   // default ModeEdit
	Limits Limits // per iteration; Mode decides about Paragraphs

	// Pace is the time between two visible changes while text streams, and the
	// time before the first one. Default [DefaultPace].
	Pace time.Duration
	// ReplyTo is the message that is answered, empty for none.
	ReplyTo string
	// PingReplied lets the first message mention its author.
	PingReplied bool
	// NoTyping leaves the typing indicator off.
	NoTyping bool
	// Lost, if set, is called at most once, from the Streamer's goroutine, when
	// the channel turns out to be gone or closed to the bot: nothing more will be
	// sent. It must not block or call the Streamer.
	Lost func(error)
}

// Delivery is what stands in the channel.
type Delivery struct {
	// IDs are the messages that show the answer, in order.
	IDs []string
	// Text is the part of the answer that they and their files show.
	Text string
	// Complete says that Finish delivered all of it.
	Complete bool
}

// Streamer owns the visible messages of one turn. [Streamer.Append],
// [Streamer.Boundary] and [Streamer.Progress] never block; one goroutine does
// the sending, in the order of the calls. All methods are safe for concurrent
// use.
//
// [Streamer.Close] must be called in the end on every path, best deferred;
// after a successful [Streamer.Finish] it does nothing more.
type Streamer struct {
	w      *writer // the goroutine's; Close takes it over after stopped
	cancel context.CancelCauseFunc
	typing *typing

	wake    chan struct{}
	stopped chan struct{} // closed when the goroutine has ended

	mu     sync.Mutex
	queue  []event
	bytes  int  // text accepted so far
	lost   int  // text refused because of maxText
	timed  bool // a timer will look at the queue: text need not wake the goroutine
	ended  bool // Finish or Close was called
	closed bool
}

// event is one call, on its way to the goroutine.
type event struct {
	kind eventKind
	text *strings.Builder // of eventText
	line string           // of eventProgress
	done chan<- error     // of eventFlush, eventRetract and eventFinish; has room for one
}

type eventKind int

const (
	eventText eventKind = iota
	eventBoundary
	eventProgress
	eventFlush
	eventRetract
	eventFinish
)

// Start begins the delivery of one turn and shows typing soon. When ctx ends
// nothing more is sent but the closing mark of [Streamer.Close].
func Start(ctx context.Context, cfg Config) *Streamer {
	if cfg.Mode == "" {
		cfg.Mode = ModeEdit
	}
	if cfg.Pace <= 0 {
		cfg.Pace = DefaultPace
	}
	cfg.Limits = cfg.Limits.withDefaults()
	cfg.Limits.Paragraphs = cfg.Mode == ModeMessages

	ctx, cancel := context.WithCancelCause(ctx)
	s := &Streamer{
		cancel:  cancel,
		typing:  newTyping(ctx, cfg),
		wake:    make(chan struct{}, 1),
		stopped: make(chan struct{}),
	}
	s.w = newWriter(cfg, s.typing.stop)
	go s.run(ctx)
	return s
}

// Append adds text to the answer. It never blocks.
func (s *Streamer) Append(delta string) {
	if delta == "" {
		return
	}
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return
	}
	if s.bytes+len(delta) > maxText || s.lost > 0 {
		s.lost += len(delta)
		s.mu.Unlock()
		return
	}
	s.bytes += len(delta)
	if n := len(s.queue); n == 0 || s.queue[n-1].kind != eventText {
		s.queue = append(s.queue, event{kind: eventText, text: new(strings.Builder)})
	}
	s.queue[len(s.queue)-1].text.WriteString(delta)
	sleeping := !s.timed
	s.mu.Unlock()
	if sleeping {
		s.signal()
	}
}

// Boundary ends an iteration: its text is shown as it is, without waiting for
// the pace, and what follows begins a new message. It never blocks.
func (s *Streamer) Boundary() {
	s.push(event{kind: eventBoundary})
}

// Flush is Boundary, and waits until what was to be shown is there, so that
// something else can be sent below it. It fails only with ctx or after the end.
func (s *Streamer) Flush(ctx context.Context) error {
	s.Boundary()
	done := make(chan error, 1)
	if !s.push(event{kind: eventFlush, done: done}) {
		return fmt.Errorf("flush: %w", ErrClosed)
	}
	if err := s.wait(ctx, done); err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	return nil
}

// Progress shows line as one quiet line below the answer while tools run, in
// place of the one before. It appears after one pace, and goes when text follows
// or line is empty. Markdown in line is the caller's; see [Name]. It never blocks.
func (s *Streamer) Progress(line string) {
	s.push(event{kind: eventProgress, line: line})
}

// Retract removes the text of the current iteration from the channel and from
// the answer; earlier iterations stay. It reports what could not be removed.
func (s *Streamer) Retract(ctx context.Context) error {
	done := make(chan error, 1)
	if !s.push(event{kind: eventRetract, done: done}) {
		return fmt.Errorf("retract: %w", ErrClosed)
	}
	if err := s.wait(ctx, done); err != nil {
		return fmt.Errorf("retract: %w", err)
	}
	return nil
}

// Finish delivers the whole answer without waiting for the pace, and ends typing
// and progress. An error means that not all of it is there; [Streamer.Delivered]
// says what is.
func (s *Streamer) Finish(ctx context.Context) error {
	s.typing.stop()
	done := make(chan error, 1)
	if !s.push(event{kind: eventFinish, done: done}) {
		return fmt.Errorf("finish: %w", ErrClosed)
	}
	err := s.wait(ctx, done)
	if cause := context.Cause(ctx); cause != nil {
		s.cancel(cause) // a flush that is still running must end too
	}
	if err != nil {
		return fmt.Errorf("finish: %w", err)
	}
	<-s.stopped
	s.typing.wait(ctx) // so that no indicator appears after the end
	return nil
}

// Delivered returns what stands in the channel now.
func (s *Streamer) Delivered() Delivery { return s.w.ledger.delivery() }

// wait waits for the answer to an event.
func (s *Streamer) wait(ctx context.Context, done <-chan error) error {
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.stopped:
	}
	select {
	case err := <-done: // it was answered last
		return err
	default:
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause // why the goroutine has ended, most likely
	}
	return ErrClosed
}

// push queues an event and reports false when the Streamer has ended.
func (s *Streamer) push(e event) bool {
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return false
	}
	s.ended = e.kind == eventFinish
	n := len(s.queue)
	switch {
	case n > 0 && e.kind == eventProgress && s.queue[n-1].kind == eventProgress:
		s.queue[n-1] = e
	case n > 0 && e.kind == eventBoundary && s.queue[n-1].kind == eventBoundary:
	default:
		s.queue = append(s.queue, e)
	}
	s.mu.Unlock()
	s.signal()
	return true
}

func (s *Streamer) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// take empties the queue.
func (s *Streamer) take() (queue []event, lost int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	queue, s.queue, s.timed = s.queue, nil, false
	return queue, s.lost
}

// sleep reports whether the goroutine may wait. timed says that it has a timer for text.
func (s *Streamer) sleep(timed bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) > 0 {
		return false
	}
	s.timed = timed
	return true
}

// run is the goroutine that owns the visible messages.
func (s *Streamer) run(ctx context.Context) {
	defer close(s.stopped)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		queue, lost := s.take()
		s.w.lost = lost
		for i, e := range queue {
			if ctx.Err() != nil {
				s.w.absorb(queue[i:])
				return
			}
			if s.w.handle(ctx, e) {
				return
			}
		}
		if ctx.Err() != nil {
			return
		}
		due, timed := s.w.due()
		wait := time.Until(due)
		if timed && wait <= 0 {
			s.w.step(ctx)
			continue
		}
		_, text := s.w.textDue()
		if !s.sleep(timed && text) {
			continue
		}
		var tick <-chan time.Time
		if timed {
			timer.Reset(wait)
			tick = timer.C
		}
		select {
		case <-s.wake:
		case <-tick:
		case <-ctx.Done():
			return
		}
	}
}
