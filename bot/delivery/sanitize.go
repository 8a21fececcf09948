package delivery

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Sanitize makes a model's text fit to be shown: control characters that
// Discord or a database refuses are removed, invalid UTF-8 is replaced, and a
// line that would render as one of our own status lines (subtext, "-# ") is
// escaped outside code blocks, so that it shows as the text it is. Nothing else
// is touched. [Streamer.Append] does this by itself.
func Sanitize(text string) string {
	var b strings.Builder
	var c cleaner
	c.write(&b, text)
	c.flush(&b)
	return b.String()
}

// cleaner is [Sanitize] for a text that comes in pieces. It holds back at most
// a few bytes, until it can tell what they begin.
type cleaner struct {
	rune    string // the beginning of a character
	start   string // the beginning of a line that may become subtext
	midLine bool
	line    int // where in the output the line begins
	block   fence
}

// maxIndent is how far a line may be indented and still be subtext. It bounds
// what is held back.
const maxIndent = 60

func (c *cleaner) write(b *strings.Builder, text string) {
	if c.rune != "" {
		text = c.rune + text
	}
	c.rune = incompleteRune(text)
	c.writeLines(b, c.start+strip(text[:len(text)-len(c.rune)]))
}

// flush writes what was held back; no more text follows.
func (c *cleaner) flush(b *strings.Builder) {
	b.WriteString(c.start + strip(c.rune))
	c.rune, c.start = "", ""
}

func (c *cleaner) writeLines(b *strings.Builder, text string) {
	c.start = ""
	for text != "" {
		if !c.midLine {
			at, decided := subtext(text)
			if !decided {
				c.start = text
				return
			}
			if at >= 0 && !c.block.open() {
				b.WriteString(text[:at] + `\`)
				text = text[at:]
			}
			c.midLine = true
		}
		line, rest, complete := strings.Cut(text, "\n")
		b.WriteString(line)
		if !complete {
			return
		}
		switch kind, opened, _ := classify(c.block, b.String()[c.line:], defaultUnits/4); kind {
		case lineOpens:
			c.block = opened
		case lineCloses:
			c.block = fence{}
		case lineText, lineBlank:
		}
		b.WriteByte('\n')
		c.line, c.midLine, text = b.Len(), false, rest
	}
}

// subtext finds the "-#" that makes a line subtext, quoted or not; at is -1 when
// it is none. decided is false when that takes more text to tell.
func subtext(line string) (at int, decided bool) {
	rest := strings.TrimLeft(line, " \t>")
	at = len(line) - len(rest)
	switch {
	case at > maxIndent:
		return -1, true
	case rest == "" || rest == "-" || rest == "-#":
		return -1, false
	case strings.HasPrefix(rest, "-# ") || strings.HasPrefix(rest, "-#\t"):
		return at, true
	}
	return -1, true
}

// strip removes what is forbidden and replaces what is no UTF-8.
func strip(text string) string {
	if utf8.ValidString(text) && strings.IndexFunc(text, forbidden) < 0 {
		return text
	}
	return strings.Map(func(r rune) rune {
		if forbidden(r) {
			return -1
		}
		return r // an invalid byte arrives here as U+FFFD
	}, text)
}

func forbidden(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r >= 0x7F && r <= 0x9F
}

// incompleteRune is the beginning of a character at the end of s.
func incompleteRune(s string) string {
	for n := 1; n < utf8.UTFMax && n <= len(s); n++ {
		if c := s[len(s)-n]; utf8.RuneStart(c) {
			if !utf8.FullRuneInString(s[len(s)-n:]) {
				return s[len(s)-n:]
			}
			break
		}
	}
	return ""
}

// Name makes a name given by a user fit for a line of our own: one line, no
// control or invisible characters, at most limit UTF-16 units before escaping,
// whole grapheme clusters, Markdown and mention marks escaped.
func Name(name string, limit int) string {
	name = oneLine(name, limit)
	var b strings.Builder
	for _, r := range name {
		if strings.ContainsRune("\\`*_~|<>[]()#@:-", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// oneLine joins the words of s with single spaces, drops what can't be seen, and
// cuts it to limit units.
func oneLine(s string, limit int) string {
	s = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == 0x200D || unicode.Is(unicode.Variation_Selector, r): // they join emoji
			return r
		case invisible(r), r == utf8.RuneError:
			return -1
		}
		return r
	}, s)), " ")
	if units(s) <= limit {
		return s
	}
	used, end := 0, 0
	for g := uniseg.NewGraphemes(s); g.Next(); {
		if used += units(g.Str()); used > limit-1 {
			break
		}
		_, end = g.Positions()
	}
	return s[:end] + "…"
}
