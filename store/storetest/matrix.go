package storetest

import (
	"sync"
	"testing"

	"github.com/parleybot/parley/internal/testreport"
)

// matrix is one engine's column of what of the suite ran. The columns of all engines stand beside each other at the end of
// a test run, so a part that was skipped because a server is away can't pass for one that was tested.
type matrix struct {
	mu    sync.Mutex
	cells []*cell
}

// cell is one part of the suite for one engine.
type cell struct {
	of     *matrix
	name   string
	result string // "" until it ended, for what -run left out
}

func (m *matrix) add(name string) *cell {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &cell{of: m, name: name}
	m.cells = append(m.cells, c)
	return c
}

// absent says that the engine does not keep this, by design.
func (c *cell) absent() { c.set("-") }

// ended notes how the part ended, unless it is absent.
func (c *cell) ended(t *testing.T) {
	switch {
	case t.Failed():
		c.set("FAILED")
	case t.Skipped():
		c.set("SKIPPED")
	default:
		c.set("ok")
	}
}

func (c *cell) set(result string) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if c.result == "" {
		c.result = result
	}
}

// print reports the cells, those that -run left out not among them. `make test` lays those of all engines out as one table.
func (m *matrix) print() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.cells {
		if c.result != "" {
			testreport.Line("conformance\t%s\t%s", c.name, c.result)
		}
	}
}
