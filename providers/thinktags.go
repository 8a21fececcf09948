package providers

import (
	"iter"
	"strings"
)

// ThinkTags moves reasoning that a model writes into its text between tags (<think>, <thinking>, <thought>,
// <reasoning>) to thinking. Tags may arrive in pieces. A tag that is never closed hides everything behind it. Inside a
// fence or a span of code, tags are text like any other.
//
// A closing tag without an opening one is taken out. With unopened set, for servers whose prompt template opens the tag
// itself, an answer's text is held until the closing tag: what stands before it is thinking; if none comes, all of it
// was the answer.
func ThinkTags(seq iter.Seq2[Fragment, error], unopened bool) iter.Seq2[Fragment, error] {
	return func(yield func(Fragment, error) bool) {
		f := tagFilter{yield: yield, unopened: unopened, lineStart: true}
		for fragment, err := range seq {
			if err != nil {
				if f.flush() {
					yield(nil, err)
				}
				return
			}
			if !f.pass(fragment) {
				return
			}
		}
		f.flush()
	}
}

// maxHeldText bounds what an answer without its opening tag may hold back.
const maxHeldText = MaxThinkingBytes

// tagFilter is the state between two pieces of text.
type tagFilter struct {
	yield    func(Fragment, error) bool
	unopened bool
	// pending is text that may turn out to be the beginning of a tag or of a fence.
	pending string
	// held is the text of an answer whose opening tag was never sent.
	held     strings.Builder
	thinking bool
	// trimNext drops the blank lines that follow a closing tag.
	trimNext bool
	// fence is the run of backticks or tildes that opened the code we are in; "" outside code.
	fence     string
	lineStart bool
	stopped   bool
}

func (f *tagFilter) pass(fragment Fragment) bool {
	switch fragment := fragment.(type) {
	case TextDelta:
		f.pending += fragment.Text
		f.scan(false)
		return !f.stopped
	case End:
		return f.flush() && f.yield(fragment, nil)
	case ThinkingDelta:
		// The server tells reasoning apart itself, so nothing of its text is unmarked reasoning.
		f.release()
	case ThinkingDone, CallDelta, UsageReport, Beat:
	}
	return !f.stopped && f.yield(fragment, nil)
}

// flush ends the text: whatever was pending can't become a tag any more.
func (f *tagFilter) flush() bool {
	f.scan(true)
	f.release()
	return !f.stopped
}

// release passes held text on as the answer it turned out to be.
func (f *tagFilter) release() {
	f.unopened = false
	if f.held.Len() > 0 {
		text := f.held.String()
		f.held.Reset()
		f.deliver(TextDelta{text})
	}
}

func (f *tagFilter) deliver(fragment Fragment) {
	if !f.stopped {
		f.stopped = !f.yield(fragment, nil)
	}
}

// scan consumes pending up to the point where more text is needed to decide.
func (f *tagFilter) scan(last bool) {
	for f.pending != "" && !f.stopped {
		n := strings.IndexAny(f.pending, "<`~\n")
		if n < 0 {
			n = len(f.pending)
		}
		if n > 0 {
			f.plain(n)
			continue
		}
		var ok bool
		switch f.pending[0] {
		case '<':
			ok = f.tag(last)
		case '\n':
			f.plain(1)
			f.lineStart = true
			if len(f.fence) < 3 {
				// A stray backtick must not make code of all that follows: spans end with their line.
				f.fence = ""
			}
			ok = true
		default:
			ok = f.marks(last)
		}
		if !ok {
			return
		}
	}
}

// plain passes n bytes on as what they are: text or thinking.
func (f *tagFilter) plain(n int) {
	text := f.pending[:n]
	f.pending = f.pending[n:]
	if strings.Trim(text, " \t") != "" {
		f.lineStart = false
	}
	switch {
	case f.thinking:
		f.deliver(ThinkingDelta{text})
		return
	case f.trimNext:
		if text = strings.TrimLeft(text, " \t\r\n"); text == "" {
			return
		}
		f.trimNext = false
	}
	if f.unopened {
		f.held.WriteString(text)
		if f.held.Len() > maxHeldText {
			f.release()
		}
		return
	}
	f.deliver(TextDelta{text})
}

// marks handles a run of backticks or tildes; false asks for more text.
func (f *tagFilter) marks(last bool) bool {
	mark := f.pending[0]
	n := 1
	for n < len(f.pending) && f.pending[n] == mark {
		n++
	}
	if n == len(f.pending) && !last {
		return false
	}
	run := f.pending[:n]
	atLineStart := f.lineStart
	f.plain(n)
	switch {
	case f.thinking:
	case f.fence == "" && (mark == '`' && (n < 3 || atLineStart) || n >= 3 && atLineStart):
		f.fence = run
	case f.fence != "" && f.fence[0] == mark && closes(f.fence, n, atLineStart):
		f.fence = ""
	}
	return true
}

// closes reports whether n marks end the code that fence opened: a fenced block ends at a line of at least as many, a
// span at exactly as many.
func closes(fence string, n int, atLineStart bool) bool {
	if len(fence) >= 3 {
		return atLineStart && n >= len(fence)
	}
	return n == len(fence)
}

// tag handles a '<'; false asks for more text.
func (f *tagFilter) tag(last bool) bool {
	name, closing, size, maybe := matchTag(f.pending)
	switch {
	case maybe && !last:
		return false
	case name == "" || f.fence != "" && !f.thinking:
		f.plain(1)
	case !closing:
		if f.thinking {
			f.plain(size)
			return true
		}
		f.release()
		f.pending = f.pending[size:]
		f.thinking = true
	default:
		f.pending = f.pending[size:]
		f.closeTag()
	}
	return true
}

func (f *tagFilter) closeTag() {
	if f.held.Len() > 0 {
		text := f.held.String()
		f.held.Reset()
		f.deliver(ThinkingDelta{text})
	}
	f.unopened, f.thinking, f.trimNext, f.fence, f.lineStart = false, false, true, "", true
}

// matchTag looks for a reasoning tag at the start of text, in any case. maybe is true when text is only the beginning of
// one.
func matchTag(text string) (name string, closing bool, size int, maybe bool) {
	for _, name := range []string{"think", "thinking", "thought", "reasoning"} {
		for _, slash := range []string{"", "/"} {
			tag := "<" + slash + name + ">"
			if len(text) >= len(tag) && strings.EqualFold(text[:len(tag)], tag) {
				return name, slash != "", len(tag), false
			}
			maybe = maybe || len(text) < len(tag) && strings.EqualFold(text, tag[:len(text)])
		}
	}
	return "", false, 0, maybe
}
