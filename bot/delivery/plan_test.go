package delivery

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rivo/uniseg"
	"pgregory.net/rapid"
)

// checkPlan holds every plan to its promises, using none of the planner's own
// bookkeeping but the ranges each message claims to show.
func checkPlan(t interface {
	Helper()
	Errorf(string, ...any)
}, text string, limits Limits, plan []Message,
) {
	t.Helper()
	limits = limits.withDefaults()
	if len(plan) > limits.Messages {
		t.Errorf("%d messages, limit %d", len(plan), limits.Messages)
	}
	pos := 0
	gap := func(from, to int) {
		dropped := text[from:to]
		if !Blank(dropped) {
			t.Errorf("dropped %q", dropped)
		}
	}
	for i, m := range plan {
		if n := units(m.Content); n > limits.Units {
			t.Errorf("message %d has %d units", i, n)
		}
		if Blank(m.Content) {
			t.Errorf("message %d is blank", i)
		}
		if utf8.ValidString(text) && !utf8.ValidString(m.Content) {
			t.Errorf("message %d is not UTF-8", i)
		}
		gap(pos, m.start)
		body := text[m.start:m.end]
		content := m.Content
		if len(m.Files) > 0 {
			var ok bool
			if content, ok = strings.CutSuffix(content, limits.notice()); !ok || i != len(plan)-1 {
				t.Errorf("message %d has a file, no notice", i)
			}
		}
		tail, ok := strings.CutPrefix(content, body)
		if !ok || !added(tail) {
			head, rest, _ := strings.Cut(content, "\n")
			if tail, ok = strings.CutPrefix(rest, body); !ok || !added(tail) || len(head) < 3 || strings.Trim(head[:3], "`~") != "" {
				t.Errorf("message %d shows more or less than its text: %q of %q", i, content, body)
			}
		}
		if dropped := text[m.end:m.next]; dropped != "" && dropped != " " && dropped != "\n" && dropped != "\t" || dropped != "" && tail != "" && len(m.Files) == 0 && i < len(plan)-1 {
			t.Errorf("message %d dropped %q, tail %q", i, dropped, tail)
		}
		pos = m.next
		if len(m.Files) > 0 {
			if !strings.HasSuffix(string(m.Files[0].Data), text[pos:]) {
				t.Errorf("file does not hold the rest")
			}
			pos = len(text)
		}
	}
	gap(pos, len(text))
}

// added reports whether s is nothing but a closing fence or closers.
func added(s string) bool {
	s = strings.TrimPrefix(s, "\n")
	if strings.Trim(s, ")|") == "" {
		return true
	}
	return len(s) >= 3 && (strings.Trim(s, "`") == "" || strings.Trim(s, "~") == "")
}

// openAtEnd is a second opinion on fences: what is open after content.
func openAtEnd(content string, limit int) fence {
	var f fence
	for line := range strings.SplitSeq(content, "\n") {
		switch kind, opened, _ := classify(f, line, limit); kind {
		case lineOpens:
			f = opened
		case lineCloses:
			f = fence{}
		case lineText, lineBlank:
		}
	}
	return f
}

func lengths(plan []Message) []int {
	var n []int
	for _, m := range plan {
		n = append(n, units(m.Content))
	}
	return n
}

func contents(plan []Message) []string {
	var s []string
	for _, m := range plan {
		s = append(s, m.Content)
	}
	return s
}

func TestPlanWhole(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ text, want string }{
		"plain":                    {"hello", "hello"},
		"B11 error-looking line":   {"- a\n- b\n⚠️ # Error: connection timed out\n\nmore\n\nlast", "- a\n- b\n⚠️ # Error: connection timed out\n\nmore\n\nlast"},
		"open fence":               {"```go\nx := 1", "```go\nx := 1\n```"},
		"open fence after newline": {"~~~~\nx\n", "~~~~\nx\n~~~~"},
		"TL140 face":               {"nice :)\nnext", "nice :)\nnext"},
		"TL140 sad face at end":    {"sorry :(", "sorry :("},
		"TL141 open parenthesis":   {"see this (it is", "see this (it is)"},
		"TL141 nested":             {"a (b (c", "a (b (c))"},
		"TL141 other paragraph":    {"a (b\n\nc", "a (b\n\nc"},
		"TL142 product":            {"2 * 3 = 6", "2 * 3 = 6"},
		"TL142 name":               {"user_id", "user_id"},
		"TL142 bullets":            {"* a\n* b\n- c", "* a\n* b\n- c"},
		"TL143 open spoiler":       {"the killer is ||the butler", "the killer is ||the butler||"},
		"TL143 closed spoiler":     {"||x|| and ||y||", "||x|| and ||y||"},
		"TL143 with parenthesis":   {"||a (b", "||a (b)||"},
		"TL143 around a block":     {"||see\n```\nx\n```", "||see\n```\nx\n```\n||"},
		"logical or":               {"if a || b then", "if a || b then"},
		"table":                    {"| a | b |\n|---|---|\n| 1 ||", "| a | b |\n|---|---|\n| 1 ||"},
		"parenthesis in code":      {"call `f(` now", "call `f(` now"},
		"parenthesis in block":     {"```\nf(\n```\ndone", "```\nf(\n```\ndone"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff([]string{tt.want}, contents(Plan(tt.text, Limits{}))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPlanB02Blank(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "   \n", "\u200b", "\ufeff\n\u2060", "\u3164", "\n\n\n", "\x00"} {
		if plan := Plan(text, Limits{}); plan != nil {
			t.Errorf("Plan(%q) = %v", text, plan)
		}
	}
	text := strings.Repeat("a", 1950) + strings.Repeat("\n", 3000)
	if plan := Plan(text, Limits{}); len(plan) != 1 {
		t.Errorf("blank tail: %v", lengths(plan))
	}
	text = "a" + strings.Repeat("\n", 5000) + "b"
	plan := Plan(text, Limits{})
	checkPlan(t, text, Limits{}, plan)
	if len(plan) != 2 {
		t.Errorf("blank middle: %v", lengths(plan))
	}
}

func TestPlanB01Lengths(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{1950: 1, 1951: 2, 2000: 2, 2001: 2, 6500: 4} {
		for name, text := range map[string]string{
			"solid": strings.Repeat("a", n),
			"words": strings.Repeat("word ", n/5) + strings.Repeat("x", n%5),
		} {
			plan := Plan(text, Limits{})
			checkPlan(t, text, Limits{}, plan)
			if len(plan) != want {
				t.Errorf("%d %s: %v", n, name, lengths(plan))
			}
		}
	}
}

func TestPlanPlaces(t *testing.T) {
	t.Parallel()
	a, b := strings.Repeat("a", 40), strings.Repeat("b", 40)
	tests := map[string]struct {
		text string
		want []string
	}{
		"paragraph before line":    {a + "\n\ncc\ndd\n" + b, []string{a + "\n", "cc\ndd\n" + b}},
		"line before sentence":     {a + "\ncc. dd " + b, []string{a, "cc. dd " + b}},
		"sentence before word":     {a + " cc. dd " + b, []string{a + " cc.", "dd " + b}},
		"word":                     {a + " cc dd " + b, []string{a + " cc dd", b}},
		"list number is no end":    {a + " 1. dd " + b, []string{a + " 1. dd", b}},
		"nested list keeps indent": {a + "\n  - " + b, []string{a, "  - " + b}},
		"link whole":               {a + " x [a b c d](http://e.f/gggggg h) " + b, []string{a + " x", "[a b c d](http://e.f/gggggg h)", b}},
		"code whole":               {a + " x `a b c d e f g h i j` " + b, []string{a + " x", "`a b c d e f g h i j` " + b}},
		"strong whole":             {a + " x **a b c d e f g h i** " + b, []string{a + " x", "**a b c d e f g h i** " + b}},
		"emoji whole":              {strings.Repeat("a", 56) + "<:smile:1234567>" + b, []string{strings.Repeat("a", 56), "<:smile:1234567>" + b}},
		"mention whole":            {strings.Repeat("a", 56) + "<@1234567890>" + b, []string{strings.Repeat("a", 56), "<@1234567890>" + b}},
		"no forged subtext":        {a + " 01234567890123456789 -# stopped", []string{a, "01234567890123456789 -# stopped"}},
		"no new heading":           {a + " 01234567890123456 789 # x yy zz", []string{a + " 01234567890123456", "789 # x yy zz"}},
		"before a block":           {"cc\n```\n" + a + "\n```\n" + b, []string{"cc\n```\n" + a + "\n```", b}},
		"block kept whole":         {"cc\nddddddddddddd\n```\n" + a + "\n```\n" + b, []string{"cc\nddddddddddddd", "```\n" + a + "\n```", b}},
		"CRLF block":               {"```\r\n" + a + "\r\n" + b + "\r\n```\r\nend", []string{"```\r\n" + a + "\r\n```", "```\n" + b + "\r\n```\r\nend"}},
		"block reopened":           {"~~~~go x\n" + a + "\n" + b + "\n~~~~", []string{"~~~~go x\n" + a + "\n~~~~", "~~~~go x\n" + b + "\n~~~~"}},
		"long line of code":        {"```\n" + a + a + "\n```", []string{"```\n" + (a + a)[:56] + "\n```", "```\n" + (a + a)[56:] + "\n```"}},
		"ideographic full stop":    {strings.Repeat("あ", 49) + "。" + strings.Repeat("い", 30), []string{strings.Repeat("あ", 49) + "。", strings.Repeat("い", 30)}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limits := Limits{Units: 64}
			plan := Plan(tt.text, limits)
			checkPlan(t, tt.text, limits, plan)
			if diff := cmp.Diff(tt.want, contents(plan)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A block that closes just before a long tail once made a part overflow by the
// length of a fence that was no longer open there.
func TestPlanB14TailSweep(t *testing.T) {
	t.Parallel()
	for tail := 1900; tail <= 2010; tail++ {
		for name, text := range map[string]string{
			"own line":  "```\n" + strings.Repeat("c", 1980) + "\n```\n" + strings.Repeat("t", tail),
			"same line": "```\n" + strings.Repeat("c", 1980) + "\n```" + strings.Repeat("t", tail),
			"blanks":    "```\n" + strings.Repeat("c", 1930) + "\n```" + strings.Repeat(" ", tail) + "\nend",
			"short":     "```\n" + strings.Repeat("c\n", tail/2) + "```\nend",
		} {
			plan := Plan(text, Limits{})
			checkPlan(t, text, Limits{}, plan)
			for i, m := range plan {
				if f := openAtEnd(m.Content, 487); f.open() {
					t.Errorf("%s, tail %d: message %d leaves a fence open", name, tail, i)
				}
			}
		}
	}
}

func TestPlanB16FenceLikeLine(t *testing.T) {
	t.Parallel()
	line := "\n# heading in code " + strings.Repeat("x", 60)
	tests := map[string]string{
		"text after marks": "```txt\n```not-a-close" + strings.Repeat(line, 60) + "\n```\nprose",
		"too few marks":    "````txt\n```" + strings.Repeat(line, 60) + "\n````\nprose",
		"other mark":       "```txt\n~~~" + strings.Repeat(line, 60) + "\n```\nprose",
		"deep indent":      "```txt\n    ```" + strings.Repeat(line, 60) + "\n```\nprose",
		"CRLF":             strings.ReplaceAll("```txt\n```no"+strings.Repeat(line, 60)+"\n```\nprose", "\n", "\r\n"),
		"indented closer":  "   ```txt" + strings.Repeat(line, 60) + "\n   ``` \t\nprose",
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := Plan(text, Limits{})
			checkPlan(t, text, Limits{}, plan)
			if len(plan) < 3 {
				t.Fatalf("%d messages", len(plan))
			}
			for i, m := range plan {
				if f := openAtEnd(m.Content, 487); f.open() {
					t.Errorf("message %d leaves a fence open", i)
				}
				first, _, _ := strings.Cut(m.Content, "\n")
				if want := strings.Trim(strings.Split(text, "\n")[0], " \r"); strings.Trim(first, " \r") != want {
					t.Errorf("message %d begins with %q, want %q", i, first, want)
				}
			}
			if !strings.HasSuffix(plan[len(plan)-1].Content, "prose") {
				t.Errorf("last message: %s", plan[len(plan)-1])
			}
		})
	}
}

func TestPlanB18Graphemes(t *testing.T) {
	t.Parallel()
	family := "👨‍👩‍👧‍👦"
	tests := map[string]struct {
		text string
		want []int
	}{
		"kana":       {strings.Repeat("あ", 2000), []int{1950, 50}},
		"family":     {strings.Repeat("a", 1949) + family, []int{1949, 11}},
		"family end": {strings.Repeat("a", 1999) + family, []int{1950, 60}},
		"flags":      {strings.Repeat("🇩🇪", 1200), []int{1948, 1948, 904}},
		"combining":  {strings.Repeat("e\u0301", 1000), []int{1950, 50}},
		"zalgo":      {"a" + strings.Repeat("\u0301", 3000), []int{1948, 1053}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := Plan(tt.text, Limits{})
			checkPlan(t, tt.text, Limits{}, plan)
			if diff := cmp.Diff(tt.want, lengths(plan)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPlanB20Indentation(t *testing.T) {
	t.Parallel()
	var code strings.Builder
	for i := range 90 {
		fmt.Fprintf(&code, "%sif step_%d:  # indented\n", strings.Repeat("    ", i%5), i)
	}
	text := "```python\n" + code.String() + "```"
	plan := Plan(text, Limits{})
	var joined strings.Builder
	for _, m := range plan {
		body, ok := strings.CutPrefix(m.Content, "```python\n")
		if !ok {
			t.Errorf("does not reopen: %s", m)
		}
		joined.WriteString(strings.TrimSuffix(body, "```"))
	}
	if diff := cmp.Diff(code.String(), joined.String()); diff != "" {
		t.Error(diff)
	}
}

func TestPlanTL138CD142(t *testing.T) {
	t.Parallel()
	text := "Here you are:\n\n```go\n" + strings.Repeat("x := compute(1234567890)\n", 190) + "```\n\nThat is all."
	plan := Plan(text, Limits{})
	checkPlan(t, text, Limits{}, plan)
	if len(plan) != 3 {
		t.Errorf("%v", lengths(plan))
	}
	for i, m := range plan {
		if strings.Count(m.Content, "```") != 2 {
			t.Errorf("message %d: %s", i, m)
		}
	}
}

func TestPlanFile(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("A sentence of some length, to be read. ", 600)
	plan := Plan(text, Limits{})
	checkPlan(t, text, Limits{}, plan)
	if len(plan) != 8 || len(plan[7].Files) != 1 || plan[7].Files[0].Name != "answer.md" {
		t.Fatalf("%d messages, files %v", len(plan), plan[len(plan)-1].Files)
	}
	code := "```go\n" + strings.Repeat("x := compute(1234567890)\n", 900) + "```\nend"
	plan = Plan(code, Limits{})
	checkPlan(t, code, Limits{}, plan)
	if file := plan[7].Files[0]; !strings.HasPrefix(string(file.Data), "```go\nx := ") || !strings.HasSuffix(string(file.Data), "```\nend") {
		t.Errorf("file begins %.20q", file.Data)
	}
	if fits := strings.Repeat("a", 8*1950); len(Plan(fits, Limits{})[7].Files) != 0 {
		t.Error("eight full messages need no file")
	}
}

func TestPlanParagraphs(t *testing.T) {
	t.Parallel()
	limits := Limits{Paragraphs: true, Messages: 5}
	text := "one\n\n\ntwo\nstill\n\n---\n\n```\na\n\nb\n```\n\nthree (x\n\nlast\n\ntail\n\nend"
	plan := Plan(text, limits)
	want := []string{"one\n\n", "two\nstill\n", "---\n\n```\na\n\nb\n```\n", "three (x\n", "last\n\ntail\n\nend"}
	if diff := cmp.Diff(want, contents(plan)); diff != "" {
		t.Error(diff)
	}
	checkPlan(t, text, limits, plan)
}

func textGenerator() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{
			"\n", "\n\n", " ", "  ", "word ", "A sentence. ", "```", "```go\n", "\n```\n", "~~~~\n", "\n~~~~\n", "`code span`", "`", "[text](https://example.org/a)",
			"https://example.org/path ", "<:smile:123>", "<@42>", "**strong words**", "||a secret||", "||", "(", ")", "👨‍👩‍👧‍👦", "🇩🇪", "あいう。", "e\u0301", "\r\n", "    ",
			"- item\n", "# heading\n", "-# sub", "| a | b |\n", "\u200b", "* ", "\t",
		}),
		rapid.StringN(0, 30, -1),
		rapid.Map(rapid.IntRange(1, 90), func(n int) string { return strings.Repeat("x", n) }),
	)
	return rapid.Map(rapid.SliceOfN(piece, 0, 60), func(p []string) string { return strings.Join(p, "") })
}

func limitsGenerator() *rapid.Generator[Limits] {
	return rapid.Custom(func(t *rapid.T) Limits {
		return Limits{
			Units:      rapid.SampledFrom([]int{64, 80, 120, 300}).Draw(t, "units"),
			Messages:   rapid.SampledFrom([]int{1, 3, 8, 1000}).Draw(t, "messages"),
			Paragraphs: rapid.Bool().Draw(t, "paragraphs"),
		}
	})
}

func TestPlanProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, limits := textGenerator().Draw(t, "text"), limitsGenerator().Draw(t, "limits")
		plan := Plan(text, limits)
		checkPlan(t, text, limits, plan)
		for i, m := range plan {
			if f := openAtEnd(m.Content, limits.fenceLimit()); f.open() && len(m.Files) == 0 {
				t.Errorf("message %d leaves %+v open: %s", i, f, m)
			}
			if i > 0 && m.start == plan[i-1].end {
				checkBoundary(t, text, m.start)
			}
		}
	})
}

// checkBoundary fails when a cut with nothing dropped splits a grapheme cluster.
func checkBoundary(t *rapid.T, text string, at int) {
	line := strings.LastIndexByte(text[:at], '\n') + 1
	g := uniseg.NewGraphemes(text[line:])
	for g.Next() {
		if from, to := g.Positions(); line+from < at && at < line+to && to-from < 40 {
			t.Errorf("cut inside cluster %q", g.Str())
		}
	}
}

// What the cursor has returned for a part of the text is what the whole text gets.
func TestCursorNeverTakesBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, limits := textGenerator().Draw(t, "text"), limitsGenerator().Draw(t, "limits")
		text += textGenerator().Draw(t, "more")
		want := Plan(text, limits)
		c := newCursor(limits)
		var got []Message
		for at := 0; at < len(text); at += rapid.IntRange(1, 40).Draw(t, "delta") {
			for {
				m, ok := c.next(text[:at], false)
				if !ok {
					break
				}
				got = append(got, m)
			}
		}
		for m, ok := c.next(text, true); ok; m, ok = c.next(text, true) {
			got = append(got, m)
		}
		if diff := cmp.Diff(contents(want), contents(got)); diff != "" {
			t.Errorf("streamed differently: %s", diff)
		}
	})
}

// The same, character by character, where a block, a fence or a span is undecided.
func TestCursorWaitsForWhatMatters(t *testing.T) {
	t.Parallel()
	a := strings.Repeat("a", 30)
	texts := map[string]string{
		"block that fits":     a + "\n" + a[:9] + "\n```go\n" + a + "\n" + a[:12] + "\n```\n" + a + a + a,
		"block that does not": a + "\n" + a[:9] + "\n```go\n" + a + "\n" + a + "\n```\n" + a + a + a,
		"closer or code":      a + "\n```\n" + a + "\n```x\n" + a + "\n```\n" + a + a,
		"spoiler":             a + " bb\n\n" + a + " ||cc\n\ndd|| " + a + a + a,
		"link":                a + " bbbbbbbbbbb [text of it](http://a.b/c) " + a + a + a,
		"blank lines":         a + "\n\n \n   \n" + a + "\n  \n```\n" + a + "\n```\n" + a + a,
	}
	line := strings.Repeat("b", 29) + "\n"
	texts["long block that does not"] = strings.Repeat(line, 27) + "\n```\n" + strings.Repeat(line, 100) + "```\n" + a
	texts["long block that fits"] = strings.Repeat(line, 27) + "\n```\n" + strings.Repeat(line, 60) + "```\n" + strings.Repeat(line, 100)
	for name, text := range texts {
		for _, paragraphs := range []bool{false, true} {
			limits, step := Limits{Units: 64, Paragraphs: paragraphs}, 1
			if strings.HasPrefix(name, "long") {
				limits.Units, step = defaultUnits, 20
			}
			c := newCursor(limits)
			var got []Message
			for at := 0; at < len(text); at += step {
				for m, ok := c.next(text[:at], false); ok; m, ok = c.next(text[:at], false) {
					got = append(got, m)
				}
			}
			if len(got) == 0 {
				t.Errorf("%s: nothing before the end", name)
			}
			for m, ok := c.next(text, true); ok; m, ok = c.next(text, true) {
				got = append(got, m)
			}
			if diff := cmp.Diff(contents(Plan(text, limits)), contents(got)); diff != "" {
				t.Errorf("%s, paragraphs %v: %s", name, paragraphs, diff)
			}
		}
	}
}

// Wherever the cut falls in a line with marks, no half of it opens or closes a block.
func TestPlanMarksAtTheCut(t *testing.T) {
	t.Parallel()
	for n := 30; n < 80; n++ {
		x := strings.Repeat("x", n)
		for name, text := range map[string]string{
			"code, marks at the end":  "```\n" + x + "```\n```",
			"code, spaced":            "```\n" + x + " ``` \n```\nend",
			"code, other clusters":    "```\n" + strings.Repeat("(é", n) + "\n```",
			"prose":                   x + " ```js " + x,
			"prose, tildes":           x + "~~~" + x,
			"line that opens nothing": "```js a`b " + x + " " + x,
		} {
			limits := Limits{Units: 64}
			plan := Plan(text, limits)
			checkPlan(t, text, limits, plan)
			for i, m := range plan {
				if f := openAtEnd(m.Content, limits.fenceLimit()); f.open() {
					t.Errorf("%s, %d: message %d leaves a fence open: %s", name, n, i, m)
				}
				if strings.HasPrefix(m.Content, "```\n```") {
					t.Errorf("%s, %d: message %d has an empty block: %s", name, n, i, m)
				}
			}
		}
	}
}

func FuzzPlan(f *testing.F) {
	for _, seed := range []string{"", "a\n\nb", "```go\nx\n```", "||", "(", "`````", "~~~\n```", "\xff\xfe", "[a](b", "🇩🇪🇩", "\r\n\r\n"} {
		f.Add(seed, 64, 3, false)
		f.Add(strings.Repeat(seed, 100), 90, 8, true)
	}
	f.Fuzz(func(t *testing.T, text string, size, messages int, paragraphs bool) {
		limits := Limits{Units: size % 2001, Messages: messages % 100, Paragraphs: paragraphs}
		checkPlan(t, text, limits, Plan(text, limits))
	})
}

func prose(n int) string {
	const p = "The **quick** brown fox jumps over `the` lazy dog (twice), see [this](https://example.org/x).\nAnother line follows it.\n\n"
	return strings.Repeat(p, n/len(p)+1)[:n]
}

func BenchmarkPlanShort(b *testing.B) {
	text := prose(200)
	b.ReportAllocs()
	for b.Loop() {
		Plan(text, Limits{})
	}
}

func BenchmarkPlan10k(b *testing.B) {
	text := prose(10_000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Plan(text, Limits{})
	}
}
