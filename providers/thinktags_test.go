package providers

import (
	"strings"
	"testing"

	"github.com/parleybot/parley/providers/internal/rows"
)

func TestTL139ThinkTags(t *testing.T) {
	t.Parallel()
	rows.Ran(t, "TL139")
	for _, c := range []struct {
		name, in       string
		unopened       bool
		text, thinking string
	}{
		{"plain text", "Hi there, 1 < 2", false, "Hi there, 1 < 2", ""},
		{"B68 think", "<think>secret</think>Hi", false, "Hi", "secret"},
		{"B68 thought", "<thought>secret</thought>\n\nHi", false, "Hi", "secret"},
		{"any case", "<THINK>secret</Think>Hi", false, "Hi", "secret"},
		{"B68 unclosed leaks nothing", "<think>secret and more", false, "", "secret and more"},
		{"B68 unclosed, half a closer", "<think>secret</thi", false, "", "secret</thi"},
		{"B68 literal in a fence stays", "So:\n```html\n<think>x</think>\n```\n<think>y</think>done", false, "So:\n```html\n<think>x</think>\n```\ndone", "y"},
		{"literal in a longer fence stays", "````\n```\n<think>x\n````\nok", false, "````\n```\n<think>x\n````\nok", ""},
		{"literal in a span stays", "Use `<think>` and ``<thought> ` `` here", false, "Use `<think>` and ``<thought> ` `` here", ""},
		{"a stray backtick is no code", "it`s\n<think>x</think>y", false, "it`s\ny", "x"},
		{"nested opener is thinking", "<think>a<think>b</think>c", false, "c", "a<think>b"},
		{"other tags are text", "<thinker>a</b>", false, "<thinker>a</b>", ""},
		{"text at the end that only looked like one", "a <thin", false, "a <thin", ""},
		{"several", "<think>a</think>b<reasoning>c</reasoning> d", false, "bd", "ac"},
		{"TL139 stray closer", "first I look</think>\nHi", true, "Hi", "first I look"},
		{"no closer came: it was the answer", "Hi there", true, "Hi there", ""},
		{"opened after all", "<think>a</think>Hi", true, "Hi", "a"},
		{"stray closer where none is expected is taken out", "a</think>b", false, "ab", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for size := 1; size <= len(c.in); size++ {
				var fs []Fragment
				for rest := c.in; rest != ""; {
					n := min(size, len(rest))
					fs = append(fs, TextDelta{rest[:n]})
					rest = rest[n:]
				}
				got, err := Collect(ThinkTags(stream(nil, append(fs, End{Reason: FinishStop})...), c.unopened), nil)
				if err != nil || got.Text != c.text || got.Thinking != c.thinking {
					t.Fatalf("in pieces of %d: text %q, thinking %q, error %v", size, got.Text, got.Thinking, err)
				}
			}
		})
	}
}

func TestThinkTagsPassesTheRestOn(t *testing.T) {
	t.Parallel()
	broken := &Error{Kind: KindNetwork}
	got, err := Collect(ThinkTags(stream(broken, ThinkingDelta{"a"}, TextDelta{"x <thi"}, CallDelta{Name: "n"}, Beat{}, UsageReport{Model: "m"}), true), nil)
	if KindOf(err) != KindNetwork || got.Text != "x <thi" || got.Thinking != "a" || len(got.Calls) != 1 || got.Model != "m" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestThinkTagsBoundsWhatItHolds(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxHeldText/2)
	seen := 0
	for f, err := range ThinkTags(stream(nil, TextDelta{long}, TextDelta{long}, TextDelta{"y"}, Beat{}), true) {
		if err != nil {
			t.Error(err)
		}
		if d, ok := f.(TextDelta); ok {
			seen += len(d.Text)
		}
		if _, ok := f.(Beat); ok && seen != 2*len(long)+1 {
			t.Errorf("%d bytes had been passed on", seen)
		}
	}
}

func TestThinkTagsStopsWithItsReader(t *testing.T) {
	t.Parallel()
	n := 0
	for _, err := range ThinkTags(stream(nil, TextDelta{"a`b`c<think>d</think>e"}, End{Reason: FinishStop}), false) {
		n++
		if err != nil {
			t.Error(err)
		}
		break
	}
	if n != 1 {
		t.Errorf("%d fragments after leaving", n)
	}
}
