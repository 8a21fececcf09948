package delivery

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A span is a piece of inline text that loses its meaning when it is cut: code,
// a link, an address, a tag such as <@1> or <:smile:1>, strong text, a spoiler,
// a parenthesis.

// spanEnd returns the end of the span that begins at text[i], or 0 if none does.
// It looks at most reach bytes ahead; open reports that the text ended before
// either the span or its reach did, so that more text could still change it.
func spanEnd(text string, i, reach int) (end int, open bool) {
	window := text[i:min(len(text), i+reach)]
	short := i+reach > len(text)
	n, found := 0, false
	switch window[0] {
	case '`':
		n, found = codeSpan(window)
	case '[':
		n, found = linkSpan(window)
	case '<':
		n, found = tagSpan(window)
	case 'h':
		if !strings.HasPrefix(window, "http") {
			return 0, false
		}
		n, found = addressSpan(window)
	case '*', '_', '~', '|':
		n, found = pairSpan(window)
	case '(':
		if !opensParenthesis(text, i) {
			return 0, false
		}
		n, found = parenthesisSpan(window)
	default:
		return 0, false
	}
	if !found {
		if !short || n == 0 {
			return 0, short
		}
		return i + n, true
	}
	if n == 0 {
		return 0, false
	}
	return i + n, false
}

// Each of these returns the length of the span, or 0 when it is none. found is
// false when the window ended undecided; the length is then the best guess.

func codeSpan(w string) (n int, found bool) {
	run := runLength(w, 0)
	for i := run; i < len(w); {
		switch {
		case w[i] == '`':
			r := runLength(w, i)
			if r == run {
				return i + r, i+r < len(w) // the run might still grow
			}
			i += r
		case paragraphEnds(w, i):
			return 0, true
		default:
			i++
		}
	}
	return 0, false
}

func linkSpan(w string) (n int, found bool) {
	for i := 1; i < len(w); i++ {
		switch w[i] {
		case '\n', '[':
			return 0, true
		case ']':
			if i+1 == len(w) {
				return 0, false
			}
			if w[i+1] != '(' {
				return 0, true
			}
			end := strings.IndexAny(w[i:], ")\n")
			if end < 0 {
				return 0, false
			}
			if w[i+end] == '\n' {
				return 0, true
			}
			return i + end + 1, true
		}
	}
	return 0, false
}

func tagSpan(w string) (n int, found bool) {
	if len(w) == 1 {
		return 0, false
	}
	if !strings.ContainsRune(":@#a/ht", rune(w[1])) {
		return 0, true
	}
	end := strings.IndexAny(w[1:], "<>\n")
	if end < 0 {
		return 0, false
	}
	if w[1+end] != '>' {
		return 0, true
	}
	return end + 2, true
}

func addressSpan(w string) (n int, found bool) {
	if !strings.HasPrefix(w, "http://") && !strings.HasPrefix(w, "https://") {
		return 0, len(w) >= len("https://")
	}
	end := strings.IndexAny(w, " \t\r\n<>")
	if end < 0 {
		return len(w), false
	}
	return end, true
}

func pairSpan(w string) (n int, found bool) {
	if len(w) < 3 {
		return 0, false
	}
	if w[1] != w[0] || w[2] == w[0] || w[2] == ' ' || w[2] == '\n' {
		return 0, true
	}
	for i := 2; i+1 < len(w); i++ {
		if w[i] == w[0] && w[i+1] == w[0] {
			return i + 2, true
		}
		if w[0] != '|' && paragraphEnds(w, i) { // a spoiler may span paragraphs
			return 0, true
		}
	}
	return 0, false
}

func parenthesisSpan(w string) (n int, found bool) {
	depth := 0
	for i := range len(w) {
		switch {
		case w[i] == '(' && opensParenthesis(w, i):
			depth++
		case w[i] == ')':
			if depth--; depth == 0 {
				return i + 1, true
			}
		case paragraphEnds(w, i):
			return 0, true
		}
	}
	return 0, false
}

// opensParenthesis tells an opening parenthesis from the mouth of a face.
func opensParenthesis(text string, i int) bool {
	if i > 0 && strings.IndexByte(":;=", text[i-1]) >= 0 {
		return false
	}
	if i > 1 && text[i-1] == '-' && strings.IndexByte(":;=", text[i-2]) >= 0 {
		return false
	}
	return i+1 >= len(text) || strings.IndexByte(":;=", text[i+1]) < 0
}

func runLength(s string, i int) int {
	n := i
	for n < len(s) && s[n] == s[i] {
		n++
	}
	return n - i
}

func paragraphEnds(w string, i int) bool {
	return w[i] == '\n' && i+1 < len(w) && (w[i+1] == '\n' || w[i+1] == '\r')
}

// unclosed is a spoiler or a parenthesis that is still open at the end of a text.
type unclosed struct {
	at     int
	closer string
}

// unclosedAt lists what is open at the end of text[from:], outermost first:
// spoilers, and parentheses of the last paragraph. Code doesn't count, a stray
// closer is ignored, and "a || b" or a table row opens nothing. limit is the
// one of [classify].
func unclosedAt(text string, from int, block fence, limit int) []unclosed {
	var open []unclosed
	for p := from; p < len(text); {
		line, next := text[p:], len(text)
		if n := strings.IndexByte(line, '\n'); n >= 0 {
			line, next = line[:n], p+n+1
		}
		kind, opened, _ := classify(block, line, limit)
		switch {
		case kind == lineOpens:
			block = opened
		case kind == lineCloses:
			block = fence{}
		case block.open():
		case kind == lineBlank:
			open = dropParentheses(open)
		default:
			open = unclosedInLine(text, p, p+len(line), open)
		}
		p = next
	}
	if block.open() || len(open) > maxUnclosed {
		return nil
	}
	return open
}

// maxUnclosed is how many marks may be open at the end of what is still taken
// for prose.
const maxUnclosed = 8

func unclosedInLine(text string, p, end int, open []unclosed) []unclosed {
	table := strings.HasPrefix(strings.TrimLeft(text[p:end], " "), "|") && !strings.HasPrefix(strings.TrimLeft(text[p:end], " "), "||")
	for i := p; i < end; i++ {
		switch text[i] {
		case '\\':
			i++
		case '`':
			if n, _ := codeSpan(text[i:end]); n > 0 {
				i += n - 1
			} else {
				i += runLength(text[:end], i) - 1
			}
		case '(':
			if opensParenthesis(text[:end], i) {
				open = append(open, unclosed{i, ")"})
			}
		case ')':
			if n := len(open) - 1; n >= 0 && open[n].closer == ")" {
				open = open[:n]
			}
		case '|':
			if table || i+1 >= end || text[i+1] != '|' {
				continue
			}
			if n := openSpoiler(open); n >= 0 {
				open = open[:n]
			} else if i+2 == end || text[i+2] != ' ' && text[i+2] != '|' {
				open = append(open, unclosed{i, "||"})
			}
			i++
		}
	}
	return open
}

func openSpoiler(open []unclosed) int {
	for n, u := range open {
		if u.closer == "||" {
			return n
		}
	}
	return -1
}

func dropParentheses(open []unclosed) []unclosed {
	kept := open[:0]
	for _, u := range open {
		if u.closer != ")" {
			kept = append(kept, u)
		}
	}
	return kept
}

// closers is the text that closes what is open, innermost first.
func closers(open []unclosed) string {
	var b strings.Builder
	for _, o := range slices.Backward(open) {
		b.WriteString(o.closer)
	}
	return b.String()
}

// sentenceEnds reports whether a sentence ends just before text[i].
func sentenceEnds(text string, from, i int) bool {
	for i > from {
		r, n := utf8.DecodeLastRuneInString(text[from:i])
		switch r {
		case ')', ']', '"', '\'', '*', '_', '”', '’', '»':
			i -= n
			continue
		case '!', '?', '…', '。', '！', '？':
			return true
		case '.':
			before, _ := utf8.DecodeLastRuneInString(text[from : i-n])
			return !unicode.IsDigit(before) // "1. first" is a list
		}
		return false
	}
	return false
}
