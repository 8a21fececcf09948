package delivery

import (
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// units counts UTF-16 code units, the strictest of the ways in which a Discord
// client or server may count a message.
func units(s string) int {
	n := 0
	for _, r := range s {
		n += runeUnits(r)
	}
	return n
}

func runeUnits(r rune) int {
	if r > 0xFFFF {
		return 2
	}
	return 1
}

// cluster measures the grapheme cluster that begins at text[i]: its bytes and
// its units. A cluster of more than limit units (stacked marks without end) is
// cut between its runes, because no message could be relied on to hold it.
func cluster(text string, i, limit int) (size, width int) {
	if text[i] < utf8.RuneSelf && (i+1 == len(text) || text[i+1] < utf8.RuneSelf) {
		if text[i] == '\r' && i+1 < len(text) && text[i+1] == '\n' {
			return 2, 2
		}
		return 1, 1 // two ASCII characters never join, except CR LF
	}
	// Bounded, so that a run of joined characters costs its length once, not squared.
	window := text[i:min(len(text), i+4*(limit+1))]
	c, _, _, _ := uniseg.FirstGraphemeClusterInString(window, -1)
	for j, r := range c {
		w := runeUnits(r)
		if j > 0 && width+w > limit {
			return j, width
		}
		width += w
	}
	return len(c), width
}

// ideographic reports whether lines may break beside r without a space.
func ideographic(r rune) bool {
	switch {
	case r < 0x2E80:
		return false
	case r <= 0x9FFF, r >= 0xF900 && r <= 0xFAFF, r >= 0xFF01 && r <= 0xFF9D, r >= 0x20000 && r <= 0x3FFFF:
		return true
	}
	return false
}

// Blank reports whether a message with this text would look empty: nothing but
// white space, controls and characters without width. Discord refuses most of
// these and shows nothing for the others.
func Blank(text string) bool {
	for _, r := range text {
		if !invisible(r) {
			return false
		}
	}
	return true
}

func invisible(r rune) bool {
	if r > ' ' && r < 0x7F {
		return false
	}
	switch r {
	case 0x034F, 0x115F, 0x1160, 0x2800, 0x3164, 0xFFA0: // fillers and blanks that are letters by category
		return true
	}
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r)
}
