package delivery

import (
	"slices"
	"strings"
	"sync"
)

// ledger is the account of what stands in the channel, readable at any time.
type ledger struct {
	mu       sync.Mutex
	entries  []*entry
	complete bool
}

// entry is one message of the answer.
type entry struct {
	id        string
	text      string
	iteration int
}

// set records that message id now shows text, in the place of e if that is not nil.
func (l *ledger) set(e *entry, id, text string, iteration int) *entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e == nil {
		e = &entry{iteration: iteration}
		l.entries = append(l.entries, e)
	}
	e.id, e.text = id, text
	return e
}

// remove records that the message of e is gone.
func (l *ledger) remove(e *entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = slices.DeleteFunc(l.entries, func(x *entry) bool { return x == e })
}

func (l *ledger) finish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.complete = true
}

func (l *ledger) delivery() Delivery {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := Delivery{Complete: l.complete}
	var b strings.Builder
	for i, e := range l.entries {
		if i > 0 && e.iteration != l.entries[i-1].iteration {
			b.WriteString("\n\n")
		}
		d.IDs = append(d.IDs, e.id)
		b.WriteString(e.text)
	}
	d.Text = b.String()
	return d
}
