package registry

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"time"
)

// Limits of the stash for heavy restart payloads.
const (
	StashTTL     = 5 * time.Minute
	StashEntries = 16
)

// ErrRevoked is returned by the accessors of a call that has ended.
var ErrRevoked = errors.New("the call has ended: its access to the turn was revoked")

// ErrStashFull is returned when too many payloads are put aside at once.
var ErrStashFull = errors.New("too many payloads put aside in this turn")

// Shared is the state of a turn that tools may read and add to. It is safe for concurrent use.
type Shared struct {
	mu    sync.Mutex
	items []ContextItem
	ids   map[string]string
	stash map[string]stashed
	now   func() time.Time
}

type stashed struct {
	item ContextItem
	at   time.Time
}

// NewShared returns the shared state of a turn; ids maps opaque ids ("ref_3") to real ones. now may be nil.
func NewShared(items []ContextItem, ids map[string]string, now func() time.Time) *Shared {
	if now == nil {
		now = time.Now
	}
	return &Shared{items: slices.Clone(items), ids: maps.Clone(ids), stash: map[string]stashed{}, now: now}
}

// Append adds an item to the turn's context.
func (s *Shared) Append(item ContextItem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items = append(s.items, item)
}

// Items returns a copy of the context items.
func (s *Shared) Items() []ContextItem {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.items)
}

// RealID resolves an opaque id.
func (s *Shared) RealID(opaque string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, ok := s.ids[opaque]
	return id, ok
}

// Take removes a payload from the stash and returns it; each can be taken once, within StashTTL.
func (s *Shared) Take(key string) (ContextItem, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.stash[key]
	delete(s.stash, key)
	if !ok || s.now().Sub(e.at) > StashTTL {
		return ContextItem{}, false
	}
	return e.item, true
}

func (s *Shared) put(key string, item ContextItem) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	maps.DeleteFunc(s.stash, func(_ string, e stashed) bool { return now.Sub(e.at) > StashTTL })
	if len(s.stash) >= StashEntries {
		return ErrStashFull
	}
	s.stash[key] = stashed{item: item, at: now}
	return nil
}

// Live is one call's access to the turn's shared state. Revoke ends it.
type Live struct {
	mu     sync.Mutex
	shared *Shared
}

// NewLive opens access for one call.
func NewLive(s *Shared) *Live { return &Live{shared: s} }

// Revoke ends the access; later uses return ErrRevoked.
func (l *Live) Revoke() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shared = nil
}

func (l *Live) open() (*Shared, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shared == nil {
		return nil, ErrRevoked
	}
	return l.shared, nil
}

// Items returns a copy of the turn's context items.
func (l *Live) Items() ([]ContextItem, error) {
	s, err := l.open()
	if err != nil {
		return nil, err
	}
	return s.Items(), nil
}

// MessageID resolves an opaque message id; an unknown one is returned as it came, with false.
func (l *Live) MessageID(opaque string) (string, bool, error) {
	s, err := l.open()
	if err != nil {
		return "", false, err
	}
	if id, ok := s.RealID(opaque); ok {
		return id, true, nil
	}
	return opaque, false, nil
}

// Stash puts a heavy payload aside for a restart; it can be taken once within StashTTL.
func (l *Live) Stash(key string, item ContextItem) error {
	s, err := l.open()
	if err != nil {
		return err
	}
	return s.put(key, item)
}
