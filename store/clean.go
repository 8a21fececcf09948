package store

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// replacement stands for what cannot be stored: invalid UTF-8 and halves of surrogate pairs.
const replacement = "\uFFFD"

// Clean makes a text storable in every engine: NUL is removed (PostgreSQL refuses it) and invalid UTF-8 replaced by
// U+FFFD. Everything else stays as it is; a clean text is returned without a copy.
//
// Every engine applies it at the one place where it binds values, so no caller needs to.
func Clean(text string) string {
	if !strings.Contains(text, "\x00") && utf8.ValidString(text) {
		return text
	}
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), replacement)
}

// CleanJSON is Clean for a JSON document: it also removes the escape \u0000 and replaces escaped surrogates that have no
// partner. It works on the text, so key order, numbers and spacing stay.
func CleanJSON(document json.RawMessage) json.RawMessage {
	text := Clean(string(document))
	if !strings.Contains(text, `\u`) {
		return json.RawMessage(text)
	}
	var out strings.Builder
	out.Grow(len(text))
	for i := 0; i < len(text); {
		if text[i] != '\\' || i+1 >= len(text) {
			out.WriteByte(text[i])
			i++
			continue
		}
		unit, ok := escapedUnit(text[i:])
		if !ok { // \\ or \" and the like: two bytes that must not be looked at again
			out.WriteString(text[i : i+2])
			i += 2
			continue
		}
		const width = len(`\u0000`)
		switch {
		case unit == 0:
			i += width
		case isHighSurrogate(unit):
			if next, ok := escapedUnit(text[i+width:]); ok && isLowSurrogate(next) {
				out.WriteString(text[i : i+2*width])
				i += 2 * width
				continue
			}
			out.WriteString(`\ufffd`)
			i += width
		case isLowSurrogate(unit):
			out.WriteString(`\ufffd`)
			i += width
		default:
			out.WriteString(text[i : i+width])
			i += width
		}
	}
	return json.RawMessage(out.String())
}

func isHighSurrogate(unit rune) bool { return unit >= 0xD800 && unit <= 0xDBFF }

func isLowSurrogate(unit rune) bool { return unit >= 0xDC00 && unit <= 0xDFFF }

// escapedUnit reads the UTF-16 unit of an escape \uXXXX at the start of text.
func escapedUnit(text string) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	var unit rune
	for _, c := range []byte(text[2:6]) {
		switch {
		case c >= '0' && c <= '9':
			unit = unit<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			unit = unit<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			unit = unit<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return unit, true
}
