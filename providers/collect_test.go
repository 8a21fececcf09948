package providers

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/parleybot/parley/providers/internal/rows"
)

// stream yields fragments and then, when err is set, that error.
func stream(err error, fragments ...Fragment) iter.Seq2[Fragment, error] {
	return func(yield func(Fragment, error) bool) {
		for _, f := range fragments {
			if !yield(f, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

func TestCollect(t *testing.T) {
	t.Parallel()
	rows.Ran(t, "CD108", "CD118", "CD119", "CD120")
	broken := &Error{Provider: "x", Kind: KindNetwork}
	for _, c := range []struct {
		name string
		seq  iter.Seq2[Fragment, error]
		want Response
		err  error
		kind ErrorKind
	}{
		{
			name: "text, thinking, usage replaced, end",
			seq: stream(nil, ThinkingDelta{"hm"}, TextDelta{"a"}, Beat{}, UsageReport{Usage: Usage{Input: 1}, Model: "m"}, TextDelta{"b"},
				UsageReport{Usage: Usage{Input: 5, Output: 2}}, End{FinishStop, "stop"}),
			want: Response{Text: "ab", Thinking: "hm", Usage: Usage{Input: 5, Output: 2}, Model: "m", Finish: FinishStop, RawFinish: "stop"},
		},
		{
			name: "CD108 fragments of one call are joined",
			seq: stream(nil, CallDelta{ID: "c1", Name: "we"}, CallDelta{Name: "weather", Arguments: `{"a`}, CallDelta{Arguments: `":`},
				CallDelta{Arguments: `1}`}, End{FinishStop, "tool_calls"}),
			want: Response{
				Calls:  []Call{{ID: "c1", Name: "weather", Arguments: `{"a":1}`, Object: []byte(`{"a":1}`), State: Whole}},
				Finish: FinishStop, RawFinish: "tool_calls",
			},
		},
		{
			name: "slots order the calls and keep interleaved pieces apart",
			seq: stream(nil, CallDelta{Slot: 2, Name: "b", Arguments: `{"x"`}, CallDelta{Slot: 1, Name: "a", Arguments: `{`},
				CallDelta{Slot: 2, Arguments: `:2}`}, CallDelta{Slot: 1, Arguments: `}`}, End{Reason: FinishStop}),
			want: Response{Calls: []Call{
				{Name: "a", Arguments: `{}`, Object: []byte(`{}`), State: Whole},
				{Name: "b", Arguments: `{"x":2}`, Object: []byte(`{"x":2}`), State: Whole},
			}, Finish: FinishStop},
		},
		{
			name: "CD120 a half call under length is truncated, a whole one is not",
			seq: stream(nil, CallDelta{Slot: 0, Name: "a", Arguments: `{"x":1}`}, CallDelta{Slot: 1, Name: "b", Arguments: `{"x":1,"y":"`},
				CallDelta{Slot: 2, Name: "c"}, End{Reason: FinishLength}),
			want: Response{Calls: []Call{
				{Name: "a", Arguments: `{"x":1}`, Object: []byte(`{"x":1}`), State: Whole},
				{
					Name: "b", Arguments: `{"x":1,"y":"`, State: Truncated, WholeKeys: []string{"x"},
					Problem: "the arguments ended early at byte 12: inside a string that began at byte 11",
				},
				{Name: "c", State: Truncated, Problem: "the answer ended before any argument arrived"},
			}, Finish: FinishLength},
		},
		{
			name: "CD119 B63 a stream without an end is an error, and even its whole call is truncated",
			seq:  stream(nil, TextDelta{"hal"}, CallDelta{Name: "a", Arguments: `{}`}),
			want: Response{
				Text: "hal", Finish: FinishMissing,
				Calls: []Call{{Name: "a", Arguments: `{}`, State: Truncated, Problem: "the answer broke off before its end"}},
			},
			kind: KindTruncated,
		},
		{
			name: "a wire that says missing is believed",
			seq:  stream(nil, TextDelta{"hal"}, End{Reason: FinishMissing}),
			want: Response{Text: "hal", Finish: FinishMissing},
			kind: KindTruncated,
		},
		{
			name: "a word outside the closed set fails closed",
			seq:  stream(nil, TextDelta{"x"}, End{Reason: "later", Raw: "later"}),
			want: Response{Text: "x", Finish: FinishMissing, RawFinish: "later"},
			kind: KindTruncated,
		},
		{
			name: "CD118 an error keeps the text before it",
			seq:  stream(broken, TextDelta{"so far"}),
			want: Response{Text: "so far", Finish: FinishError},
			err:  broken, kind: KindNetwork,
		},
		{
			name: "a context's error is returned as it is",
			seq:  stream(context.Canceled, TextDelta{"so far"}),
			want: Response{Text: "so far", Finish: FinishMissing},
			err:  context.Canceled,
		},
		{
			name: "filtered calls are there, for the record",
			seq:  stream(nil, CallDelta{Name: "a", Arguments: `{}`}, End{FinishFiltered, "content_filter"}),
			want: Response{
				Calls: []Call{{Name: "a", Arguments: `{}`, Object: []byte(`{}`), State: Whole}}, Finish: FinishFiltered,
				RawFinish: "content_filter",
			},
		},
		{
			name: "a call without a name is kept for the loop to refuse",
			seq:  stream(nil, CallDelta{ID: "c1", Arguments: `{}`, Opaque: []byte(`{"s":1}`)}, End{Reason: FinishStop}),
			want: Response{
				Calls:  []Call{{ID: "c1", Arguments: `{}`, Object: []byte(`{}`), State: Whole, Opaque: []byte(`{"s":1}`)}},
				Finish: FinishStop,
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := Collect(c.seq, nil)
			if d := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); d != "" {
				t.Error(d)
			}
			if KindOf(err) != c.kind || c.err != nil && !errors.Is(err, c.err) || c.err == nil && c.kind == "" && err != nil {
				t.Errorf("error %v, want %v of kind %q", err, c.err, c.kind)
			}
		})
	}
}

func TestCollectShowsEveryFragmentAndSurvivesTheSink(t *testing.T) {
	t.Parallel()
	seen := 0
	got, err := Collect(stream(nil, TextDelta{"a"}, Beat{}, TextDelta{"b"}, End{Reason: FinishStop}), func(Fragment) {
		seen++
		panic("observer bug")
	})
	if err != nil || got.Text != "ab" || seen != 4 {
		t.Errorf("text %q, %d fragments seen, error %v", got.Text, seen, err)
	}
}

func TestCollectIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", MaxArgumentBytes)
	t.Run("arguments", func(t *testing.T) {
		t.Parallel()
		got, err := Collect(stream(nil, CallDelta{Name: "a", Arguments: `{"k":"`}, CallDelta{Arguments: long}, CallDelta{Arguments: `"}`},
			End{Reason: FinishStop}), nil)
		if err != nil || len(got.Calls) != 1 || got.Calls[0].State != Malformed || len(got.Calls[0].Arguments) > MaxArgumentBytes {
			t.Errorf("calls %d, error %v", len(got.Calls), err)
		}
	})
	t.Run("calls", func(t *testing.T) {
		t.Parallel()
		var fs []Fragment
		for i := range MaxCalls + 3 {
			fs = append(fs, CallDelta{Slot: i, Name: "a"}, CallDelta{Slot: i, Arguments: "{}"})
		}
		got, err := Collect(stream(nil, append(fs, End{Reason: FinishStop})...), nil)
		if err != nil || len(got.Calls) != MaxCalls || got.Extra != 3 {
			t.Errorf("%d calls, %d extra, error %v", len(got.Calls), got.Extra, err)
		}
	})
	t.Run("text", func(t *testing.T) {
		t.Parallel()
		got, err := Collect(func(yield func(Fragment, error) bool) {
			for yield(TextDelta{long}, nil) {
			}
		}, nil)
		if KindOf(err) != KindTooLarge || len(got.Text) != MaxTextBytes {
			t.Errorf("%d bytes of text, error %v", len(got.Text), err)
		}
	})
	t.Run("thinking", func(t *testing.T) {
		t.Parallel()
		fs := make([]Fragment, 6)
		for i := range fs {
			fs[i] = ThinkingDelta{long}
		}
		got, err := Collect(stream(nil, append(fs, TextDelta{"a"}, End{Reason: FinishStop})...), nil)
		if err != nil || len(got.Thinking) != MaxThinkingBytes || got.Text != "a" {
			t.Errorf("%d bytes of thinking, text %q, error %v", len(got.Thinking), got.Text, err)
		}
	})
}

func BenchmarkCollect(b *testing.B) {
	var fs []Fragment
	for range 200 {
		fs = append(fs, TextDelta{"word "})
	}
	for range 20 {
		fs = append(fs, CallDelta{Name: "weather", Arguments: " "})
	}
	fs = append(fs, CallDelta{Arguments: `{"location":"Florence, Italy"}`}, UsageReport{}, End{Reason: FinishStop})
	sink := func(Fragment) {}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Collect(stream(nil, fs...), sink); err != nil {
			b.Fatal(err)
		}
	}
}
