package turn

import (
	"context"

	"github.com/parleybot/parley/internal/abort"
)

// Drain stops the intake, lets running turns finish until ctx ends, then ends the rest as interrupted and waits for
// them. Waiting triggers are stored for the next start. Nothing answers after it has returned.
func (m *Manager) Drain(ctx context.Context) {
	m.mu.Lock()
	m.stopping = true
	m.wishes.stop()
	for _, w := range m.workers {
		m.deliver(w, (*worker).drain)
	}
	m.mu.Unlock()
	idle := make(chan struct{})
	go func() { m.owned.Wait(); close(idle) }()
	select {
	case <-idle:
	case <-ctx.Done():
		m.interruptAll()
		<-idle
	}
	m.remove()
	m.cancel()
}

func (m *Manager) interruptAll() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, w := range m.workers {
		m.deliver(w, func(w *worker) {
			if w.running != nil {
				w.running.cancel(abort.Shutdown{})
			}
		})
	}
}

// drain lets nothing start any more and keeps what waits for the next process. What is just being claimed is kept when
// the claim is known.
func (w *worker) drain() {
	w.draining = true
	for _, q := range w.waitingLine() {
		if q.ready {
			w.keep(q)
		}
	}
}

// keep stores a waiting trigger for the next start and lets go of it here.
func (w *worker) keep(q *queued) {
	w.drop(q)
	w.m.limiter.release(q.in)
	if !q.stored {
		in := q.in
		w.m.aside("keeping a trigger", func(ctx context.Context) error { return w.m.putWaiting(ctx, in, q.verdict) })
	}
	w.m.discarded(q.in, q.id, ReasonKept)
}
