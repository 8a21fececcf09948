package turn

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"
)

// ioTimeout bounds what is asked of a store or the edge beside a turn.
const ioTimeout = 5 * time.Second

// Goroutines of a manager are counted in owned, which Drain waits for. What comes from outside (an event, a command) may
// start one only before the draining began; what a counted goroutine starts is always waited for, since its own count is
// still held. post and aside are for the latter, offer and spawn for the former.

// offer runs a command on the channel's worker, starting it when the channel is idle; false when the process is ending.
// It never blocks.
func (m *Manager) offer(channelID string, command func(*worker)) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopping {
		return false
	}
	m.hand(channelID, command)
	return true
}

// post is offer for goroutines that are counted.
func (m *Manager) post(channelID string, command func(*worker)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hand(channelID, command)
}

func (m *Manager) hand(channelID string, command func(*worker)) {
	w, ok := m.workers[channelID]
	if !ok {
		w = &worker{m: m, channel: channelID, wake: make(chan struct{}, 1)}
		m.workers[channelID] = w
		m.owned.Go(w.loop)
	}
	m.deliver(w, command)
}

// postIfActive runs a command that means nothing to an idle channel; false when it is idle.
func (m *Manager) postIfActive(channelID string, command func(*worker)) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	w, ok := m.workers[channelID]
	if ok {
		m.deliver(w, command)
	}
	return ok
}

func (m *Manager) deliver(w *worker, command func(*worker)) {
	w.commands = append(w.commands, command)
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// take empties a worker's mailbox.
func (m *Manager) take(w *worker) []func(*worker) {
	m.mu.Lock()
	defer m.mu.Unlock()
	commands := w.commands
	w.commands = nil
	return commands
}

// retire ends an idle worker, unless something arrived for it.
func (m *Manager) retire(w *worker) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(w.commands) > 0 {
		return false
	}
	delete(m.workers, w.channel)
	return true
}

// spawn runs f in a counted goroutine; false when the process is ending.
func (m *Manager) spawn(f func()) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopping {
		return false
	}
	m.owned.Go(f)
	return true
}

// aside runs I/O in a counted goroutine, on behalf of a counted one.
func (m *Manager) aside(what string, work func(ctx context.Context) error) {
	m.owned.Go(func() { m.io(what, work) })
}

// io runs bounded I/O, logs what went wrong and reports whether nothing did.
func (m *Manager) io(what string, work func(ctx context.Context) error) bool {
	ctx, cancel := context.WithTimeout(m.ctx, ioTimeout)
	defer cancel()
	if _, err := safely(func() (struct{}, error) { return struct{}{}, work(ctx) }); err != nil {
		m.Log.Warn().Err(err).Str("doing", what).Msg("turn.aside_failed")
		return false
	}
	return true
}

// notify says something outside an answer, beside the worker.
func (m *Manager) notify(n Notice) {
	m.aside("telling "+string(n.Kind), func(ctx context.Context) error { return m.Edge.Notify(ctx, n) })
}

// panicked is the error of a port that panicked.
type panicked struct {
	value any
	stack []byte
}

// Error gives the panic's value; the stack is for the log only.
func (p panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// safely turns a panic of a port into an error: a broken store or edge must not take the process down.
func safely[T any](f func() (T, error)) (out T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked{value: p, stack: debug.Stack()}
		}
	}()
	return f()
}
