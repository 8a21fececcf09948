package bot

import "sync"

// tasks owns goroutines: at most a number of them at once, and somebody who waits for all. Safe for concurrent use.
type tasks struct {
	slots chan struct{}

	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup
}

func newTasks(limit int) *tasks { return &tasks{slots: make(chan struct{}, limit)} }

// try runs f on its own goroutine and reports false when there are too many already, or when the owner is waiting.
func (t *tasks) try(f func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	select {
	case t.slots <- struct{}{}:
	default:
		return false
	}
	t.wg.Go(func() {
		defer func() { <-t.slots }()
		f()
	})
	return true
}

// wait refuses new work and returns when the old is done.
func (t *tasks) wait() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.wg.Wait()
}
