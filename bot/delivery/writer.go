package delivery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// writer holds the visible messages of a turn. One goroutine at a time uses it.
type writer struct {
	port   Port
	cfg    Config
	ledger *ledger
	quiet  func() // ends typing

	iterations []*iteration // the last one is current; earlier ones only until they are shown
	count      int          // iterations begun
	shown      int          // messages created for the answer
	first      *slot        // the message that has, or had, the reply reference
	pinged     bool
	progress   progress
	lost       int // bytes of text the turn had too much

	last   time.Time // when the last change was made
	looked time.Time // when step last looked
	dead   error     // why nothing more can be sent
	whole  bool      // finish has delivered everything
}

// iteration is the text between two boundaries.
type iteration struct {
	number int
	text   strings.Builder
	clean  cleaner
	plan   cursor
	slots  []*slot // shown, in order
	live   bool    // the last slot will be edited again
	dirty  bool    // there is text step hasn't looked at
	ended  bool
	since  time.Time // when the first visible text came
}

// slot is the place of one physical message.
type slot struct {
	id      string // empty until created
	content string // as last sent
	nonce   string
	unsure  bool // a create failed that may have succeeded
	reply   bool
	silent  bool
	entry   *entry
}

func newWriter(cfg Config, quiet func()) *writer {
	w := &writer{port: cfg.Port, cfg: cfg, ledger: &ledger{}, quiet: quiet}
	w.begin()
	return w
}

func (w *writer) current() *iteration { return w.iterations[len(w.iterations)-1] }

func (w *writer) begin() {
	limits := w.cfg.Limits
	limits.Messages = max(1, min(limits.Messages, maxMessages-w.shown))
	w.iterations = append(w.iterations, &iteration{number: w.count, plan: newCursor(limits)})
	w.count++
}

// handle does what an event asks for and reports whether it was the last one.
func (w *writer) handle(ctx context.Context, e event) (last bool) {
	switch e.kind {
	case eventText:
		w.append(e.text.String())
	case eventBoundary:
		w.boundary(ctx)
	case eventFlush:
		e.done <- nil // everything before it has been handled
	case eventProgress:
		w.progress.want(e.line)
	case eventRetract:
		e.done <- w.retract(ctx)
	case eventFinish:
		e.done <- w.finish(ctx)
		return true
	}
	return false
}

func (w *writer) append(text string) {
	it := w.current()
	it.clean.write(&it.text, text)
	if it.since.IsZero() && !Blank(it.text.String()) {
		it.since = time.Now()
	}
	if !it.since.IsZero() {
		it.dirty = true
		w.progress.want("")
	}
}

// boundary shows the current iteration as it is and begins the next. What could
// not be shown is tried again before anything later, and reported by finish.
func (w *writer) boundary(ctx context.Context) {
	it := w.current()
	if it.since.IsZero() {
		return
	}
	it.clean.flush(&it.text)
	it.ended = true
	if w.cfg.Mode != ModeFinal {
		_ = w.flushEnded(ctx)
		w.clearProgress(ctx)
	}
	w.begin()
}

// flushEnded shows the rest of every iteration that has ended, in order.
func (w *writer) flushEnded(ctx context.Context) error {
	for len(w.iterations) > 0 && w.iterations[0].ended {
		it := w.iterations[0]
		for {
			before := it.plan
			m, ok := it.plan.next(it.text.String(), true)
			if !ok {
				break
			}
			if err := w.put(ctx, it, m); err != nil {
				it.plan = before
				return err
			}
			it.live = false
		}
		w.iterations = w.iterations[1:]
	}
	return nil
}

// finish shows everything that is not shown yet.
func (w *writer) finish(ctx context.Context) error {
	it := w.current()
	it.clean.flush(&it.text)
	if w.lost > 0 {
		fmt.Fprintf(&it.text, "\n[truncated %d bytes]", w.lost)
	}
	it.ended = true
	if err := w.flushEnded(ctx); err != nil {
		return err
	}
	if w.dead != nil {
		return w.dead
	}
	w.whole = true
	w.ledger.finish()
	w.progress.want("")
	w.clearProgress(ctx) // if it fails, close tries again
	return nil
}

// retract removes what the current iteration shows, last message first.
func (w *writer) retract(ctx context.Context) error {
	it := w.current()
	var failed []error
	for _, s := range slices.Backward(it.slots) {
		if err := w.withdraw(ctx, s); err != nil {
			failed = append(failed, err)
		}
	}
	w.progress.want("")
	w.clearProgress(ctx)
	w.iterations = w.iterations[:len(w.iterations)-1]
	w.begin()
	return errors.Join(failed...)
}

// withdraw deletes a message, or at least its text. A message whose creation was
// reported as failed is taken at that word.
func (w *writer) withdraw(ctx context.Context, s *slot) error {
	if s == w.first {
		w.first = nil
	}
	if s.id == "" {
		return nil
	}
	err := w.delete(ctx, s)
	if err == nil {
		w.ledger.remove(s.entry)
		return nil
	}
	if w.dead == nil && w.port.Edit(ctx, s.id, Outgoing{Content: withdrawnLine}) == nil {
		w.ledger.remove(s.entry)
		return nil
	}
	return err
}

const withdrawnLine = subtextMark + "withdrawn"

// due is when step should look next.
func (w *writer) due() (at time.Time, ok bool) {
	if w.dead != nil {
		return time.Time{}, false
	}
	next := latest(w.last.Add(w.cfg.Pace), w.looked.Add(w.cfg.Pace/8))
	if text, ok := w.textDue(); ok {
		return latest(next, text), true
	}
	if since, ok := w.progress.due(); ok {
		return latest(next, since.Add(w.cfg.Pace)), true
	}
	return time.Time{}, false
}

// textDue is the earliest time for text to be shown, whatever else was sent.
func (w *writer) textDue() (at time.Time, ok bool) {
	it := w.current()
	switch {
	case w.cfg.Mode == ModeFinal:
		return time.Time{}, false
	case w.iterations[0].ended:
		return time.Time{}, true
	case !it.dirty:
		return time.Time{}, false
	case len(it.slots) == 0:
		return it.since.Add(w.cfg.Pace), true // a short answer is complete by then, and needs one request
	}
	return time.Time{}, true
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// step makes one visible change, if there is one to make. Its errors are not
// reported: the same text comes again with the next step, and in the end with
// finish.
func (w *writer) step(ctx context.Context) {
	w.looked = time.Now()
	if _, ok := w.textDue(); !ok {
		w.showProgress(ctx)
		return
	}
	if w.iterations[0].ended {
		_ = w.flushEnded(ctx)
		return
	}
	if w.stepText(ctx) {
		w.clearProgress(ctx)
	}
}

// stepText shows what is new of the current iteration and reports whether it did.
func (w *writer) stepText(ctx context.Context) bool {
	it := w.current()
	before := it.plan
	if m, ok := it.plan.next(it.text.String(), false); ok {
		if err := w.put(ctx, it, m); err != nil {
			it.plan = before
			return false
		}
		it.live = false
		return true
	}
	it.dirty = false
	if w.cfg.Mode != ModeEdit {
		return false
	}
	m, ok := it.preview()
	if !ok {
		return false
	}
	if err := w.put(ctx, it, m); err != nil {
		it.dirty = true
		return false
	}
	return true
}

// maxHeldText is how much of a text a preview keeps back, in bytes, because it
// stands in a spoiler or parenthesis that isn't closed yet.
const maxHeldText = 400

// preview is the one message that shows the text from the cursor on for now.
func (it *iteration) preview() (Message, bool) {
	text := it.text.String()
	if limits := it.plan.limits; len(text)-it.plan.pos <= 4*limits.Units {
		block := fenceAt(text, it.plan.opener, limits.fenceLimit())
		open := unclosedAt(text, it.plan.pos, block, limits.fenceLimit())
		if len(open) > 0 && len(text)-open[0].at <= maxHeldText {
			text = text[:open[0].at]
		}
	}
	return it.plan.head(text)
}
