package bot

import (
	"sync"
	"time"
)

// oncePer lets something happen once per key and interval. Safe for concurrent use.
type oncePer struct {
	every time.Duration
	mu    sync.Mutex
	last  map[string]time.Time
}

// maxOncePer bounds the keys; past it the oldest knowledge is dropped.
const maxOncePer = 1000

func newOncePer(every time.Duration) *oncePer {
	return &oncePer{every: every, last: map[string]time.Time{}}
}

func (o *oncePer) allow(key string, now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if at, ok := o.last[key]; ok && now.Sub(at) < o.every {
		return false
	}
	if len(o.last) >= maxOncePer {
		clear(o.last)
	}
	o.last[key] = now
	return true
}
