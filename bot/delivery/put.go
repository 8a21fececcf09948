package delivery

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"
)

// put makes m what the live message of it shows, or a new message if there is
// none. The message stays live, so that after an error the next put continues
// where this one failed.
func (w *writer) put(ctx context.Context, it *iteration, m Message) error {
	if w.dead != nil {
		return w.dead
	}
	if !it.live {
		it.slots = append(it.slots, w.newSlot(it))
		it.live = true
	}
	s := it.slots[len(it.slots)-1]
	if s.id != "" && s.content == m.Content && len(m.Files) == 0 {
		w.record(it, s, m)
		return nil
	}
	var err error
	if s.id != "" {
		err = w.edit(ctx, s, m)
		if errors.Is(err, ErrUnknownMessage) { // somebody deleted it
			s.id = ""
		}
	}
	if s.id == "" {
		err = w.create(ctx, s, m)
	}
	if err != nil {
		return err
	}
	w.record(it, s, m)
	return nil
}

func (w *writer) newSlot(it *iteration) *slot {
	s := &slot{silent: len(it.slots) > 0}
	if w.first == nil && w.cfg.ReplyTo != "" {
		s.reply, w.first = true, s
	}
	return s
}

// record enters in the ledger what s shows. The newline or space dropped at the
// cut counts as shown: the end of the message stands for it.
func (w *writer) record(it *iteration, s *slot, m Message) {
	text := it.text.String()
	shown := text[m.start:min(max(m.end, m.next), len(text))]
	if len(m.Files) > 0 {
		shown = text[m.start:]
	}
	s.entry = w.ledger.set(s.entry, s.id, shown, it.number)
}

func (w *writer) create(ctx context.Context, s *slot, m Message) error {
	again := s.unsure
	if s.nonce == "" {
		s.nonce = rand.Text()[:25] // Discord's limit
	}
	out := Outgoing{Content: m.Content, Files: m.Files, Nonce: s.nonce, Silent: s.silent}
	if s.reply {
		out.ReplyTo, out.PingReplied = w.cfg.ReplyTo, w.cfg.PingReplied && !w.pinged
	}
	id, err := w.port.Create(ctx, out)
	if errors.Is(err, ErrUnknownMessage) && s.reply {
		s.reply, out.ReplyTo, out.PingReplied = false, "", false // the question is gone, the answer isn't
		id, err = w.port.Create(ctx, out)
	}
	w.last = time.Now()
	if err != nil {
		s.unsure = true
		return w.fail(fmt.Errorf("create message: %w", err))
	}
	s.id, s.nonce, s.content, s.unsure = id, "", m.Content, false
	w.pinged = w.pinged || out.PingReplied
	w.shown++
	if again {
		// The earlier attempt may have reached Discord after all, which then
		// answers this one with that message and its older text.
		return w.edit(ctx, s, m)
	}
	return nil
}

func (w *writer) edit(ctx context.Context, s *slot, m Message) error {
	s.content = "" // unknown until the edit is answered
	err := w.port.Edit(ctx, s.id, Outgoing{Content: m.Content, Files: m.Files})
	w.last = time.Now()
	if err != nil {
		return w.fail(fmt.Errorf("edit message: %w", err))
	}
	s.content = m.Content
	return nil
}

// delete removes the message of s; one that is gone already is no error.
func (w *writer) delete(ctx context.Context, s *slot) error {
	if w.dead != nil {
		return w.dead
	}
	err := w.port.Delete(ctx, s.id)
	w.last = time.Now()
	if err != nil && !errors.Is(err, ErrUnknownMessage) {
		return w.fail(fmt.Errorf("delete message: %w", err))
	}
	s.id = ""
	return nil
}

// fail notes an error after which nothing more can be sent, and tells once.
func (w *writer) fail(err error) error {
	if fatal(err) && w.dead == nil {
		w.dead = err
		w.quiet()
		if w.cfg.Lost != nil {
			w.cfg.Lost(err)
		}
	}
	return err
}
