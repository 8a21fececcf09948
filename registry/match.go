package registry

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Bounds of triggers, in characters and per target. Custom ones are what moderators type.
const (
	MaxTriggerLength        = 200
	MaxCustomTriggerLength  = 40
	CustomTriggersPerTarget = 16
)

// maxMatchedBytes bounds the text that triggers are matched against. Discord's longest message is far below it.
const maxMatchedBytes = 32 << 10

// ParseTrigger reads a trigger as people write it: a word or phrase, a stem ("remind*"), "^" for every message, or
// "/regexp/" (RE2, case-insensitive). Errors say what to change.
func ParseTrigger(s string) (Trigger, error) {
	s = strings.TrimSpace(s)
	t := Trigger{Kind: TriggerLiteral, Pattern: s}
	switch {
	case s == "^":
		t.Kind = TriggerAlways
	case len(s) >= 2 && s[0] == '/' && s[len(s)-1] == '/':
		t = Trigger{Kind: TriggerRegexp, Pattern: s[1 : len(s)-1]}
	case len(s) > 0 && s[len(s)-1] == '*':
		t = Trigger{Kind: TriggerStem, Pattern: s[:len(s)-1]}
	}
	if _, err := t.compile(); err != nil {
		return Trigger{}, fmt.Errorf("trigger %q: %w", printable(s, maxEchoRunes), err)
	}
	return t, nil
}

// CheckCustomTriggers reports, joined, every problem of the triggers that a moderator sets for one target.
func CheckCustomTriggers(triggers []string) error {
	var problems []error
	if n := len(triggers); n > CustomTriggersPerTarget {
		problems = append(problems, fmt.Errorf("%d triggers for one target, at most %d are possible", n, CustomTriggersPerTarget))
	}
	for _, s := range triggers {
		if _, err := parseCustom(s); err != nil {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

func parseCustom(s string) (matcher, error) {
	if n := utf8.RuneCountInString(s); n > MaxCustomTriggerLength {
		return matcher{}, fmt.Errorf("trigger %q: %d characters, at most %d are possible", printable(s, maxEchoRunes), n, MaxCustomTriggerLength)
	}
	t, err := ParseTrigger(s)
	if err != nil {
		return matcher{}, err
	}
	return t.compile()
}

// message is a triggering message prepared for matching.
type message struct {
	raw        string
	normalized string
	kinds      []AttachmentKind
}

func readMessage(text string, kinds []AttachmentKind) message {
	if len(text) > maxMatchedBytes {
		text = strings.ToValidUTF8(text[:maxMatchedBytes], "")
	}
	return message{raw: text, normalized: normalize(text), kinds: kinds}
}

// normalize makes text comparable: one form for each character, lower case, single spaces, the plain apostrophe (phone
// keyboards write another, which NFKC leaves alone).
func normalize(s string) string {
	s = strings.ReplaceAll(strings.ToLower(norm.NFKC.String(s)), "’", "'")
	return strings.Join(strings.Fields(s), " ")
}

// matcher is a compiled trigger. The zero value matches nothing.
type matcher struct {
	kind    TriggerKind
	pattern string
	// substring: the pattern counts wherever it occurs (phrases, scripts without spaces between words).
	substring bool
	re        *regexp.Regexp
	// label is the trigger as people write it.
	label string
}

// compile checks a trigger and prepares it.
func (t Trigger) compile() (matcher, error) {
	if n := utf8.RuneCountInString(t.Pattern); n > MaxTriggerLength {
		return matcher{}, fmt.Errorf("%d characters, at most %d are possible", n, MaxTriggerLength)
	}
	switch t.Kind {
	case TriggerAlways:
		return matcher{kind: t.Kind, label: "^"}, nil
	case TriggerAttachment:
		if t.Pattern == "" {
			return matcher{}, errors.New("the attachment kind is missing")
		}
		return matcher{kind: t.Kind, pattern: t.Pattern, label: t.Pattern}, nil
	case TriggerRegexp:
		return compileRegexp(t.Pattern)
	case TriggerLiteral, TriggerStem:
		return compileWords(t)
	default:
		return matcher{}, fmt.Errorf("unknown kind %q", t.Kind)
	}
}

func compileRegexp(pattern string) (matcher, error) {
	if pattern == "" {
		return matcher{}, errors.New("the regular expression is empty")
	}
	re, err := regexp.Compile("(?i)" + pattern)
	if err != nil {
		return matcher{}, fmt.Errorf("not a regular expression (RE2 syntax): %w", err)
	}
	if re.MatchString("") {
		return matcher{}, errors.New("the regular expression matches an empty text and so every message; write ^ if that is meant")
	}
	return matcher{kind: TriggerRegexp, re: re, label: "/" + pattern + "/"}, nil
}

func compileWords(t Trigger) (matcher, error) {
	p := normalize(t.Pattern)
	unspaced := strings.IndexFunc(p, isUnspaced) >= 0
	switch {
	case p == "" && t.Kind == TriggerStem:
		return matcher{}, errors.New("a bare * would match every message; write ^ if that is meant")
	case p == "":
		return matcher{}, errors.New("it is empty")
	case strings.IndexFunc(p, unicode.IsControl) >= 0:
		return matcher{}, errors.New("it contains a control character")
	case strings.Contains(p, "*"):
		return matcher{}, errors.New("* may only stand once, at the end")
	case unspaced && utf8.RuneCountInString(p) == 1:
		return matcher{}, errors.New("a single character of a script without spaces matches nearly everything")
	}
	m := matcher{kind: t.Kind, pattern: p, label: p}
	if t.Kind == TriggerStem {
		m.label += "*"
		m.substring = unspaced
	} else {
		m.substring = unspaced || strings.Contains(p, " ")
	}
	return m, nil
}

// matches reports whether the trigger exposes its tool for this message.
func (m matcher) matches(msg message) bool {
	switch m.kind {
	case TriggerAlways:
		return true
	case TriggerAttachment:
		return slices.Contains(msg.kinds, AttachmentKind(m.pattern))
	case TriggerRegexp:
		return m.re.MatchString(msg.raw)
	case TriggerLiteral, TriggerStem:
		if m.substring {
			return strings.Contains(msg.normalized, m.pattern)
		}
		return containsWord(msg.normalized, m.pattern, m.kind == TriggerStem)
	default:
		return false
	}
}

// containsWord looks for word where no letter, digit, _ or - touches it; a stem may go on at its end.
func containsWord(text, word string, stem bool) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(word)
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		after, _ := utf8.DecodeRuneInString(text[end:])
		if !touches(before, start > 0) && (stem || !touches(after, end < len(text))) {
			return true
		}
		_, size := utf8.DecodeRuneInString(text[start:])
		from = start + size
	}
}

func touches(c rune, there bool) bool {
	return there && (c == '_' || c == '-' || unicode.IsLetter(c) || unicode.IsDigit(c) || unicode.IsMark(c))
}

// isUnspaced reports whether c belongs to a script that is written without spaces between words.
func isUnspaced(c rune) bool {
	return unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan)
}
