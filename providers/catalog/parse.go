package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"
	"time"
)

// Bounds of a file.
const (
	maxFile    = 1 << 20
	maxContext = 100_000_000
)

// parse reads a file of models: every problem in it with its place, such as models[2].price.input.
func parse(data []byte) (date string, entries []entry, err error) {
	if len(data) > maxFile {
		return "", nil, errors.New("is over 1 MiB")
	}
	if text := syntax(data); text != "" {
		return "", nil, errors.New(text)
	}
	var r reader
	r.object("", data, fields{
		"date": func(at string, raw json.RawMessage) {
			date = r.text(at, raw)
			if _, err := time.Parse(time.DateOnly, date); err != nil && date != "" {
				r.problem(at, "%q is not a day like 2026-01-31", date)
			}
		},
		"models": func(at string, raw json.RawMessage) {
			r.list(at, raw, func(at string, raw json.RawMessage) { entries = append(entries, r.entry(at, raw)) })
		},
	})
	r.repeated()
	return date, entries, errors.Join(r.problems...)
}

// syntax says where a text stops being one JSON value, or nothing.
func syntax(data []byte) string {
	dec := json.NewDecoder(bytes.NewReader(data))
	var whole json.RawMessage
	err := dec.Decode(&whole)
	at := dec.InputOffset()
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = e.Offset
	}
	if err == nil {
		if _, err = dec.Token(); errors.Is(err, io.EOF) {
			return ""
		}
		err = errors.New("something follows the end")
	}
	before := data[:min(int(at), len(data))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n') - 1
	return fmt.Sprintf("line %d, column %d: is not JSON: %v", line, max(column, 1), err)
}

// reader collects the problems of a file.
type reader struct {
	problems []error
	// where tells the place of each name that was read, for repetitions.
	where []place
}

type place struct{ vendor, name, at string }

type fields map[string]func(at string, raw json.RawMessage)

func (r *reader) problem(at, format string, args ...any) {
	if at == "" {
		at = "the file"
	}
	r.problems = append(r.problems, fmt.Errorf("%s: %s", at, fmt.Sprintf(format, args...)))
}

// object hands each member to its field and refuses unknown and repeated ones. It reports whether raw is an object.
func (r *reader) object(at string, raw json.RawMessage, known fields) bool {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		r.problem(at, "must be an object")
		return false
	}
	seen := map[string]bool{}
	for dec.More() {
		key, err := dec.Token()
		name, _ := key.(string)
		var value json.RawMessage
		if err == nil {
			err = dec.Decode(&value)
		}
		below := strings.TrimPrefix(at+"."+name, ".")
		read, ok := known[name]
		switch {
		case err != nil: // the syntax was checked before
			r.problem(at, "%v", err)
			return false
		case seen[name]:
			r.problem(below, "is there twice")
		case !ok:
			names := make([]string, 0, len(known))
			for k := range known {
				names = append(names, k)
			}
			slices.Sort(names)
			r.problem(below, "is not known here; possible: %s", strings.Join(names, ", "))
		default:
			read(below, value)
		}
		seen[name] = true
	}
	return true
}

func (r *reader) list(at string, raw json.RawMessage, each func(at string, raw json.RawMessage)) {
	var all []json.RawMessage
	if json.Unmarshal(raw, &all) != nil || all == nil {
		r.problem(at, "must be a list")
		return
	}
	for i, x := range all {
		each(fmt.Sprintf("%s[%d]", at, i), x)
	}
}

func (r *reader) text(at string, raw json.RawMessage) string {
	var s *string
	if json.Unmarshal(raw, &s) != nil || s == nil || strings.TrimSpace(*s) == "" {
		r.problem(at, "must be a text")
		return ""
	}
	return strings.TrimSpace(*s)
}

func (r *reader) flag(to **bool) func(string, json.RawMessage) {
	return func(at string, raw json.RawMessage) {
		if json.Unmarshal(raw, to) != nil || *to == nil {
			r.problem(at, "must be true or false")
		}
	}
}

func (r *reader) tokens(to **int) func(string, json.RawMessage) {
	return func(at string, raw json.RawMessage) {
		if json.Unmarshal(raw, to) != nil || *to == nil || **to < 1 || **to > maxContext {
			r.problem(at, "must be a whole number of tokens from 1 to %d", maxContext)
			*to = nil
		}
	}
}

func (r *reader) entry(at string, raw json.RawMessage) entry {
	var e entry
	ok := r.object(at, raw, fields{
		"vendor":            func(at string, raw json.RawMessage) { e.vendor = strings.ToLower(r.text(at, raw)) },
		"name":              func(at string, raw json.RawMessage) { e.names = r.names(at, raw) },
		"context_tokens":    r.tokens(&e.contextTokens),
		"max_output_tokens": r.tokens(&e.maxOutputTokens),
		"images":            r.flag(&e.images),
		"tools":             r.flag(&e.tools),
		"temperature":       r.flag(&e.temperature),
		"thinking": func(at string, raw json.RawMessage) {
			t := Thinking(r.text(at, raw))
			switch t {
			case ThinkingNone, ThinkingEffort, ThinkingBudget, ThinkingAlways:
				e.thinking = &t
			case "":
			default:
				r.problem(at, "%q is none of none, effort, budget, always", t)
			}
		},
		"price": func(at string, raw json.RawMessage) { e.price = r.price(at, raw, nil) },
	})
	if ok && len(e.names) == 0 {
		r.problem(at, "has no name")
	}
	if e.contextTokens != nil && e.maxOutputTokens != nil && *e.maxOutputTokens > *e.contextTokens {
		r.problem(at, "max_output_tokens is more than context_tokens")
	}
	for _, name := range e.names {
		r.where = append(r.where, place{e.vendor, name, at})
	}
	return e
}

// names reads one name or a list of them. A name may end in *, which stands for any rest.
func (r *reader) names(at string, raw json.RawMessage) (names []string) {
	one := func(at string, raw json.RawMessage) {
		name := strings.ToLower(r.text(at, raw))
		if name == "" {
			return
		}
		if strings.Contains(strings.TrimSuffix(name, "*"), "*") {
			r.problem(at, "a * may only be the last character")
			return
		}
		names = append(names, name)
	}
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) {
		r.list(at, raw, one)
	} else {
		one(at, raw)
	}
	return names
}

// price reads prices in US dollars per million tokens. What is left out is the safe side: reading from a cache costs what
// input costs, writing to it a quarter more. A tier's price also says over how many tokens it holds.
func (r *reader) price(at string, raw json.RawMessage, over **int) *Price {
	var (
		p                          Price
		input, read, write, output *int64
		known                      = fields{
			"input": r.money(&input), "cache_read": r.money(&read), "cache_write": r.money(&write), "output": r.money(&output),
		}
	)
	if over != nil {
		known["tokens"] = r.tokens(over)
	} else {
		known["above"] = func(at string, raw json.RawMessage) {
			r.list(at, raw, func(at string, raw json.RawMessage) { p.Above = append(p.Above, r.tier(at, raw)) })
		}
	}
	before := len(r.problems)
	if !r.object(at, raw, known) {
		return nil
	}
	if len(r.problems) == before && (input == nil || output == nil) {
		r.problem(at, "needs input and output")
	}
	if input == nil || output == nil {
		return nil
	}
	p.Input, p.Output, p.CacheRead, p.CacheWrite = *input, *output, *input, (*input*5+3)/4
	set(&p.CacheRead, read)
	set(&p.CacheWrite, write)
	for i := 1; i < len(p.Above); i++ {
		if p.Above[i].Tokens <= p.Above[i-1].Tokens {
			r.problem(at+".above", "must begin with the fewest tokens")
			break
		}
	}
	return &p
}

func (r *reader) tier(at string, raw json.RawMessage) (t Tier) {
	var over *int
	before := len(r.problems)
	if p := r.price(at, raw, &over); p != nil {
		t.Price = *p
	}
	if over == nil && len(r.problems) == before {
		r.problem(at, "needs tokens, above which it holds")
	}
	set(&t.Tokens, over)
	return t
}

// money reads US dollars per million tokens as nanos per token, exactly.
func (r *reader) money(to **int64) func(string, json.RawMessage) {
	return func(at string, raw json.RawMessage) {
		var n json.Number
		amount, ok := new(big.Rat), false
		// An exponent would let a short text stand for a number without end.
		if !bytes.ContainsAny(raw, `"eE`) && len(raw) < 20 && json.Unmarshal(raw, &n) == nil {
			amount, ok = amount.SetString(n.String())
		}
		if ok {
			amount.Mul(amount, big.NewRat(1000, 1))
		}
		switch {
		case !ok || amount.Sign() < 0:
			r.problem(at, "must be a number of US dollars per million tokens")
		case !amount.IsInt():
			r.problem(at, "is finer than 0.001 US dollars per million tokens; round it up")
		case amount.Cmp(big.NewRat(maxPerToken, 1)) > 0:
			r.problem(at, "is more than 1000000 US dollars per million tokens")
		default:
			value := amount.Num().Int64()
			*to = &value
		}
	}
}

// repeated refuses a name that two entries claim: which of them counts would be a matter of luck.
func (r *reader) repeated() {
	first := map[[2]string]string{}
	for _, p := range r.where {
		key := [2]string{p.vendor, p.name}
		if at, ok := first[key]; ok {
			r.problem(p.at, "names %s again, as %s does", p.name, at)
			continue
		}
		first[key] = p.at
	}
}
