package observe

import (
	"maps"
	"slices"
	"sync/atomic"
)

// Other is the label under which a counter counts what it has no label for.
const Other = "other"

// Counter counts events by one label out of a closed set, such as a turn's status. The set is closed so that what is
// counted stays bounded: never a user's or a channel's id. It is safe for concurrent use; a nil *Counter counts nothing.
type Counter[L ~string] struct {
	counts map[L]*atomic.Uint64 // the map itself never changes after NewCounter
}

// NewCounter returns a counter for the given labels and [Other].
func NewCounter[L ~string](labels ...L) *Counter[L] {
	c := &Counter[L]{counts: make(map[L]*atomic.Uint64, len(labels)+1)}
	for _, l := range append(slices.Clone(labels), L(Other)) {
		c.counts[l] = new(atomic.Uint64)
	}
	return c
}

// Inc counts one event. A label outside the set is counted as [Other].
func (c *Counter[L]) Inc(label L) {
	if c == nil {
		return
	}
	n, ok := c.counts[label]
	if !ok {
		n = c.counts[Other]
	}
	n.Add(1)
}

// Snapshot returns the counts of all labels, those of zero included.
func (c *Counter[L]) Snapshot() map[string]uint64 {
	out := map[string]uint64{}
	if c == nil {
		return out
	}
	for label, n := range c.counts {
		out[string(label)] = n.Load()
	}
	return out
}

// Count is one counter's value for one label.
type Count struct {
	Counter string
	Label   string
	Value   uint64
}

// Counters is a set of named counters to report together. The zero value is ready; fill it before it is shared.
type Counters struct {
	byName map[string]interface{ Snapshot() map[string]uint64 }
}

// Add puts a counter under a name, replacing one of that name.
func (s *Counters) Add(name string, c interface{ Snapshot() map[string]uint64 }) {
	if s.byName == nil {
		s.byName = map[string]interface{ Snapshot() map[string]uint64 }{}
	}
	s.byName[name] = c
}

// Snapshot returns every count that is not zero, ordered by counter and label.
func (s *Counters) Snapshot() []Count {
	var out []Count
	for _, name := range slices.Sorted(maps.Keys(s.byName)) {
		labels := s.byName[name].Snapshot()
		for _, label := range slices.Sorted(maps.Keys(labels)) {
			if labels[label] > 0 {
				out = append(out, Count{Counter: name, Label: label, Value: labels[label]})
			}
		}
	}
	return out
}
