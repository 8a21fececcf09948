package turn

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// foldWord makes text comparable: one form for each character, lower case, single spaces.
func foldWord(s string) string {
	return strings.Join(strings.Fields(strings.ToLower(norm.NFKC.String(s))), " ")
}

// wordable reports whether a folded word may address the bot: a single character, or one without letters and digits,
// would match nearly everything.
func wordable(w string) bool {
	return utf8.RuneCountInString(w) > 1 && strings.IndexFunc(w, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) >= 0
}

// mentionsWord reports whether folded text contains one of the folded words: as a whole word, or anywhere in scripts that put
// no spaces between words.
func mentionsWord(text string, words []string) bool {
	for _, w := range words {
		if containsWord(text, w) {
			return true
		}
	}
	return false
}

func containsWord(text, word string) bool {
	if strings.IndexFunc(word, unspaced) >= 0 {
		return strings.Contains(text, word)
	}
	for from := 0; from < len(text); {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(word)
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		after, _ := utf8.DecodeRuneInString(text[end:])
		if (start == 0 || !partOfWord(before)) && (end == len(text) || !partOfWord(after)) {
			return true
		}
		_, size := utf8.DecodeRuneInString(text[start:])
		from = start + size
	}
	return false
}

// partOfWord: letters with their marks, digits and the underscore join; a letter of an unspaced script does not.
func partOfWord(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || r == '_') && !unspaced(r)
}

func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan)
}
