package scene

import (
	"fmt"
	"strings"
	"sync"
)

// tapeLine is how much of a text one line of a transcript shows.
const tapeLine = 160

// tapeLimit bounds a transcript; a bot that runs wild must not fill the memory of those who watch it.
const tapeLimit = 2000

// tape is the transcript of one run: the steps as written and, below each, what happened. Safe for concurrent use.
type tape struct {
	mu    sync.Mutex
	lines []string
	// last is what the newest line tells of: a message that changes again and again takes one line.
	last string
	lost int
}

// step writes a step as its author wrote it.
func (t *tape) step(s *step) {
	for i, l := range strings.Split(s.source, "\n") {
		if i == 0 {
			t.add("", fmt.Sprintf("%4d  %s", s.line, l))
			continue
		}
		t.add("", "      "+l)
	}
}

// happened writes something that was seen. A line with the same non-empty subject as the newest one replaces it.
func (t *tape) happened(subject, format string, args ...any) {
	t.add(subject, "          "+fmt.Sprintf(format, args...))
}

func (t *tape) add(subject, line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case subject != "" && subject == t.last:
		t.lines[len(t.lines)-1] = line
	case len(t.lines) >= tapeLimit:
		t.lost++
	default:
		t.lines = append(t.lines, line)
	}
	t.last = subject
}

// String is the transcript so far.
func (t *tape) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.Join(t.lines, "\n")
	if t.lost > 0 {
		text += fmt.Sprintf("\n          … and %d more lines", t.lost)
	}
	return text
}

// short is a text on one line, quoted and cut.
func short(text string) string {
	runes := []rune(text)
	if len(runes) > tapeLine {
		return fmt.Sprintf("%q… (%d characters)", string(runes[:tapeLine]), len(runes))
	}
	return fmt.Sprintf("%q", text)
}
