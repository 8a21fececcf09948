package sse

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/parleybot/parley/providers/internal/rows"
)

func TestMain(m *testing.M) { rows.Main(m, "", "") }

// pieces reads text in pieces of the given sizes, over and over.
type pieces struct {
	text  string
	sizes []int
	next  int
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.text == "" {
		return 0, io.EOF
	}
	n := min(p.sizes[p.next%len(p.sizes)], len(b), len(p.text))
	p.next++
	copy(b, p.text[:n])
	p.text = p.text[n:]
	return n, nil
}

// tell reads everything; beats are "·", the error is last.
func tell(source io.Reader, limits Limits) []string {
	var out []string
	r := NewReader(source, limits)
	for {
		e, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return out
		case err != nil:
			return append(out, "error: "+err.Error())
		case e.Beat:
			out = append(out, "·")
		case e.Name != "":
			out = append(out, e.Name+"="+string(e.Data))
		default:
			out = append(out, string(e.Data))
		}
	}
}

func TestReader(t *testing.T) {
	t.Parallel()
	rows.Ran(t, "CD113", "CD114", "CD115")
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"LF", "data: a\n\ndata: b\n\n", []string{"a", "b"}},
		{"CD113 CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"a", "b"}},
		{"CD115 lone CR", "data: a\r\rdata: b\r\r", []string{"a", "b"}},
		{"mixed ends", "data: a\r\n\rdata: b\n\r\ndata: c\r\n\n", []string{"a", "b", "c"}},
		{"CD113 comments are beats", ": OPENROUTER PROCESSING\n\n:\ndata: a\n: x\n\n", []string{"·", "·", "·", "a"}},
		{"CD113 no final blank line", `data: {"a":1}` + "\n", []string{`{"a":1}`}},
		{"no final line end", `data: {"a":1}`, []string{`{"a":1}`}},
		{"[DONE] without a line end", "data: x\n\ndata: [DONE]", []string{"x", "[DONE]"}},
		{"unfinished last event", `data: {"a":`, []string{"error: stream ended inside an event"}},
		{"unfinished last event before a comment", "data: {\"a\":1}\n: bye", []string{`{"a":1}`}},
		{"CD115 no space, two spaces", "data:x\n\ndata:  x\n\n", []string{"x", " x"}},
		{"CD115 two data lines", "data: {\"a\":\ndata: 1}\n\n", []string{"{\"a\":\n1}"}},
		{"an empty data line counts", "data\n\ndata:\ndata:\n\n", []string{"", "\n"}},
		{"name, id, retry, unknown", "id: 1\nevent: error\nretry: 5\nx: y\ndata: a\n\ndata: b\n\n", []string{"error=a", "b"}},
		{"name without data is dropped", "event: ping\n\ndata: a\n\n", []string{"a"}},
		{"byte order mark", "\xef\xbb\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\n", []string{"a"}},
		{"CD114 runes", "data: 👋🏽 é\n\n", []string{"👋🏽 é"}},
		{"only blank lines", "\n\r\n\r\n", nil},
		{"nothing", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for size := 1; size <= len(c.in)+1; size++ {
				got := tell(&pieces{text: c.in, sizes: []int{size}}, Limits{})
				if d := cmp.Diff(c.want, got); d != "" {
					t.Fatalf("in pieces of %d: %s", size, d)
				}
			}
		})
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	rows.Ran(t, "CD116")
	long := func(n int) string { return "data: " + strings.Repeat("x", n) + "\n\n" }
	for _, c := range []struct {
		name, in string
		limits   Limits
		events   int
		err      error
	}{
		{"B67 70 kB line", long(70_000), Limits{}, 1, io.EOF},
		{"CD116 2 MiB line", long(2 << 20), Limits{}, 1, io.EOF},
		{"CD116 5 MiB line", "data: a\n\n" + long(5<<20), Limits{}, 1, ErrLineTooLong},
		{"event of many lines", "data: a\n\n" + strings.Repeat("data: "+strings.Repeat("x", 1<<20)+"\n", 9), Limits{}, 1, ErrEventTooLong},
		{"last line over the event's limit", "data: aaa\ndata: bbb", Limits{Event: 5}, 0, ErrEventTooLong},
		{"line exactly at the limit", "data: x\n\n", Limits{Line: 7}, 1, io.EOF},
		{"line one over the limit", "data: xx\n\n", Limits{Line: 7}, 0, ErrLineTooLong},
		{"body over the limit", "data: a\n\ndata: b\n\n", Limits{Body: 12}, 1, ErrBodyTooLong},
		{"body exactly at the limit", "data: a\n\n", Limits{Body: 9}, 1, io.EOF},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, size := range []int{1 << 16, 4099} {
				r := NewReader(&pieces{text: c.in, sizes: []int{size}}, c.limits)
				n := 0
				var err error
				for ; err == nil; n++ {
					_, err = r.Next()
				}
				if n-1 != c.events || !errors.Is(err, c.err) {
					t.Errorf("in pieces of %d: %d events, then %v", size, n-1, err)
				}
				if _, again := r.Next(); !errors.Is(again, c.err) {
					t.Errorf("the error is not final: %v", again)
				}
			}
		})
	}
}

func TestSourceErrorComesAfterACompleteEvent(t *testing.T) {
	t.Parallel()
	broken := errors.New("connection reset")
	source := io.MultiReader(strings.NewReader("data: {\"a\":1}\n"), iotest.ErrReader(broken))
	if d := cmp.Diff([]string{`{"a":1}`, "error: connection reset"}, tell(source, Limits{})); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"error: connection reset"}, tell(io.MultiReader(strings.NewReader("data: {"), iotest.ErrReader(broken)), Limits{})); d != "" {
		t.Error(d)
	}
}

func TestErrorThatComesWithBytesIsKept(t *testing.T) {
	t.Parallel()
	source := iotest.DataErrReader(strings.NewReader("data: 1\n\ndata: 2\n\n"))
	if d := cmp.Diff([]string{"1", "2"}, tell(source, Limits{})); d != "" {
		t.Error(d)
	}
}

func TestSplitsDoNotMatter(t *testing.T) {
	t.Parallel()
	line := rapid.SampledFrom([]string{"data: a", "data:{\"a\":1}", "data: 👋", ": beat", "event: e", "", "", "data", "x", "\xef\xbb\xbfdata: b"})
	end := rapid.SampledFrom([]string{"\n", "\r\n", "\r"})
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(0, 12).Draw(t, "lines") {
			b.WriteString(line.Draw(t, "line") + end.Draw(t, "end"))
		}
		b.WriteString(line.Draw(t, "last"))
		limits := Limits{
			Line: rapid.IntRange(1, 20).Draw(t, "line limit"), Event: rapid.IntRange(1, 30).Draw(t, "event limit"),
			Body: rapid.IntRange(1, 200).Draw(t, "body limit"),
		}
		sizes := rapid.SliceOfN(rapid.IntRange(1, 7), 1, 5).Draw(t, "sizes")
		compareSplits(t, b.String(), sizes, limits)
	})
}

func FuzzSplitsDoNotMatter(f *testing.F) {
	f.Add("data: a\r\n\r\n: b\n\ndata: [DONE]", uint8(1))
	f.Add("\xef\xbb\xbfdata:{}\r\r", uint8(2))
	f.Fuzz(func(t *testing.T, in string, size uint8) {
		compareSplits(t, in, []int{int(size)%9 + 1}, Limits{Line: 40, Event: 60, Body: 400})
	})
}

func compareSplits(t interface{ Fatalf(string, ...any) }, in string, sizes []int, limits Limits) {
	whole := tell(strings.NewReader(in), limits)
	split := tell(&pieces{text: in, sizes: sizes}, limits)
	if d := cmp.Diff(whole, split); d != "" {
		t.Fatalf("%q split by %v: %s", in, sizes, d)
	}
}

func BenchmarkReader(b *testing.B) {
	var body strings.Builder
	for i := range 500 {
		fmt.Fprintf(&body, "data: {\"id\":\"chatcmpl-1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word %d\"}}]}\n\n", i)
	}
	b.SetBytes(int64(body.Len()))
	b.ReportAllocs()
	for b.Loop() {
		r := NewReader(strings.NewReader(body.String()), Limits{})
		for {
			if _, err := r.Next(); err != nil {
				break
			}
		}
	}
}
