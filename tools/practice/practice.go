// Package practice holds tools for trying out what the loop does around a tool: asking for approval, failing, taking a
// note that must not be written twice. Only the playground and scenes register them.
package practice

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/parleybot/parley/registry"
)

// Tools returns the practice tools; their notes are kept in memory and belong to this set.
func Tools() []registry.Tool {
	b := &board{}
	return []registry.Tool{flaky(), note(b), slowNote(b), notes(b)}
}

// maxNotes bounds the board.
const maxNotes = 1000

// board is what risky_note writes on. It is safe for concurrent use.
type board struct {
	mu    sync.Mutex
	notes []string
}

func (b *board) add(text string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.notes) >= maxNotes {
		b.notes = b.notes[1:]
	}
	b.notes = append(b.notes, text)
	return len(b.notes)
}

func (b *board) all() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string{}, b.notes...)
}

type noteArguments struct {
	Text string `json:"text" jsonschema:"the note's text"`
}

func note(b *board) registry.Tool {
	return registry.Tool{
		Name:        "risky_note",
		Description: "Writes a note on the practice board. It asks the member for approval first.",
		Schema:      registry.SchemaFor[noteArguments](registry.Length("text", 1, 500)),
		Category:    registry.CategoryUtility,
		Approval:    registry.ApproverOwner,
		Triggers:    registry.Words("note", "notes", "board"),
		Run: func(_ context.Context, _ registry.ToolContext, args json.RawMessage) registry.Result {
			var a noteArguments
			if err := json.Unmarshal(args, &a); err != nil {
				return registry.Fail(err.Error())
			}
			return registry.OK(map[string]any{"status": "noted", "notes": b.add(a.Text)})
		},
	}
}

type slowNoteArguments struct {
	Text    string `json:"text" jsonschema:"the note's text"`
	Seconds int    `json:"seconds" jsonschema:"how long writing takes"`
}

// slowNote changes something, and takes its time: what becomes of it when the process is killed can be seen.
func slowNote(b *board) registry.Tool {
	return registry.Tool{
		Name:        "slow_note",
		Description: "Writes a note on the practice board after a number of seconds.",
		Schema:      registry.SchemaFor[slowNoteArguments](registry.Length("text", 1, 500), registry.Range("seconds", 0, 600)),
		Category:    registry.CategoryUtility,
		Triggers:    registry.Words("note", "notes", "board"),
		Run: func(ctx context.Context, _ registry.ToolContext, args json.RawMessage) registry.Result {
			var a slowNoteArguments
			if err := json.Unmarshal(args, &a); err != nil {
				return registry.Fail(err.Error())
			}
			timer := time.NewTimer(time.Duration(a.Seconds) * time.Second)
			defer timer.Stop()
			select {
			case <-timer.C:
				return registry.OK(map[string]any{"status": "noted", "notes": b.add(a.Text)})
			case <-ctx.Done():
				return registry.Fail("stopped before anything was written")
			}
		},
	}
}

func notes(b *board) registry.Tool {
	return registry.Tool{
		Name:          "read_notes",
		Description:   "Reads the practice board.",
		Schema:        registry.SchemaFor[struct{}](),
		Category:      registry.CategoryUtility,
		ReadOnly:      true,
		NeedsFollowUp: true,
		Triggers:      registry.Words("note", "notes", "board"),
		Run: func(context.Context, registry.ToolContext, json.RawMessage) registry.Result {
			return registry.OK(map[string]any{"notes": b.all()})
		},
	}
}

type flakyArguments struct {
	Fail bool `json:"fail,omitempty" jsonschema:"whether to fail; true unless given as false"`
}

func flaky() registry.Tool {
	return registry.Tool{
		Name:        "flaky",
		Description: "Fails, unless fail is false. For practising what happens when a tool fails.",
		Schema:      registry.SchemaFor[flakyArguments](),
		Category:    registry.CategoryUtility,
		ReadOnly:    true,
		Triggers:    registry.Words("flaky"),
		Run: func(_ context.Context, _ registry.ToolContext, args json.RawMessage) registry.Result {
			a := flakyArguments{Fail: true}
			if err := json.Unmarshal(args, &a); err != nil {
				return registry.Fail(fmt.Sprintf("reading the arguments: %v", err))
			}
			if a.Fail {
				return registry.Fail("the practice failure you asked for")
			}
			return registry.OK("it worked this time")
		},
	}
}
