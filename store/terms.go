package store

import "unicode"

// unspaced are the scripts in which words are not, or not reliably, set apart by spaces. Korean is among them since its
// particles stick to the noun.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer,
	unicode.Myanmar, unicode.Tibetan,
}

// Terms returns the terms by which a text is indexed and searched, in order and with repetitions. A word of a spaced
// script is a term. A run of an unspaced script gives its overlapping pairs of characters, and its last character, so
// that a search for one character is a search for terms that begin with it. Case and diacritics are left to the engine.
func Terms(text string) []string {
	var (
		terms []string
		run   []string // clusters of the current run; each a base with its marks
		pairs bool     // the run is of an unspaced script
	)
	flush := func() {
		terms = appendRun(terms, run, pairs)
		run = run[:0]
	}
	for _, r := range text {
		switch {
		case unicode.IsMark(r) || isLengthMark(r):
			if len(run) > 0 {
				run[len(run)-1] += string(r)
			}
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			if wide := unicode.In(r, unspaced...); wide != pairs {
				flush()
				pairs = wide
			}
			run = append(run, string(r))
		default:
			flush()
		}
	}
	flush()
	return terms
}

// isLengthMark knows the two Japanese signs that belong to the letter before them though Unicode calls them letters.
func isLengthMark(r rune) bool { return r == 'ー' || r == 'ｰ' }

func appendRun(terms, run []string, pairs bool) []string {
	if len(run) == 0 {
		return terms
	}
	if !pairs {
		word := ""
		for _, cluster := range run {
			word += cluster
		}
		return append(terms, word)
	}
	for i := 0; i+1 < len(run); i++ {
		terms = append(terms, run[i]+run[i+1])
	}
	return append(terms, run[len(run)-1])
}
