package store

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestClean(t *testing.T) {
	t.Parallel()
	for dirty, want := range map[string]string{
		"":             "",
		"plain 😀 猫":    "plain 😀 猫",
		"a\x00b\x00":   "ab",
		"a\xffb":       "a\uFFFDb",
		"\xed\xa0\x80": "\uFFFD",
		"\xf0\x9f\x98": "\uFFFD",
		`a\u0000b`:     `a\u0000b`, // text, not an escape
		"\u2028\uFFFD": "\u2028\uFFFD",
	} {
		if got := Clean(dirty); got != want {
			t.Errorf("Clean(%q) = %q, want %q", dirty, got, want)
		}
	}
}

func TestCleanJSON(t *testing.T) {
	t.Parallel()
	for dirty, want := range map[string]string{
		`{"a":1.50,  "b":12345678901234567890}`: `{"a":1.50,  "b":12345678901234567890}`,
		`"a\u0000b"`:                            `"ab"`,
		`"a\\u0000b"`:                           `"a\\u0000b"`,
		`"a\\\u0000b"`:                          `"a\\b"`,
		`"\ud83d\ude00"`:                        `"\ud83d\ude00"`,
		`"\uD83D\uDE00"`:                        `"\uD83D\uDE00"`,
		`"\ud83d"`:                              `"\ufffd"`,
		`"\ud83d\ud83d\ude00"`:                  `"\ufffd\ud83d\ude00"`,
		`"\ude00\ud83d"`:                        `"\ufffd\ufffd"`,
		`"\ud83d\u0000\ude00"`:                  `"\ufffd\ufffd"`,
		`"\ud83d\n\ude00"`:                      `"\ufffd\n\ufffd"`,
		`"\u00e9\"\/"`:                          `"\u00e9\"\/"`,
		"\"a\x00\xffb\"":                        "\"a\uFFFDb\"",
		`{"\u0000k\u0000":"v"}`:                 `{"k":"v"}`,
		``:                                      ``,
		`"\u00`:                                 `"\u00`, // not JSON: left as it is
		`\`:                                     `\`,
	} {
		if diff := cmp.Diff(want, string(CleanJSON(json.RawMessage(dirty)))); diff != "" {
			t.Errorf("CleanJSON(%s) (-want +got):\n%s", dirty, diff)
		}
	}
}

func FuzzCleanJSON(f *testing.F) {
	f.Add(`{"a":"\ud83d\u0000\ude00"}`)
	f.Add(`"\\\u0000"`)
	f.Fuzz(func(t *testing.T, document string) {
		cleaned := CleanJSON(json.RawMessage(document))
		if !utf8.Valid(cleaned) || strings.Contains(string(cleaned), "\x00") {
			t.Fatalf("not clean: %q", cleaned)
		}
		if json.Valid([]byte(document)) != json.Valid(cleaned) && !strings.Contains(document, "\x00") {
			t.Fatalf("valid JSON became invalid or the other way: %q, %q", document, cleaned)
		}
		var value any
		if json.Unmarshal(cleaned, &value) == nil {
			again, err := json.Marshal(value)
			if err != nil || strings.Contains(string(again), `\u0000`) && !strings.Contains(string(again), `\\u0000`) {
				t.Fatalf("a NUL is left in %s (%v)", again, err)
			}
		}
		if twice := CleanJSON(cleaned); string(twice) != string(cleaned) && json.Valid(cleaned) {
			t.Fatalf("cleaning twice differs: %q, %q", cleaned, twice)
		}
	})
}
