package scene

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is one piece of a step: a bare word, a quoted text, or a JSON object.
type token struct {
	kind tokenKind
	// text is what it says: without quotes, with escapes resolved.
	text string
}

type tokenKind int

const (
	wordToken tokenKind = iota
	textToken
	objectToken
)

func (t token) word(w string) bool { return t.kind == wordToken && t.text == w }

// String is the token as an author would write it.
func (t token) String() string {
	if t.kind == textToken {
		return strconv.Quote(t.text)
	}
	return t.text
}

// lex cuts a line into tokens. A # with a blank or nothing behind it begins a comment; #general is a channel.
func lex(line string) ([]token, error) {
	var out []token
	for {
		line = strings.TrimLeftFunc(line, unicode.IsSpace)
		if line == "" || line == "#" || strings.HasPrefix(line, "# ") {
			return out, nil
		}
		t, rest, err := next(line)
		if err != nil {
			return nil, err
		}
		if r, _ := utf8.DecodeRuneInString(rest); rest != "" && !unicode.IsSpace(r) {
			return nil, fmt.Errorf("a blank is missing before %s", rest)
		}
		out, line = append(out, t), rest
	}
}

func next(line string) (token, string, error) {
	switch line[0] {
	case '"', '`':
		return quoted(line)
	case '{':
		return object(line)
	}
	return word(line)
}

func quoted(line string) (token, string, error) {
	q, err := strconv.QuotedPrefix(line)
	if err != nil {
		return token{}, "", fmt.Errorf("a text is not closed, or has an escape that Go does not know: %s", line)
	}
	text, err := strconv.Unquote(q)
	if err != nil {
		return token{}, "", fmt.Errorf("reading the text %s: %w", q, err)
	}
	return token{textToken, text}, line[len(q):], nil
}

// object reads one JSON object. What is meant to be broken is written as a text instead.
func object(line string) (token, string, error) {
	d := json.NewDecoder(strings.NewReader(line))
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return token{}, "", errors.New("this JSON object is broken; write arguments that are meant to be broken as a text: `{\"a\":`")
	}
	end := d.InputOffset()
	return token{objectToken, line[:end]}, line[end:], nil
}

// word reads up to the next blank. Quotes inside it hold blanks: scope="the whole server".
func word(line string) (token, string, error) {
	var b strings.Builder
	for line != "" {
		r, size := utf8.DecodeRuneInString(line)
		switch {
		case unicode.IsSpace(r):
			return token{wordToken, b.String()}, line, nil
		case r == '"':
			t, rest, err := quoted(line)
			if err != nil {
				return token{}, "", err
			}
			b.WriteString(t.text)
			line = rest
		default:
			b.WriteString(line[:size])
			line = line[size:]
		}
	}
	return token{wordToken, b.String()}, "", nil
}
