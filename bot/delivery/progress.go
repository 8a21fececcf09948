package delivery

import (
	"context"
	"errors"
	"time"
)

const (
	subtextMark = "-# "
	// maxLine bounds a progress line, in UTF-16 units.
	maxLine = 200
)

// progress is the one quiet line that says what the tools are doing. It is a
// message of its own below the answer.
type progress struct {
	slot   *slot
	wanted string
	since  time.Time // when a line was first wanted
}

// want sets the line; empty for none. Nothing is sent yet.
func (p *progress) want(line string) {
	if line = oneLine(line, maxLine); line != "" {
		line = subtextMark + line
	}
	if p.wanted == "" {
		p.since = time.Now()
	}
	p.wanted = line
}

// due reports whether the channel doesn't show what is wanted, and since when.
func (p *progress) due() (since time.Time, ok bool) {
	switch {
	case p.slot == nil:
		return p.since, p.wanted != "" // a quick tool needs no line
	case p.slot.content != p.wanted:
		return time.Time{}, true
	}
	return time.Time{}, false
}

// showProgress brings the line up to date. One that fails to appear is no loss;
// the next one tries again.
func (w *writer) showProgress(ctx context.Context) {
	p := &w.progress
	switch {
	case w.dead != nil:
	case p.wanted == "":
		w.clearProgress(ctx)
	case p.slot == nil || p.slot.id == "":
		if p.slot == nil {
			p.slot = &slot{silent: true}
		}
		_ = w.create(ctx, p.slot, Message{Content: p.wanted})
		p.slot.content = p.wanted
	case p.slot.content != p.wanted:
		if err := w.edit(ctx, p.slot, Message{Content: p.wanted}); errors.Is(err, ErrUnknownMessage) {
			p.slot = nil
			return
		}
		p.slot.content = p.wanted
	}
}

// clearProgress removes the line when none is wanted. A failure leaves it to the
// next change, at last to close.
func (w *writer) clearProgress(ctx context.Context) {
	p := &w.progress
	if p.wanted != "" || p.slot == nil {
		return
	}
	if p.slot.id == "" || w.delete(ctx, p.slot) == nil {
		p.slot = nil
	}
}
