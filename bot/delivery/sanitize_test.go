package delivery

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestSanitize(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ in, want string }{
		"plain":               {"hello\tthere\r\nyou", "hello\tthere\r\nyou"},
		"B30 NUL":             {"a\x00b\x1b[0m\x7f\u0085c", "ab[0mc"},
		"invalid UTF-8":       {"a\xffb", "a\uFFFDb"},
		"forged status":       {"ok\n-# stopped", "ok\n\\-# stopped"},
		"forged with NUL":     {"-\x00# stopped", `\-# stopped`},
		"forged with C1":      {"-\u0080# stopped", `\-# stopped`},
		"forged in a quote":   {"> -# stopped", `> \-# stopped`},
		"forged, indented":    {"  -# x", `  \-# x`},
		"in code":             {"```\n-# x\n```\n-# y", "```\n-# x\n```\n\\-# y"},
		"not subtext":         {"-#x\n- # y\na -# b\n-#", "-#x\n- # y\na -# b\n-#"},
		"B11 all of it stays": {"- a\n⚠️ # Error: connection timed out\n\nrest\n\nend", "- a\n⚠️ # Error: connection timed out\n\nrest\n\nend"},
		"B21 mentions stay":   {"@everyone <@&1> <@2>", "@everyone <@&1> <@2>"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Sanitize(tt.in); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// However a text is divided into deltas, it comes out the same.
func TestCleanerDeltas(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{"-", "#", " ", "\n", "```", "\n```\n", "> ", "é", "👍", "\xff", "\x00", "\u0080", "text", strings.Repeat(" ", 70)})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(piece).Draw(t, "text"), "")
		var b strings.Builder
		var c cleaner
		for at := 0; at < len(text); {
			n := min(rapid.IntRange(1, 9).Draw(t, "delta"), len(text)-at)
			c.write(&b, text[at:at+n])
			at += n
		}
		c.flush(&b)
		if want := Sanitize(text); b.String() != want {
			t.Errorf("got %q, want %q", b.String(), want)
		}
		if !utf8.ValidString(b.String()) || strings.ContainsAny(b.String(), "\x00\u0080") {
			t.Errorf("unclean: %q", b.String())
		}
	})
}

func TestName(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in    string
		limit int
		want  string
	}{
		"plain":    {"Ada Lovelace", 32, "Ada Lovelace"},
		"lines":    {" a\n-# stopped\u200b\x00 ", 32, `a \-\# stopped`},
		"markdown": {"**x** [y](http://z) <@1>", 32, `\*\*x\*\* \[y\]\(http\://z\) \<\@1\>`},
		"long":     {strings.Repeat("a", 40), 10, "aaaaaaaaa…"},
		"cluster":  {"aaaa👨‍👩‍👧‍👦", 10, "aaaa…"},
		"override": {"a\u202eb", 10, "ab"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Name(tt.in, tt.limit); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
