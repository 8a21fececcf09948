package providers

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// fuzzPieces are what fuzzed fragments say.
var fuzzPieces = []string{"{", "}", `{"a":1}`, `"a":`, "12345678901234567890", ",", " ", `"\"{}\""`, "[", "null", "", "👋", `"`, `\u00`, `{"a":1,"a":2}`, "x"}

// fuzzFragments turns bytes into a stream: each byte is a kind, a slot and a piece.
func fuzzFragments(data []byte) (out []Fragment, err error) {
	for i, b := range data {
		piece := fuzzPieces[int(b>>4)]
		switch b % 8 {
		case 0:
			out = append(out, TextDelta{piece})
		case 1:
			out = append(out, ThinkingDelta{piece})
		case 2, 3, 4:
			d := CallDelta{Slot: i % 3, Arguments: piece}
			if b%8 == 4 {
				d.ID, d.Name = "id", "echo"
			}
			out = append(out, d)
		case 5:
			out = append(out, UsageReport{Usage: Usage{Input: int(b)}}, nil)
		case 6:
			reasons := []FinishReason{FinishStop, FinishLength, FinishFiltered, FinishError, FinishMissing, "surprise"}
			out = append(out, End{Reason: reasons[int(b>>4)%len(reasons)]})
		case 7:
			if b>>4 == 15 {
				return out, &Error{Provider: "fuzz", Kind: KindNetwork}
			}
			if b>>4 == 14 {
				return out, errors.New("plain")
			}
			out = append(out, ThinkingDone{ThinkingBlock{Raw: json.RawMessage(piece)}}, Beat{})
		}
	}
	return out, nil
}

// FuzzCollect holds what no stream may break: without a normal or a length end no call is whole, what is whole is one
// JSON object of the very bytes that came, and nothing is lost or made up.
func FuzzCollect(f *testing.F) {
	f.Add([]byte{0x24, 0x06})
	f.Add([]byte{0x04, 0x32, 0x42, 0x12, 0x16})
	f.Add([]byte{0x24, 0x22, 0xf7})
	f.Add([]byte{0x74, 0x26, 0x00, 0xb0})
	f.Fuzz(func(t *testing.T, data []byte) {
		fragments, failure := fuzzFragments(data)
		var text strings.Builder
		arguments := map[int]string{}
		ended := FinishMissing
		for _, fragment := range fragments {
			switch fragment := fragment.(type) {
			case TextDelta:
				text.WriteString(fragment.Text)
			case CallDelta:
				arguments[fragment.Slot] += fragment.Arguments
			case End:
				ended = fragment.Reason
			case ThinkingDelta, ThinkingDone, UsageReport, Beat:
			}
		}
		seen := 0
		got, err := Collect(stream(failure, fragments...), func(Fragment) { seen++; panic("a careless sink") })
		if failure != nil && err == nil || failure == nil && (err == nil) != (ended == FinishStop || ended == FinishLength || ended == FinishFiltered || ended == FinishError) {
			t.Fatalf("ended %s, failed %v: error %v", ended, failure, err)
		}
		if got.Text != text.String() || len(got.Calls) != len(arguments) {
			t.Fatalf("text %q of %q, %d calls of %d", got.Text, text.String(), len(got.Calls), len(arguments))
		}
		slot := 0
		for _, c := range got.Calls {
			for ; arguments[slot] == "" && c.Arguments != ""; slot++ {
			}
			if c.Arguments != "" && arguments[slot] != c.Arguments {
				t.Fatalf("arguments %q, came as %q", c.Arguments, arguments[slot])
			}
			if c.Arguments != "" {
				slot++
			}
			if c.State != Whole {
				if c.Object != nil || c.Problem == "" {
					t.Fatalf("call %+v", c)
				}
				continue
			}
			var object map[string]json.RawMessage
			if err != nil || json.Unmarshal(c.Object, &object) != nil || object == nil {
				t.Fatalf("whole call %+v, error %v", c, err)
			}
		}
	})
}
