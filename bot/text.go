package bot

import (
	"crypto/rand"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// newNonce is at most the 25 characters that Discord takes.
func newNonce() string { return rand.Text()[:25] }

// clean removes NUL, which breaks prompts, logs and Postgres.
func clean(s string) string { return strings.ReplaceAll(s, "\x00", "") }

// clip cuts s to at most n UTF-16 units, the unit Discord counts in, on a rune boundary.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	units := 0
	for i, r := range s {
		units += max(utf16.RuneLen(r), 1)
		if units > n {
			return s[:i]
		}
	}
	return s
}

func units(s string) int {
	n := 0
	for _, r := range s {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}

// visible makes every character of s show in a code block: backticks cannot end the block, and characters that are
// invisible or turn the direction of writing are spelled out, so that what is approved is what is read.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '`':
			// A lookalike would show a different text; the zero-width trick would hide one. Spell it.
			b.WriteString(`\u0060`)
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs) || blank(r):
			if r > 0xffff {
				fmt.Fprintf(&b, `\u{%x}`, r)
				continue
			}
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// blank reports runes that show as nothing or as space without being the plain space.
func blank(r rune) bool {
	if r != ' ' && unicode.Is(unicode.Zs, r) {
		return true
	}
	switch r {
	case '\u034f', '\u115f', '\u1160', '\u17b4', '\u17b5', '\u2800', '\u3164', '\uffa0':
		return true
	}
	// Variation selectors and tags.
	return r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0000 && r <= 0xe0fff
}

// inline shows untrusted text inside a sentence: one line, no markup, no mention, at most n units.
func inline(s string, n int) string {
	s = strings.Join(strings.Fields(visible(clean(s))), " ")
	s = markup.Replace(s)
	return clip(s, n)
}

var markup = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "~", `\~`, "|", `\|`, "<", `\<`, ">", `\>`,
	"[", `\[`, "]", `\]`, "#", `\#`, "@", "@\u200b", "://", ":\u200b//")
