package providers

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/parleybot/parley/providers/internal/rows"
)

func TestClassify(t *testing.T) {
	t.Parallel()
	wrapped := `"{\"a\":1}"`
	for _, c := range []struct {
		name, raw string
		finish    FinishReason
		state     ArgumentState
		object    string
		problem   string
	}{
		{"object", `{"a":1}`, FinishStop, Whole, `{"a":1}`, ""},
		{"spaces around", " {\"a\": 1}\n", FinishStop, Whole, `{"a": 1}`, ""},
		{"digits kept", `{"id":1234567890123456789}`, FinishStop, Whole, `{"id":1234567890123456789}`, ""},
		{"B47 empty", "", FinishStop, Whole, `{}`, ""},
		{"B47 blank", " \n\t", FinishStop, Whole, `{}`, ""},
		{"B47 null", "null", FinishStop, Whole, `{}`, ""},
		{"B47 array", "[]", FinishStop, Malformed, "", "must be a JSON object"},
		{"no text, ended by length", "", FinishLength, Truncated, "", "before any argument"},
		{"blank, ended by length", "  ", FinishLength, Truncated, "", "before any argument"},
		{"no text, end missing", "", FinishMissing, Truncated, "", "before any argument"},
		{"whole, ended by length", `{"a":1}`, FinishLength, Whole, `{"a":1}`, ""},
		{"null, ended by length", `null`, FinishLength, Whole, `{}`, ""},
		{"wrapped once", wrapped, FinishStop, Whole, `{"a":1}`, ""},
		{"wrapped twice", `"\"{}\""`, FinishStop, Malformed, "", "not a string"},
		{"wrapped text", `"hello"`, FinishStop, Malformed, "", "not a string"},
		{"wrapped, data after", wrapped + "x", FinishStop, Malformed, "", "unexpected data after the string"},
		{"wrapped, cut outside", `"{\"a\":1}`, FinishStop, Truncated, "", "ended early at byte 10"},
		{"wrapped, cut inside", `"{\"a\":"`, FinishStop, Truncated, "", "ended early"},
		{"cut under stop", `{"a": "x`, FinishStop, Truncated, "", "ended early at byte 8: inside a string that began at byte 6"},
		{"cut inside a rune", "{\"a\": \"\xe2\x82", FinishStop, Truncated, "", "ended early"},
		{"cut in an escape", `{"a": "\u12`, FinishStop, Truncated, "", "ended early"},
		{"cut after minus", `{"a": -`, FinishStop, Truncated, "", "ended early"},
		{"cut in a word", `{"a": tru`, FinishStop, Truncated, "", "inside true"},
		{"cut null", `nul`, FinishStop, Truncated, "", "inside null"},
		{"trailing data", `{"a":1} and so on`, FinishStop, Malformed, "", "after the object at byte 8"},
		{"two objects", `{"a":1}{"b":2}`, FinishStop, Malformed, "", "after the object at byte 7"},
		{"duplicate key", `{"a":1,"a":2}`, FinishStop, Malformed, "", `duplicate key "a"`},
		{"duplicate key, escaped", `{"a":1,"\u0061":2}`, FinishStop, Malformed, "", `duplicate key "a"`},
		{"duplicate key, deep", `{"x":[{"b":1,"b":2}]}`, FinishStop, Malformed, "", `duplicate key "b"`},
		{
			"same key in different objects", `{"a":{"a":{"b":1}},"b":[{"a":1},{"a":2}]}`, FinishStop, Whole,
			`{"a":{"a":{"b":1}},"b":[{"a":1},{"a":2}]}`, "",
		},
		{"number", `12`, FinishStop, Malformed, "", "must be a JSON object"},
		{"prose", `run it`, FinishStop, Malformed, "", "must be a JSON object"},
		{"missing comma", `{"a":1 "b":2}`, FinishStop, Malformed, "", "expected ',' or '}'"},
		{"missing value", `{"a":}`, FinishStop, Malformed, "", "expected a value"},
		{"trailing comma", `{"a":1,}`, FinishStop, Malformed, "", "expected a key"},
		{"mismatched", `{"a":[1}`, FinishStop, Malformed, "", "expected ',' or ']'"},
		{"leading zero", `{"a":01}`, FinishStop, Malformed, "", "leading zero"},
		{"bare NaN", `{"a":NaN}`, FinishStop, Malformed, "", "expected a value"},
		{"raw newline in a string", "{\"a\":\"x\ny\"}", FinishStop, Malformed, "", "control character"},
		{"invalid UTF-8", "{\"a\":\"\xffx\"}", FinishStop, Malformed, "", "invalid UTF-8"},
		{"bad escape", `{"a":"\x"}`, FinishStop, Malformed, "", "invalid escape"},
		{
			"64 levels", strings.Repeat(`{"a":`, 63) + "{}" + strings.Repeat("}", 63), FinishStop, Whole,
			strings.Repeat(`{"a":`, 63) + "{}" + strings.Repeat("}", 63), "",
		},
		{"65 levels", strings.Repeat(`{"a":`, 64) + "{}" + strings.Repeat("}", 64), FinishStop, Malformed, "", "deeper than 64"},
		{"too long", `{"a":"` + strings.Repeat("x", MaxArgumentBytes) + `"}`, FinishStop, Malformed, "", "longer than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := Classify(c.raw, c.finish)
			if got.State != c.state || string(got.Object) != c.object {
				t.Errorf("Classify = %s %q, want %s %q (%s)", got.State, got.Object, c.state, c.object, got.Problem)
			}
			if !strings.Contains(got.Problem, c.problem) || (got.Problem == "") != (c.problem == "") {
				t.Errorf("problem %q, want one with %q", got.Problem, c.problem)
			}
		})
	}
}

// The recovered keys are for a notice; the arguments themselves are refused in every one of these.
func TestTL160to164WholeKeys(t *testing.T) {
	t.Parallel()
	rows.Ran(t, "TL160", "TL161", "TL162", "TL163")
	for _, c := range []struct {
		name, raw string
		state     ArgumentState
		keys      []string
	}{
		{"TL160 cut string value", `{"a": "x", "b": "yy`, Truncated, []string{"a"}},
		{"TL161 trailing number may be a prefix", `{"a": "x", "n": 12345`, Truncated, []string{"a"}},
		{"TL161 number followed by a token", `{"n": 12345,`, Truncated, []string{"n"}},
		{"TL162 number in a cut array", `{"a": true, "l": [1, 2`, Truncated, []string{"a"}},
		{"TL162 nested object closed", `{"o": {"p": 1}, "q": {"r"`, Truncated, []string{"o"}},
		{"TL163 only an open brace", `{`, Truncated, nil},
		{"TL163 valid", `{"a": 1}`, Whole, nil},
		{"TL163 malformed", `{"a" 1`, Malformed, nil},
		{"TL163 bare array", `[1, 2`, Malformed, nil},
		{"word complete at the end", `{"a": true`, Truncated, []string{"a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := Classify(c.raw, FinishLength)
			if got.State != c.state {
				t.Errorf("state %s, want %s", got.State, c.state)
			}
			if d := cmp.Diff(c.keys, got.WholeKeys); d != "" {
				t.Error(d)
			}
		})
	}
}

// payload draws the text of a JSON object.
func payload(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		keys := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,3}`), 0, 4, rapid.ID[string]).Draw(t, "keys")
		parts := make([]string, len(keys))
		for i, k := range keys {
			parts[i] = quote(k) + rapid.SampledFrom([]string{":", ": "}).Draw(t, "colon") + drawValue(t, depth)
		}
		return "{" + strings.Join(parts, rapid.SampledFrom([]string{",", ", ", " ,\n"}).Draw(t, "comma")) + "}"
	})
}

func drawValue(t *rapid.T, depth int) string {
	kind := rapid.IntRange(0, 5).Draw(t, "kind")
	if depth == 0 && kind > 3 {
		kind = 0
	}
	switch kind {
	case 0:
		return quote(rapid.String().Draw(t, "string"))
	case 1:
		return rapid.SampledFrom([]string{"true", "false", "null"}).Draw(t, "word")
	case 2:
		return rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,3})?([eE][+-]?[0-9])?`).Draw(t, "number")
	case 3:
		return `"\u00e9\n\\\""`
	case 4:
		return "[" + drawValue(t, depth-1) + ", " + drawValue(t, depth-1) + "]"
	default:
		return payload(depth-1).Draw(t, "object")
	}
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// TL164: no prefix of what a model wrote is ever taken for what it wrote.
func TestTL164EveryPrefixIsTruncated(t *testing.T) {
	t.Parallel()
	rows.Ran(t, "TL164")
	rapid.Check(t, func(t *rapid.T) {
		raw := payload(3).Draw(t, "payload")
		if rapid.Bool().Draw(t, "wrapped") {
			raw = quote(raw)
		}
		if got := Classify(raw, FinishStop); got.State != Whole {
			t.Fatalf("%q is %s: %s", raw, got.State, got.Problem)
		}
		for n := 1; n < len(raw); n++ {
			for _, finish := range []FinishReason{FinishStop, FinishLength} {
				got := Classify(raw[:n], finish)
				if got.State != Truncated || got.Object != nil {
					t.Fatalf("prefix %q is %s: %s", raw[:n], got.State, got.Problem)
				}
			}
		}
	})
}

func FuzzClassify(f *testing.F) {
	for _, seed := range []string{``, `null`, `{}`, `{"a":1}`, `"{\"a\":1}"`, `{"a":[1,{"b":"\u00e9"}],"c":-0.5e+3}`, `{"a":1}x`, `{"a":1,"a":2}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got := Classify(raw, FinishStop)
		switch got.State {
		case Whole:
			var object map[string]json.RawMessage
			if err := json.Unmarshal(got.Object, &object); err != nil || object == nil {
				t.Fatalf("whole %q does not read as an object: %v", got.Object, err)
			}
		case Truncated:
			if json.Valid([]byte(raw)) && !strings.HasPrefix(strings.TrimSpace(raw), `"`) {
				t.Fatalf("%q is valid but counts as truncated: %s", raw, got.Problem)
			}
		case Malformed:
		default:
			t.Fatalf("state %q", got.State)
		}
		if (got.State == Whole) != (got.Problem == "") || (got.State == Whole) != (got.Object != nil) {
			t.Fatalf("inconsistent verdict %+v", got)
		}
	})
}

func BenchmarkClassify(b *testing.B) {
	raw := `{"memory_content":"likes green tea, no sugar","memory_scope":"target_user","tags":["tea","food"],"weight":12.5}`
	b.ReportAllocs()
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		if Classify(raw, FinishStop).State != Whole {
			b.Fatal("not whole")
		}
	}
}
