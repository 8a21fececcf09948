package turn

import (
	"context"
	"sync"
)

// writers are those who are about to write records of members: turns until they are recorded, triggers until they are
// claimed and stored. The zero value has none. It is safe for concurrent use.
type writers struct {
	mu sync.Mutex
	of map[string]*writing
}

// writing are the writers of one member.
type writing struct {
	n    int
	done chan struct{}
}

// begin notes a writer until end is called.
func (w *writers) begin(memberID string) (end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	x, ok := w.of[memberID]
	if !ok {
		if w.of == nil {
			w.of = map[string]*writing{}
		}
		x = &writing{done: make(chan struct{})}
		w.of[memberID] = x
	}
	x.n++
	return sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if x.n--; x.n > 0 {
			return
		}
		close(x.done)
		if w.of[memberID] == x {
			delete(w.of, memberID)
		}
	})
}

// members is how many members have writers.
func (w *writers) members() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.of)
}

// wait returns when all who write by now have ended; who begins later is not waited for.
func (w *writers) wait(ctx context.Context, memberID string) error {
	w.mu.Lock()
	x, ok := w.of[memberID]
	delete(w.of, memberID)
	w.mu.Unlock()
	if !ok {
		return nil
	}
	select {
	case <-x.done:
		return nil
	case <-ctx.Done():
		w.mu.Lock()
		defer w.mu.Unlock()
		if _, ok := w.of[memberID]; !ok { // whoever asks again waits for it too
			w.of[memberID] = x
		}
		return context.Cause(ctx)
	}
}
