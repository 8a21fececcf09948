package playground

import (
	"fmt"
	"net/http"
	"time"

	"github.com/parleybot/parley/internal/discordsim"
)

const (
	// heartbeatEvery shows both ends that the other is there.
	heartbeatEvery = 15 * time.Second
	// writeWithin is how long one write to a page may take before the page counts as gone.
	writeWithin = 10 * time.Second
	// retryAfter is when a page that lost its connection tries again.
	retryAfter = 500 * time.Millisecond
)

// serveStream keeps one page up to date: with a snapshot first, unless the page says where it was and that is still
// known, then with what happens. A page that falls too far behind gets a new snapshot.
func (p *Playground) serveStream(w http.ResponseWriter, r *http.Request) {
	me := p.town.resident(discordsim.ID(r.URL.Query().Get("person")))
	w.Header().Set("Content-Type", "text/event-stream")
	s := &stream{p: p, w: w, out: http.NewResponseController(w), me: me}
	// The server's limit is for reading requests; hitting it later would look as if the page had left.
	if s.out.SetReadDeadline(time.Time{}) != nil {
		return
	}
	if !s.write(fmt.Sprintf("retry: %d\n\n", retryAfter.Milliseconds())) {
		return
	}
	seq, known := p.feed.parseID(r.Header.Get("Last-Event-ID"))
	if known {
		_, known, _ = p.feed.after(seq)
	}
	s.seq = seq
	if !known && !s.snapshot() {
		return
	}
	beat := time.NewTicker(heartbeatEvery)
	defer beat.Stop()
	for {
		notes, ok, changed := p.feed.after(s.seq)
		if !ok {
			if !s.snapshot() {
				return
			}
			continue
		}
		if !s.send(notes) {
			return
		}
		if len(notes) > 0 {
			continue
		}
		select {
		case <-changed:
		case <-beat.C:
			if !s.write(": still here\n\n") {
				return
			}
		case <-r.Context().Done():
			return
		}
	}
}

// stream is one page's connection.
type stream struct {
	p   *Playground
	w   http.ResponseWriter
	out *http.ResponseController
	me  resident
	// seq is the newest note the page knows; world the journal's line that its last snapshot contained.
	seq   uint64
	world int
}

func (s *stream) snapshot() bool {
	all, seq, world := s.p.snapshot(s.me)
	s.seq, s.world = seq, world
	return s.write(s.event("snapshot", seq, encode(all)))
}

// send passes on what the page may see and does not know.
func (s *stream) send(notes []note) bool {
	for _, n := range notes {
		s.seq = n.seq
		switch {
		case n.kind == noteWorld:
			if n.world == 0 || n.world > s.world {
				return s.snapshot()
			}
		case n.world != 0 && n.world <= s.world, n.only != "" && n.only != s.me.ID:
		case n.kind == noteChannels:
			if !s.channels(n) {
				return false
			}
		default:
			if !s.write(s.event(string(n.kind), n.seq, n.data)) {
				return false
			}
		}
	}
	return true
}

// channels tells which channels there are for this page's person.
func (s *stream) channels(n note) bool {
	var all []channel
	s.p.town.world().Look(func(v discordsim.View) { all = channelsOf(v, s.me) })
	return s.write(s.event(string(n.kind), n.seq, encode(map[string]any{"channels": all})))
}

func (s *stream) event(name string, seq uint64, data []byte) string {
	return fmt.Sprintf("id: %s\nevent: %s\ndata: %s\n\n", s.p.feed.id(seq), name, data)
}

// write reports whether the page is still there.
func (s *stream) write(text string) bool {
	if s.out.SetWriteDeadline(time.Now().Add(writeWithin)) != nil {
		return false
	}
	if _, err := s.w.Write([]byte(text)); err != nil {
		return false
	}
	return s.out.Flush() == nil
}
