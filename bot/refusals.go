package bot

import (
	"sync"
	"time"
)

const (
	// refusalMemory is how long a channel that refused a message counts as closed, unless one succeeds.
	refusalMemory = 15 * time.Minute
	maxRefusals   = 1000
)

// refusals remembers channels in which Discord forbade the bot to write although the permissions we know allow it, so
// that no model is paid for an answer nobody can see. Safe for concurrent use.
type refusals struct {
	mu sync.Mutex
	at map[string]time.Time
}

func newRefusals() *refusals { return &refusals{at: map[string]time.Time{}} }

func (r *refusals) note(channelID string, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.at) >= maxRefusals {
		clear(r.at) // the worst that follows is one wasted answer per channel
	}
	r.at[channelID] = now
}

func (r *refusals) clear(channelID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.at, channelID)
}

func (r *refusals) recent(channelID string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, ok := r.at[channelID]
	if ok && now.Sub(at) >= refusalMemory {
		delete(r.at, channelID)
		return false
	}
	return ok
}
