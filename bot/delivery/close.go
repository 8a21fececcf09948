package delivery

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// maxState bounds the closing line. With its mark it fits between the planned
// size of a message and Discord's limit of 2,000.
const maxState = 40

// Close ends the delivery on every path. After a successful [Streamer.Finish] it
// only waits for what still runs. Otherwise it stops what is being sent, and
// marks a message that stands unfinished in the channel with state as its last
// line (default "stopped"), under a short deadline of its own, since ctx is
// usually the one that was killed. Text that was never shown stays unsent. Later
// calls do nothing.
func (s *Streamer) Close(ctx context.Context, state string) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed, s.ended = true, true
	s.mu.Unlock()

	s.typing.stop()
	s.cancel(ErrClosed)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	select {
	case <-s.stopped:
	case <-ctx.Done():
		return fmt.Errorf("close delivery: a request ignores its end: %w", ctx.Err())
	}
	queue, _ := s.take()
	s.w.absorb(queue)
	if err := s.w.close(ctx, state); err != nil {
		return fmt.Errorf("close delivery: %w", err)
	}
	if !s.typing.wait(ctx) {
		return fmt.Errorf("close delivery: typing ignores its end: %w", ctx.Err())
	}
	return nil
}

// absorb takes over the text that arrived before the end, so that the closing
// edit shows it.
func (w *writer) absorb(queue []event) {
	for _, e := range queue {
		if e.kind != eventText {
			return
		}
		w.append(e.text.String())
	}
}

// close marks what is unfinished and removes the progress line, or turns it into
// the mark when there is nothing else to carry it.
func (w *writer) close(ctx context.Context, state string) error {
	if w.dead != nil { // told already
		return nil //nolint:nilerr // see above
	}
	if state = oneLine(state, maxState); state == "" {
		state = "stopped"
	}
	mark := subtextMark + state
	var marked bool
	var errs []error
	if !w.whole {
		var err error
		if marked, err = w.markText(ctx, mark); err != nil {
			errs = append(errs, err)
		}
	}
	if p := w.progress.slot; p != nil && (p.id != "" || p.unsure) {
		errs = append(errs, w.closeProgress(ctx, p, mark, w.whole || marked))
	}
	return errors.Join(errs...)
}

// closeProgress removes the progress line, or makes it the mark.
func (w *writer) closeProgress(ctx context.Context, p *slot, mark string, remove bool) error {
	if remove && p.id != "" && w.delete(ctx, p) == nil {
		return nil
	}
	if err := w.settle(ctx, p, mark); err != nil {
		return err
	}
	if remove && p.id != "" {
		return w.delete(ctx, p)
	}
	return nil
}

// markText puts the mark below the last message of an unfinished iteration.
func (w *writer) markText(ctx context.Context, mark string) (marked bool, err error) {
	for _, it := range slices.Backward(w.iterations) {
		if len(it.slots) == 0 {
			continue
		}
		s := it.slots[len(it.slots)-1]
		if s.id == "" && !s.unsure {
			continue
		}
		m, more := Message{Content: s.content}, false
		if it.live {
			m, more = it.plan.head(it.text.String())
		}
		if m.Content == "" {
			m.Content = mark
		} else {
			m.Content += "\n" + mark
		}
		if err := w.settle(ctx, s, m.Content); err != nil {
			return false, err
		}
		if more && s.id != "" {
			w.record(it, s, m)
		}
		return s.id != "", nil
	}
	return false, nil
}

// settle gives a message its last content. One whose creation was interrupted
// is created under the same nonce first, which finds it if it exists: otherwise
// it would stand there unfinished for ever.
func (w *writer) settle(ctx context.Context, s *slot, content string) error {
	m := Message{Content: content}
	if s.id == "" {
		return w.create(ctx, s, m)
	}
	err := w.edit(ctx, s, m)
	if errors.Is(err, ErrUnknownMessage) {
		s.id = ""
		w.ledger.remove(s.entry)
		return nil
	}
	return err
}
