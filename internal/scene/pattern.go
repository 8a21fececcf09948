package scene

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// pattern is the form of a step or of a clause: literal words, and slots in capitals that take what the author writes.
// The patterns that the parser follows are the ones that docs/scenes.md and error messages show.
type pattern []string

func form(s string) pattern { return strings.Fields(s) }

func (p pattern) String() string { return strings.Join(p, " ") }

// slot reports whether an element of a pattern is a slot and not a word.
func slot(element string) bool {
	return element == strings.ToUpper(element) && element[0] >= 'A' && element[0] <= 'Z' && element != "DM"
}

// bound is a pattern with its slots filled.
type bound struct {
	form string
	slot map[string]token
}

func (b bound) text(name string) string { return b.slot[name].text }

// number and duration read slots that were checked when the scene was parsed.
func (b bound) number(name string) int {
	n, _ := strconv.Atoi(b.text(name))
	return n
}

func (b bound) duration(name string) time.Duration {
	d, _ := time.ParseDuration(b.text(name))
	return d
}

// match fills a pattern from the front of tokens and returns how many it took. block is the text below the step, which
// stands for the first text that is left out.
func (p pattern) match(tokens []token, block *textBlock) (b bound, taken int, ok bool) {
	b = bound{form: p.String(), slot: map[string]token{}}
	for _, e := range p {
		switch have := taken < len(tokens); {
		case slot(e) && have && shapes[e](tokens[taken]):
			b.slot[e] = tokens[taken]
		case e == "TEXT" && block.free():
			b.slot[e] = token{textToken, block.take()}
			continue
		case !slot(e) && have && tokens[taken].word(e):
		default:
			return b, taken, false
		}
		taken++
	}
	return b, taken, true
}

// likeness says how much a line looks like a pattern, word by word, to find the step that was probably meant.
func (p pattern) likeness(tokens []token) (sum int) {
	for i, e := range p[:min(len(p), len(tokens))] {
		switch {
		case !slot(e):
			sum += similarity(e, tokens[i].text)
		case shapes[e](tokens[i]):
			sum += 30 // words tell verbs apart, slots hardly
		}
	}
	return sum
}

// textBlock is the text in the lines that begin with | below a step.
type textBlock struct {
	lines []string
	used  bool
}

func (t *textBlock) free() bool { return t != nil && len(t.lines) > 0 && !t.used }

func (t *textBlock) take() string {
	t.used = true
	return strings.Join(t.lines, "\n")
}

// shapes say which tokens a slot takes at all; whether the name is known is checked afterwards, so that a misspelt name
// is told as that and not as an unknown step.
var shapes = map[string]func(token) bool{
	"TEXT": func(t token) bool { return t.kind == textToken },
	"NAME": func(t token) bool { return t.kind != objectToken && t.text != "" },
	"PERSON": func(t token) bool {
		return t.kind != objectToken && !reserved[t.text] && !strings.HasPrefix(t.text, "#")
	},
	"LABEL":    isWord,
	"NEWLABEL": isWord,
	"CHANNEL":  func(t token) bool { return t.kind == wordToken && strings.HasPrefix(t.text, "#") },
	"WORD":     func(t token) bool { return t.kind != objectToken },
	"COMMAND":  func(t token) bool { return t.kind != objectToken && strings.HasPrefix(t.text, "/") },
	"OPTION":   func(t token) bool { return t.kind != objectToken && strings.Index(t.text, "=") > 0 },
	"ARGS":     func(t token) bool { return t.kind != wordToken },
	"ROUTE":    func(t token) bool { return t.kind == textToken || t.kind == wordToken && routeNames[t.text] != "" },
	"COUNT":    isNumber,
	"STATUS":   isNumber,
	"TIME":     func(t token) bool { _, err := time.ParseDuration(t.text); return t.kind == wordToken && err == nil },
}

func isWord(t token) bool { return t.kind == wordToken }

func isNumber(t token) bool {
	n, err := strconv.Atoi(t.text)
	return t.kind == wordToken && err == nil && n >= 0
}

// reserved are the words that begin steps, so nobody can be called that.
var reserved = map[string]bool{
	"guild": true, "channel": true, "role": true, "person": true, "set": true, "own": true, "setting": true, "model": true,
	"see": true, "expect": true, "never": true, "bot": true, "gateway": true, "discord": true, "thread": true, "it": true,
}

// routeNames are short names of the routes that scenes talk about most.
var routeNames = map[string]string{
	"send":     "POST /channels/{channel_id}/messages",
	"edit":     "PATCH /channels/{channel_id}/messages/{message_id}",
	"delete":   "DELETE /channels/{channel_id}/messages/{message_id}",
	"history":  "GET /channels/{channel_id}/messages",
	"typing":   "POST /channels/{channel_id}/typing",
	"callback": "POST /interactions/{interaction_id}/{interaction_token}/callback",
	"commands": "PUT /applications/{application_id}/commands",
}

func route(name string) string {
	if r, ok := routeNames[name]; ok {
		return r
	}
	return name
}

// similarity is how alike two words are, in percent, by Levenshtein's distance.
func similarity(a, b string) int {
	x, y := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	if len(x) == 0 || len(y) == 0 {
		return 0
	}
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			cost := diagonal
			if x[i] != y[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	longest := max(len(x), len(y))
	return 100 * (longest - row[len(y)]) / longest
}

// closest names the candidate most like word, as a hint; empty when none is like it.
func closest(word string, candidates []string) string {
	best, name := 49, ""
	for _, c := range candidates {
		if s := similarity(word, c); s > best {
			best, name = s, c
		}
	}
	if name == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", name)
}
