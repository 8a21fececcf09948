package rehearsal

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parleybot/parley/providers"
)

// verb is one directive of the grammar. Help, the parser and the tests all read the same table.
type verb struct {
	name    string
	usage   string
	does    string
	example string
	// parse consumes the directive's operands and returns what is left of the script behind them.
	parse func(rest string) (acts []act, left string, err error)
}

// verbs returns the grammar, in the order in which help shows it.
func verbs() []verb {
	return []verb{
		{"say", "say TEXT", "says TEXT", `say hello there`, textVerb(func(t string) act { return say{t} })},
		{
			"think", "think TEXT", "reasons TEXT, hidden from the channel", `think tea or coffee?; say tea`,
			textVerb(func(t string) act { return think{t} }),
		},
		{"call", "call NAME {json}", "calls a tool; calls in a row are one batch", `call recall_memory {"query":"tea"}`, parseCall},
		{
			"then", "then", "ends this answer; what follows is said after the tools have run", `call recall_memory {}; then; say done`,
			plainVerb(next{}),
		},
		{"repeat", "repeat N call NAME {json}", "makes the call in N answers in a row", `repeat 3 call recall_memory {}`, parseRepeat},
		{
			"cut", "cut NAME {json} at N", "calls with only the first N bytes of the arguments, and ends by length",
			`cut recall_memory {"query":"tea"} at 9`, parseCut,
		},
		{"broken", "broken NAME TEXT", "calls with TEXT as the arguments, whatever it is", `broken recall_memory {"query" tea}`, parseBroken},
		{"slow", "slow 30ms", "waits that long before every piece from here on", `slow 1ms; say no hurry`, parseSlow},
		{"stall", "stall", "stays silent until it is stopped", `say one moment; stall`, plainVerb(stall{})},
		{"nothing", "nothing", "answers nothing", `nothing`, plainVerb(nothing{})},
		{"fail", "fail STATUS|KIND TEXT", "fails as a provider would", `fail 429 slow down`, failVerb(false)},
		{"flaky", "flaky STATUS|KIND TEXT", "fails on the first request of a turn only", `flaky 503 busy; say better now`, failVerb(true)},
		{"finish", "finish stop|length|filter|error|missing", "ends the answer that way", `say half an ans; finish length`, parseFinish},
	}
}

// Help is the text that the message "help" is answered with.
func Help() string {
	var b strings.Builder
	b.WriteString("I'm the rehearsal model: I run inside the bot, need no key and do what your message says.\n" +
		"One directive per line, or several separated by `;` (write `\\;` for a semicolon in a text):\n")
	for _, v := range verbs() {
		fmt.Fprintf(&b, "- `%s` %s\n", v.usage, v.does)
	}
	b.WriteString("I also understand \"remember that I like tea\", \"what do you know about me\" and \"forget that\".")
	return b.String()
}

var helpPattern = regexp.MustCompile(`(?i)^[/!]?(rehearsal )?help[.!?]*$`)

func isHelp(text string) bool { return helpPattern.MatchString(text) }

var (
	authorPattern  = regexp.MustCompile(`^([^\n:;{}"]{1,64}): ?`)
	mentionPattern = regexp.MustCompile(`^(<@[!&]?\d+>|@\S+)[ ,:]*`)
)

// splitAuthor takes off what stands before the words of a message: the author's name that the context builder puts
// there, mentions, and a code fence.
func splitAuthor(content string) (author, text string) {
	text = strings.TrimSpace(content)
	if m := authorPattern.FindStringSubmatch(text); m != nil {
		author, text = strings.TrimSpace(m[1]), text[len(m[0]):]
	}
	for {
		m := mentionPattern.FindString(text)
		if m == "" {
			break
		}
		text = text[len(m):]
	}
	return author, strings.TrimSpace(strings.Trim(strings.TrimSpace(text), "`"))
}

// parse reads a script into the steps of one turn. ok is false when the text isn't one: its first word is no verb. A
// script with a mistake becomes a single step that says what is wrong.
func parse(text string) (steps [][]act, ok bool) {
	step := []act{}
	for left := text; left != ""; {
		v, rest, known := nextVerb(left)
		if !known {
			if !ok {
				return nil, false
			}
			return mistake(fmt.Errorf("%q begins with no directive", shorten(left, 40))), true
		}
		ok = true
		acts, after, err := v.parse(rest)
		if err != nil {
			return mistake(fmt.Errorf("%s: %w (as in: %s)", v.usage, err, v.example)), true
		}
		for _, a := range acts {
			if _, isNext := a.(next); isNext {
				steps, step = append(steps, step), nil
				continue
			}
			step = append(step, a)
		}
		left = strings.TrimLeft(after, " \t\r\n;")
	}
	return append(steps, step), ok
}

func mistake(err error) [][]act {
	return [][]act{{say{"I'm the rehearsal model and can't follow that script: " + err.Error() + ". Say \"help\" for the grammar."}}}
}

func nextVerb(text string) (v verb, rest string, ok bool) {
	end := strings.IndexAny(text, " \t\r\n;")
	if end < 0 {
		end = len(text)
	}
	all := verbs()
	i := slices.IndexFunc(all, func(v verb) bool { return strings.EqualFold(v.name, text[:end]) })
	if i < 0 {
		return verb{}, "", false
	}
	return all[i], strings.TrimLeft(text[end:], " \t"), true
}

// takeText consumes up to a line end or an unescaped semicolon.
func takeText(rest string) (text, left string) {
	var b strings.Builder
	for i := 0; i < len(rest); i++ {
		switch {
		case rest[i] == '\\' && i+1 < len(rest) && rest[i+1] == ';':
			i++
			b.WriteByte(';')
		case rest[i] == ';' || rest[i] == '\n':
			return strings.TrimSpace(b.String()), rest[i:]
		default:
			b.WriteByte(rest[i])
		}
	}
	return strings.TrimSpace(b.String()), ""
}

func takeWord(rest string) (word, left string) {
	end := strings.IndexAny(rest, " \t\r\n;")
	if end < 0 {
		end = len(rest)
	}
	return rest[:end], strings.TrimLeft(rest[end:], " \t")
}

// takeJSON consumes one JSON value and returns its own text, digits and spacing kept.
func takeJSON(rest string) (text, left string, err error) {
	d := json.NewDecoder(strings.NewReader(rest))
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return "", "", errors.New("the JSON is not complete")
	}
	return string(raw), rest[d.InputOffset():], nil
}

func textVerb(make func(string) act) func(string) ([]act, string, error) {
	return func(rest string) ([]act, string, error) {
		text, left := takeText(rest)
		return []act{make(text)}, left, nil
	}
}

func plainVerb(a act) func(string) ([]act, string, error) {
	return func(rest string) ([]act, string, error) {
		if rest != "" && !strings.ContainsAny(rest[:1], ";\r\n") {
			return nil, "", errors.New("nothing goes behind it")
		}
		return []act{a}, rest, nil
	}
}

func takeCall(rest string) (c call, left string, err error) {
	name, left := takeWord(rest)
	if name == "" {
		return call{}, "", errors.New("the tool's name is missing")
	}
	if left == "" || strings.ContainsAny(left[:1], ";\r\n") {
		return call{name, "{}"}, left, nil
	}
	arguments, left, err := takeJSON(left)
	return call{name, arguments}, left, err
}

func parseCall(rest string) ([]act, string, error) {
	c, left, err := takeCall(rest)
	return []act{c}, left, err
}

const maxRepeat = 1000

func parseRepeat(rest string) ([]act, string, error) {
	count, rest := takeWord(rest)
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 || n > maxRepeat {
		return nil, "", fmt.Errorf("the number must be from 1 to %d", maxRepeat)
	}
	word, rest := takeWord(rest)
	if !strings.EqualFold(word, "call") {
		return nil, "", errors.New("only call can be repeated")
	}
	c, left, err := takeCall(rest)
	if err != nil {
		return nil, "", err
	}
	acts := []act{c}
	for range n - 1 {
		acts = append(acts, next{}, c)
	}
	return acts, left, nil
}

func parseCut(rest string) ([]act, string, error) {
	c, left, err := takeCall(rest)
	if err != nil {
		return nil, "", err
	}
	at, left := takeWord(strings.TrimLeft(left, " \t"))
	count, left := takeWord(left)
	n, err := strconv.Atoi(count)
	if !strings.EqualFold(at, "at") || err != nil || n < 0 || n > len(c.arguments) {
		return nil, "", fmt.Errorf("at N must follow, N from 0 to %d", len(c.arguments))
	}
	c.arguments = c.arguments[:n]
	return []act{c, finish{providers.FinishLength}}, left, nil
}

func parseBroken(rest string) ([]act, string, error) {
	name, left := takeWord(rest)
	if name == "" {
		return nil, "", errors.New("the tool's name is missing")
	}
	text, left := takeText(left)
	return []act{call{name, text}}, left, nil
}

const maxPace = time.Minute

func parseSlow(rest string) ([]act, string, error) {
	word, left := takeWord(rest)
	pace, err := time.ParseDuration(word)
	if err != nil || pace < 0 || pace > maxPace {
		return nil, "", fmt.Errorf("a duration of at most %s must follow", maxPace)
	}
	return []act{slow{pace}}, left, nil
}

func parseFinish(rest string) ([]act, string, error) {
	word, left := takeWord(rest)
	reasons := map[string]providers.FinishReason{
		"stop": providers.FinishStop, "length": providers.FinishLength, "filter": providers.FinishFiltered,
		"error": providers.FinishError, "missing": providers.FinishMissing,
	}
	reason, ok := reasons[strings.ToLower(word)]
	if !ok {
		return nil, "", errors.New("one of stop, length, filter, error, missing must follow")
	}
	return []act{finish{reason}}, left, nil
}

func failVerb(once bool) func(string) ([]act, string, error) {
	return func(rest string) ([]act, string, error) {
		word, left := takeWord(rest)
		e := providers.Error{Provider: Name}
		if status, err := strconv.Atoi(word); err == nil && status >= 400 && status <= 599 {
			e.Status, e.Kind, e.Retryable = status, providers.KindOfStatus(status), providers.RetryableStatus(status)
		} else if kind := providers.ErrorKind(strings.ToLower(word)); slices.Contains(failKinds(), kind) {
			e.Kind = kind
		} else {
			return nil, "", errors.New("an HTTP status from 400 to 599 or an error kind must follow")
		}
		e.Message, left = takeText(left)
		if e.Message == "" {
			e.Message = "rehearsed failure"
		}
		return []act{fail{e, once}}, left, nil
	}
}

func failKinds() []providers.ErrorKind {
	return []providers.ErrorKind{
		providers.KindAuth, providers.KindQuota, providers.KindRateLimit, providers.KindOverloaded, providers.KindBadRequest,
		providers.KindTooLarge, providers.KindTimeout, providers.KindTruncated, providers.KindProtocol, providers.KindFiltered,
		providers.KindNetwork, providers.KindUnavailable,
	}
}
