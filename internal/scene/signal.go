package scene

import "sync"

// signal wakes everybody who waits whenever something has happened. The zero value is ready.
type signal struct {
	mu      sync.Mutex
	changed chan struct{}
}

// next is closed by the next call of happened.
func (s *signal) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.changed
}

func (s *signal) happened() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}
