package registry

import (
	"strings"
	"unicode"
)

// rememberPhrases are ways to ask for something to be kept for good, in the form that normalize gives.
var rememberPhrases = []string{
	"remember", "don't forget", "dont forget", "do not forget", "never forget", "commit to memory", "commit this to memory",
	"commit that to memory", "for future reference", "keep in mind", "note that", "note this", "note down", "take note",
	"make a note", "please note", "memorize", "memorise",
	"覚えて", "覚えとい", "おぼえて", "忘れないで", "記憶して", "メモして", "記住", "记住", "别忘", "別忘", "기억해", "잊지 마",
	"merk dir", "merke dir", "vergiss nicht", "recuerda que", "recuérdalo", "no olvides", "souviens-toi", "n'oublie pas",
	"lembre-se", "lembra que", "não esqueça", "ricordati", "ricorda che", "non dimenticare", "запомни", "не забудь",
}

// otherRemembering are phrases that contain one of rememberPhrases and ask for no such thing.
var otherRemembering = []string{
	"do you remember", "did you remember", "don't you remember", "you remember when", "remember when",
	"i remember", "i don't remember", "i dont remember", "i do not remember", "can't remember", "cant remember",
	"cannot remember", "couldn't remember", "don't remember", "dont remember", "do not remember",
	"remember me?", "what do you remember", "what you remember", "覚えてる", "覚えている", "覚えていない", "覚えてない", "覚えていますか", "覚えてますか",
}

// ExplicitLTMIntent reports whether the member asks for something to be kept in long-term memory. The short-term memory
// tool is then hidden, so that the wish does not end up where it is forgotten after a day.
func ExplicitLTMIntent(text string) bool {
	if len(text) > maxMatchedBytes {
		text = strings.ToValidUTF8(text[:maxMatchedBytes], "")
	}
	t := normalize(text)
	for _, p := range otherRemembering {
		t = strings.ReplaceAll(t, p, " ")
	}
	for _, p := range rememberPhrases {
		if strings.IndexFunc(p, joinsEndings) >= 0 {
			if strings.Contains(t, p) {
				return true
			}
			continue
		}
		if containsWord(t, p, false) {
			return true
		}
	}
	return false
}

// joinsEndings reports whether words of c's script go on without a boundary: no spaces, or endings that are attached.
func joinsEndings(c rune) bool { return isUnspaced(c) || unicode.Is(unicode.Hangul, c) }
