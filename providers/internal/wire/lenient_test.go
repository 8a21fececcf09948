package wire

import (
	"encoding/json"
	"testing"
)

// TestLenientValues compares the short cuts with what the decoder makes of the same text.
func TestLenientValues(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		`"a"`, `""`, `"👋 é"`, `"\u0041\n"`, `"\ud800"`, "\"\xff\"", `null`, `7`, `{}`, `["a"]`, `true`, ` "a" `,
	} {
		want := ""
		_ = json.Unmarshal([]byte(raw), &want)
		got := struct{ V Text }{"before"}
		if err := json.Unmarshal([]byte(`{"V":`+raw+`}`), &got); err != nil || string(got.V) != want && raw != "null" {
			t.Errorf("%s: %q, want %q, error %v", raw, got.V, want, err)
		}
	}
	for raw, want := range map[string]Count{`12`: 12, `12.0`: 12, `1e3`: 1000, `-1`: 0, `1e300`: 0, `"7"`: 0, `{}`: 0, `null`: 0, `true`: 0} {
		got := struct{ V Count }{}
		if err := json.Unmarshal([]byte(`{"V":`+raw+`}`), &got); err != nil || got.V != want {
			t.Errorf("%s: %d, want %d, error %v", raw, got.V, want, err)
		}
	}
}
