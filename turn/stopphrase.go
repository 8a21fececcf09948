package turn

import (
	"slices"
	"strings"
	"unicode"
)

// stopPhrases end the owner's running turn when they are the whole message.
var stopPhrases = []string{
	"wait", "stop", "enough", "chill", "halt", "pause", "quit", "cancel",
	"okay stop", "ok stop", "okay enough", "ok enough", "thats enough", "thats good", "thats fine", "alright stop",
	"please stop", "stop please", "stop it", "stop that", "stop now", "nevermind", "never mind", "cut it out", "tone it down", "knock it off",
}

// stopParts end it wherever they stand in a short message: these scripts put no spaces between words.
var stopParts = []string{"止めて", "やめて", "止まって", "ストップ", "もういい", "待って", "ちょっと待", "停止", "停下", "멈춰", "그만"}

// maxStopPhrase bounds what can be a wish to stop, in characters.
const maxStopPhrase = 40

// isStopPhrase reports whether a message says nothing but stop. A word of it inside a longer sentence ("stop using
// tables") is an instruction, and "unstoppable" is none.
func isStopPhrase(content string) bool {
	said := foldWord(mention.ReplaceAllString(content, " "))
	if len([]rune(said)) > maxStopPhrase {
		return false
	}
	for _, p := range stopParts {
		if strings.Contains(said, p) {
			return true
		}
	}
	said = strings.Map(func(r rune) rune {
		switch {
		case r == '\'' || r == '’':
			return -1
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			return r
		}
		return ' '
	}, said)
	words := strings.Fields(said)
	return slices.Contains(stopPhrases, strings.Join(slices.Compact(words), " "))
}
