package delivery

import (
	"fmt"
	"strings"
)

// Limits bound a plan. The zero value means the defaults.
type Limits struct {
	// Units is the size of a message in UTF-16 units; default 1,950, which leaves
	// room for a closing line under Discord's 2,000; at least 64.
	Units int
	// Messages is how many messages an answer may have before the rest becomes a
	// file; default 8.
	Messages int
	// FileName is the name of that file; default answer.md.
	FileName string
	// Paragraphs asks for one message per paragraph, as far as Messages allows,
	// instead of as few messages as possible.
	Paragraphs bool
}

const (
	defaultUnits    = 1950
	minUnits        = 64
	defaultMessages = 8
	maxReach        = 512 // bytes a span may have and still be kept whole
)

func (l Limits) withDefaults() Limits {
	if l.Units <= 0 {
		l.Units = defaultUnits
	}
	l.Units = max(l.Units, minUnits)
	if l.Messages <= 0 {
		l.Messages = defaultMessages
	}
	if l.FileName == "" {
		l.FileName = "answer.md"
	}
	return l
}

// fenceLimit is how many units an opening fence may take; see [classify].
func (l Limits) fenceLimit() int { return l.Units / 4 }

// reach is how many bytes a span may have to be kept whole.
func (l Limits) reach() int { return min(maxReach, l.Units/2) }

// notice is the line that points from the last message to the file.
func (l Limits) notice() string { return "\n-# the rest is in " + l.FileName }

// Message is one physical message of a plan.
type Message struct {
	// Content is what to send: never blank, at most Limits.Units UTF-16 units.
	Content string
	// Files holds the rest of a text that needs too many messages, on the last one only.
	Files []File

	start, end int // the text this message shows is text[start:end]
	next       int // and the one after it begins here
}

// Plan divides text into the final list of messages; nil when there is nothing
// to show.
//
// A message ends at a paragraph, else a line, a sentence, a word, a grapheme
// cluster. Code blocks stay whole unless one alone exceeds a message; then its
// fence is closed at the cut and opened again with the same marks and info
// string. A fence, spoiler or parenthesis that the text leaves open is closed.
// Inline code, links, addresses, tags and strong text are not cut where another
// place will do.
//
// Nothing else is changed: without the added fences and closers the contents
// and the file, put together, are the text, except that a cut in prose may drop
// the single newline or space it falls on, and that stretches which would make
// a blank message are left out. In code nothing is dropped.
func Plan(text string, limits Limits) []Message {
	var plan []Message
	c := newCursor(limits)
	for {
		m, ok := c.next(text, true)
		if !ok {
			return plan
		}
		plan = append(plan, m)
	}
}

// cursor plans message after message of a text that may still grow. What it has
// returned never changes with more text.
type cursor struct {
	limits Limits
	pos    int // where the next message begins
	opener int // the code block to reopen there, or -1
	count  int // messages returned
	done   bool
}

func newCursor(limits Limits) cursor {
	return cursor{limits: limits.withDefaults(), opener: -1}
}

// next returns the next message. Unless final, it returns none while more text
// could still change it.
func (c *cursor) next(text string, final bool) (Message, bool) {
	for !c.done {
		s := c.scan(text, c.limits.Units, final)
		var m Message
		if c.paragraphs() && s.first.next > 0 && s.first.next <= s.undecided {
			m = c.message(&s, s.first)
		} else if whole, fits := c.last(&s); fits {
			if !final {
				return Message{}, false
			}
			c.pos, c.done, m = len(text), true, whole
		} else if c.count+1 < c.limits.Messages {
			if !final && !s.settled() {
				return Message{}, false
			}
			m = c.message(&s, s.choose())
		} else {
			if !final {
				return Message{}, false // whether it needs a file is known at the end
			}
			m = c.withFile(text)
		}
		if !Blank(m.Content) {
			c.count++
			return m, true
		}
	}
	return Message{}, false
}

func (c *cursor) paragraphs() bool {
	return c.limits.Paragraphs && c.count+1 < c.limits.Messages
}

func (c *cursor) scan(text string, budget int, final bool) scan {
	s := scan{text: text, from: c.pos, budget: budget, limit: c.limits.fenceLimit(), reach: c.limits.reach(), final: final}
	if !c.paragraphs() && len(text)-c.pos <= budget/2 {
		s.skim(c.opener) // half, as a fence to reopen or close takes at most a quarter each
	} else {
		s.run(c.opener)
	}
	return s
}

// last is the message that ends with the text, if it fits.
func (c *cursor) last(s *scan) (Message, bool) {
	if !s.whole {
		return Message{}, false
	}
	body := s.text[s.from:]
	end := s.block.closing(body)
	if end == "" {
		end = closers(unclosedAt(s.text, s.from, fenceAt(s.text, c.opener, s.limit), s.limit))
		if _, run := marks(body[strings.LastIndexByte(body, '\n')+1:]); end != "" && run >= 3 {
			end = "\n" + end // behind a closing fence it would open it again
		}
	}
	if s.used+units(end) > s.budget {
		return Message{}, false
	}
	head := fenceAt(s.text, c.opener, s.limit).reopening()
	return Message{Content: head + body + end, start: s.from, end: len(s.text), next: len(s.text)}, true
}

// settled reports whether more text can't change the choice of the cut.
func (s *scan) settled() bool {
	return !s.whole && s.undecided > s.stopped && len(s.text) >= s.stopped+s.reach
}

// message builds the message that ends at k, and moves to the next.
func (c *cursor) message(s *scan, k cut) Message {
	body := s.text[s.from:k.end]
	head := fenceAt(s.text, c.opener, s.limit).reopening()
	tail := fenceAt(s.text, k.opener, s.limit).closing(body)
	c.pos, c.opener = k.next, k.opener
	return Message{Content: head + body + tail, start: s.from, end: k.end, next: k.next}
}

// withFile builds the last allowed message, with the rest of the text attached.
func (c *cursor) withFile(text string) Message {
	notice := c.limits.notice()
	s := c.scan(text, c.limits.Units-units(notice), true)
	m := c.message(&s, s.choose())
	c.done = true
	if rest := text[m.next:]; !Blank(rest) {
		head := fenceAt(text, c.opener, s.limit).reopening()
		m.Content += notice
		m.Files = []File{{Name: c.limits.FileName, Data: []byte(head + rest)}}
	}
	c.pos = len(text)
	return m
}

// head is one message that shows the beginning of what comes next, to be
// replaced when more is known. It leaves the cursor where it is.
func (c cursor) head(text string) (Message, bool) {
	s := c.scan(text, c.limits.Units, true)
	m, fits := c.last(&s)
	if !fits {
		m = c.message(&s, s.choose())
	}
	return m, !Blank(m.Content)
}

// String shows a message for test failures.
func (m Message) String() string {
	return fmt.Sprintf("[%d:%d]%s", m.start, m.end, strings.ReplaceAll(m.Content, "\n", "⏎"))
}
