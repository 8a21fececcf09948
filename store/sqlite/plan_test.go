package sqlite

import (
	"cmp"
	"context"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// exercised collects the texts of the statements that a suite has run.
type exercised struct {
	mu    sync.Mutex
	texts map[string]bool
}

// add notes what db has run so far.
func (e *exercised) add(db *DB) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, known := range []*sync.Map{&db.read.known, &db.write.known} {
		known.Range(func(text, _ any) bool {
			if e.texts == nil {
				e.texts = map[string]bool{}
			}
			e.texts[text.(string)] = true
			return true
		})
	}
}

var placeholder = regexp.MustCompile(`\?\d*|@\w+`)

// scan finds what a plan reads from end to end: a table, or an index of it.
var scan = regexp.MustCompile(`SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?`)

// readsAll names what may be read from end to end, and why that is little.
var readsAll = map[string]string{
	"turns_running":    "an index of what runs",
	"calls_running":    "as above",
	"approvals_open":   "an index of the cards that are open",
	"waiting_triggers": "at most a queue's length waits in a channel",
	"rates":            "one window of time",
	"settings":         "what was set by hand; for an erase",
	"memory_terms":     "FTS5 calls every search a scan",
	"json_each":        "a list that the statement was given",
	"listed":           "as above",
	"search":           "as above",
	"CONSTANT":         "no table",
}

// check finds the statements that have no index to find their rows by.
func (e *exercised) check(t *testing.T) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // the suite has ended
	db, err := Open(ctx, Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	for text := range e.texts {
		var plan []string
		err := db.read.query(ctx, "EXPLAIN QUERY PLAN "+placeholder.ReplaceAllString(text, "1"), nil, func(r row) error {
			var id, parent, unused int
			var step string
			err := r.Scan(&id, &parent, &unused, &step)
			plan = append(plan, step)
			return err
		})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for _, step := range plan {
			if found := scan.FindStringSubmatch(step); found != nil && readsAll[cmp.Or(found[2], found[1])] == "" {
				t.Errorf("%s is read whole:\n%s\n%s", found[0], strings.Join(plan, "\n"), text)
			}
		}
	}
}
