package store

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func user(content string) Entry { return Entry{Kind: EntryUser, ID: "u", TS: 1, Content: content} }
func assistant(content string) Entry {
	return Entry{Kind: EntryAssistant, ID: "a", TS: 1, Content: content}
}
func system(content string) Entry { return Entry{Kind: EntrySystem, Content: content} }
func note(content string) Entry   { return Entry{Kind: EntryNote, Content: content} }

// round is an assistant's entry with one call, and its result.
func round(key, result string) []Entry {
	return []Entry{
		{Kind: EntryAssistant, Calls: []EntryCall{{Key: key, Name: "read_file", Arguments: `{"path":"a"}`}}},
		{Kind: EntryTool, CallKey: key, Content: result},
	}
}

func list(parts ...any) []Entry {
	var entries []Entry
	for _, part := range parts {
		switch part := part.(type) {
		case Entry:
			entries = append(entries, part)
		case []Entry:
			entries = append(entries, part...)
		}
	}
	return entries
}

func size(entries []Entry) int { return len(appendTranscript(nil, Transcript{Entries: entries})) }

// pairs is n exchanges, numbered.
func pairs(n int) []Entry {
	var entries []Entry
	for i := range n {
		entries = append(entries, user(fmt.Sprintf("question %d", i)), assistant(fmt.Sprintf("answer %d", i)))
	}
	return entries
}

func TestCap(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 1000)
	for _, test := range []struct {
		name    string
		entries []Entry
		limit   int
		want    []Entry
	}{
		{"CD092 system and six pairs", list(system("terse"), pairs(6)), size(list(system("terse"), pairs(2))), list(system("terse"), pairs(6)[8:])},
		{"CD093 no system", pairs(6), size(pairs(2)), pairs(6)[8:]},
		{
			"CD094 a unit with calls goes whole",
			list(user("one"), round("k1", big), assistant("text"), user("two"), assistant("yes")), 500,
			list(user("two"), assistant("yes")),
		},
		{"CD095 note first", list(note(big), user("one"), assistant(big), user("two"), assistant("yes")), 500, list(user("two"), assistant("yes"))},
		{
			"what lies before the first user entry is the oldest unit",
			list(system("s"), assistant(big), user("two"), assistant("yes")), 500,
			list(system("s"), user("two"), assistant("yes")),
		},
		{
			"notes of the last unit go before anything of it",
			list(user("one"), note(big), round("k1", "r"), note(big), assistant("yes")), 700,
			list(user("one"), round("k1", "r"), assistant("yes")),
		},
		{
			"old results become a line, those of the last round stay",
			list(user("one"), round("k1", big), round("k2", big)), 1500,
			list(user("one"), round("k1", "[1000 bytes of this result were removed]"), round("k2", big)),
		},
		{
			"then old rounds go",
			list(user("one"), round("k1", "small"), round("k2", big), round("k3", "last")), size(list(user("one"), round("k3", "last"))),
			list(user("one"), round("k3", "last")),
		},
		{
			"then the longest text is halved",
			list(user("one"), round("k1", big)), 800,
			list(user("one"), round("k1", big[:500]+"\n[truncated 500 bytes]")),
		},
		{
			"the last resort: the user entry alone",
			list(user("one"), round("k1", big)), size(list(user("one"))),
			list(user("one")),
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := Cap(test.entries, test.limit)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if size(got) > test.limit {
				t.Errorf("%d bytes, limit %d", size(got), test.limit)
			}
		})
	}
}

func TestCD091CapReturnsWhatFits(t *testing.T) {
	t.Parallel()
	entries := list(note("n"), assistant("before anyone spoke"), pairs(3))
	for _, limit := range []int{size(entries), size(entries) + 1, HistoryMaxBytes} {
		if got := Cap(entries, limit); &got[0] != &entries[0] || len(got) != len(entries) {
			t.Errorf("limit %d: not the same slice", limit)
		}
	}
	if got := Cap(entries, size(entries)-1); len(got) == len(entries) {
		t.Error("one byte over the limit was let pass")
	}
	if got := Cap(nil, size(nil)); got != nil {
		t.Errorf("nothing became %v", got)
	}
}

func TestCD096CapShrinksOneLongUnit(t *testing.T) {
	t.Parallel()
	entries := list(user("do thirty things"))
	for i := range 30 {
		entries = append(entries, round(fmt.Sprint(i), strings.Repeat("r", 12<<10))...)
	}
	got := Cap(entries, HistoryMaxBytes)
	if problem := wellFormed(got); problem != "" || size(got) > HistoryMaxBytes {
		t.Errorf("%s; %d bytes", problem, size(got))
	}
	if got[0].Content != "do thirty things" || len(got) != len(entries) {
		t.Errorf("first %q, %d entries of %d; replacing old results would have been enough", got[0].Content, len(got), len(entries))
	}
}

func TestCD097CapShortensOneLongMessage(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"plain": strings.Repeat("x", 1<<20), "three-byte signs": strings.Repeat("猫", 1<<20/3), "escaped signs": strings.Repeat("\"\n", 1<<19),
	} {
		got := Cap(list(user(text)), HistoryMaxBytes)
		if len(got) != 1 || size(got) > HistoryMaxBytes || !utf8.ValidString(got[0].Content) {
			t.Fatalf("%s: %d entries, %d bytes", name, len(got), size(got))
		}
		kept, said, _ := strings.Cut(got[0].Content, "\n[truncated ")
		var missing int
		if _, err := fmt.Sscanf(said, "%d bytes]", &missing); err != nil && name != "escaped signs" {
			t.Fatalf("%s: %v", name, err)
		}
		if name != "escaped signs" && (!strings.HasPrefix(text, kept) || len(kept)+missing != len(text)) {
			t.Errorf("%s: kept %d, said %d missing of %d", name, len(kept), missing, len(text))
		}
		if size(got) < HistoryMaxBytes/4 {
			t.Errorf("%s: only %d bytes left", name, size(got))
		}
	}
}

func TestCapWithHugeUnknownFields(t *testing.T) {
	t.Parallel()
	spoken := user("hello")
	spoken.Unknown = Fields{"later": []byte(`"` + strings.Repeat("x", 5000) + `"`)}
	got := Cap(list(spoken), 500)
	if diff := cmp.Diff(list(user("hello")), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if spoken.Unknown == nil {
		t.Error("the argument was changed")
	}
}

// conversation draws a well-formed transcript that favours tools: every call has its result, directly after its
// assistant's entry, with notes in between at most.
func conversation(t *rapid.T) []Entry {
	texts := rapid.OneOf(
		rapid.StringN(0, 30, -1),
		rapid.Map(rapid.IntRange(0, 3000), func(n int) string { return strings.Repeat("é\"", n/3) }),
	)
	var (
		entries []Entry
		keys    int
	)
	notes := func() {
		for range rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "notes") {
			entries = append(entries, note(texts.Draw(t, "note")))
		}
	}
	if rapid.Bool().Draw(t, "pinned") {
		entries = append(entries, system(rapid.StringN(0, 40, -1).Draw(t, "system")))
	}
	notes()
	if rapid.IntRange(0, 4).Draw(t, "answer first") == 0 {
		entries = append(entries, assistant(texts.Draw(t, "greeting")))
	}
	for range rapid.IntRange(1, 6).Draw(t, "units") {
		entries = append(entries, user(texts.Draw(t, "user")))
		notes()
		for range rapid.IntRange(0, 8).Draw(t, "rounds") {
			asked := assistant(texts.Draw(t, "pre-tool text"))
			if rapid.Bool().Draw(t, "signed thinking") {
				asked.Unknown = Fields{"blocks": []byte(`[{"signature":"` + strings.Repeat("s", rapid.IntRange(0, 400).Draw(t, "signature")) + `"}]`)}
			}
			for range rapid.IntRange(0, 3).Draw(t, "calls") {
				keys++
				asked.Calls = append(asked.Calls, EntryCall{
					Key: fmt.Sprint(keys), Name: "read_file", Arguments: `{"path":"` + strings.Repeat("p", rapid.IntRange(0, 600).Draw(t, "path")) + `"}`,
				})
			}
			entries = append(entries, asked)
			for _, c := range asked.Calls {
				notes()
				entries = append(entries, Entry{Kind: EntryTool, CallKey: c.Key, Content: texts.Draw(t, "result")})
			}
			notes()
		}
	}
	return entries
}

// wellFormed says what is wrong with the pairing of calls and results; empty when nothing is.
func wellFormed(entries []Entry) string {
	var open []string // the keys of the calls that wait for their result
	for i, e := range entries {
		if e.Kind == EntryNote {
			continue
		}
		if e.Kind == EntryTool {
			if len(open) == 0 || open[0] != e.CallKey {
				return fmt.Sprintf("entry %d: result of %q, waiting %q", i, e.CallKey, open)
			}
			open = open[1:]
			continue
		}
		if len(open) > 0 {
			return fmt.Sprintf("entry %d: %q has no result", i, open)
		}
		for _, c := range e.Calls {
			open = append(open, c.Key)
		}
	}
	if len(open) > 0 {
		return fmt.Sprintf("at the end: %q has no result", open)
	}
	return ""
}

func TestCD098CapProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		entries := conversation(t)
		if problem := wellFormed(entries); problem != "" {
			t.Fatalf("the generator: %s", problem)
		}
		before := string(appendTranscript(nil, Transcript{Entries: entries}))
		limit := rapid.IntRange(600, max(600, size(entries)-1)).Draw(t, "limit")
		fits := size(entries) <= limit
		got := Cap(entries, limit)

		if after := string(appendTranscript(nil, Transcript{Entries: entries})); after != before {
			t.Fatal("the argument was changed")
		}
		if size(got) > limit {
			t.Fatalf("%d bytes, limit %d", size(got), limit)
		}
		if problem := wellFormed(got); problem != "" {
			t.Fatal(problem)
		}
		checkKept(t, entries, got, fits)
		if again := Cap(got, limit); len(again) != len(got) || &again[0] != &got[0] {
			t.Fatal("cutting what was cut cut more")
		}
	})
}

// checkKept holds a result to what must be left: the pinned entry, a user entry after it, the newest one, the order, and
// nothing that wasn't there.
func checkKept(t *rapid.T, entries, got []Entry, fits bool) {
	rest := got
	if entries[0].Kind == EntrySystem {
		if diff := cmp.Diff(entries[0], got[0]); diff != "" {
			t.Fatalf("pinned entry (-want +got):\n%s", diff)
		}
		rest = got[1:]
	}
	if !fits && rest[0].Kind != EntryUser {
		t.Fatalf("the first entry after the pinned one is of kind %s", rest[0].Kind)
	}
	newest := func(entries []Entry) (last Entry) {
		for _, e := range entries {
			if e.Kind == EntryUser {
				last = e
			}
		}
		return last
	}
	want, have := newest(entries).Content, newest(got).Content
	if kept, _, cut := strings.Cut(have, "\n[truncated "); have != want && (!cut || !strings.HasPrefix(want, kept)) {
		t.Fatalf("the newest user entry %.60q became %.60q", want, have)
	}
	// What is left is a subsequence: same kinds, calls and keys in the same order; only contents may differ.
	at := 0
	for i, e := range got {
		for at < len(entries) && !sameBut(entries[at], e) {
			at++
		}
		if at == len(entries) {
			t.Fatalf("entry %d (%s) was not there, or not in this place", i, e.Kind)
		}
		at++
	}
}

// sameBut says whether b is a, its content aside.
func sameBut(a, b Entry) bool {
	a.Content = b.Content
	return cmp.Equal(a, b)
}

// TestCapOfAnything: no form of entries makes Cap panic, loop or exceed a limit that can be met.
func TestCapOfAnything(t *testing.T) {
	t.Parallel()
	kinds := rapid.SampledFrom([]EntryKind{EntrySystem, EntryUser, EntryAssistant, EntryTool, EntryNote})
	rapid.Check(t, func(t *rapid.T) {
		entries := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Entry {
			return Entry{
				Kind: kinds.Draw(t, "kind"), Content: rapid.StringN(0, 200, -1).Draw(t, "content"),
				CallKey: rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "key"),
			}
		}), 0, 20).Draw(t, "entries")
		limit := rapid.IntRange(-1, 3000).Draw(t, "limit")
		got := Cap(entries, limit)
		if _, err := Encode(Transcript{Entries: got}); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzCapShortens(f *testing.F) {
	f.Add("猫\x00\xff", 1)
	f.Fuzz(func(t *testing.T, text string, repeat int) {
		text = strings.Repeat(Clean(text), 1+(repeat&1023))
		got := Cap(list(user(text)), 700)
		if size(got) > 700 || !utf8.ValidString(got[0].Content) {
			t.Errorf("%d bytes", size(got))
		}
	})
}
