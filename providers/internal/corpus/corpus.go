// Package corpus holds the tests that every wire passes over recorded streams: the same answer however its bytes arrive,
// the same calls and text as an independent reader found, and no whole call in any answer that was cut. Only tests
// import it.
package corpus

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parleybot/parley/providers"
)

// Wire is one wire format under test.
type Wire struct {
	// Folder holds the wire's recordings, outside the repository.
	Folder string
	// Read reads a body as if a service had answered it.
	Read func(body io.Reader) (providers.Response, error)
	// Ended is an independent look at the beginning of a body: whether it says how the answer ended.
	Ended func(body string) bool
	// Judged explains each difference from what the recording client showed, by the recording's name.
	Judged map[string]Judgement
}

// Judgement says where the recording client differs from us, and why we are right.
type Judgement struct {
	// Text is ours, when that is what differs; Calls is how many calls are ours, when that is.
	Text  *string
	Calls *int
	Why   string
}

// recording is the file beside a recorded body.
type recording struct {
	Host  string `json:"host"`
	Shows *struct {
		Calls []struct{ ID, Name, Arguments string } `json:"calls"`
		Text  *string                                `json:"text"`
	} `json:"next_request_shows"`
}

// Replay runs every recording: it is read without an error, to the same answer in pieces of any size, and holds what the
// recording client sent back.
func (w Wire) Replay(t *testing.T) {
	for name, body := range w.bodies(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole, err := w.Read(strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			w.compare(t, name, whole)
			for _, size := range []int{1, 2, 3, 7, 64, 1024} {
				w.same(t, fmt.Sprintf("pieces of %d", size), whole, &Pieces{Text: body, Size: func() int { return size }})
			}
			r := rand.New(rand.NewPCG(1, uint64(len(body))))
			w.same(t, "pieces of any size", whole, &Pieces{Text: body, Size: func() int { return 1 + r.IntN(40) }})
		})
	}
}

func (w Wire) same(t *testing.T, how string, whole providers.Response, body io.Reader) {
	t.Helper()
	if got, err := w.Read(body); err != nil || !reflect.DeepEqual(whole, got) {
		t.Errorf("in %s: error %v\n got %+v\nwant %+v", how, err, got, whole)
	}
}

// Cut cuts every recording at each boundary between events and at 50 bytes of any place, and reads what is left.
func (w Wire) Cut(t *testing.T) {
	for name, body := range w.bodies(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(2, uint64(len(body))))
			var cuts []int
			for range 50 {
				cuts = append(cuts, r.IntN(len(body)))
			}
			for at := 0; ; {
				next := strings.Index(body[at:], "\n\n")
				if next < 0 {
					break
				}
				at += next + 2
				cuts = append(cuts, at)
			}
			slices.Sort(cuts)
			w.cut(t, body, slices.Compact(cuts), false)
		})
	}
}

// Everywhere lists every offset of a body.
func Everywhere(body string) []int {
	cuts := make([]int, len(body)+1)
	for i := range cuts {
		cuts[i] = i
	}
	return cuts
}

// CutAt reads a body cut at each of the offsets, at a clean end and at a broken connection, whole and byte by byte. What
// the body says is its own judge: cut behind its word about the end it is a whole answer, else an error; its text is the
// beginning of the whole text, and of a cut answer no call is whole.
func (w Wire) CutAt(t *testing.T, body string, offsets []int) {
	t.Helper()
	w.cut(t, body, offsets, true)
}

func (w Wire) cut(t *testing.T, body string, offsets []int, byByte bool) {
	t.Helper()
	whole, err := w.Read(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range offsets {
		left := body[:at]
		got, err := w.Read(strings.NewReader(left))
		w.judge(t, at, left, whole, got, err)
		for how, source := range map[string]io.Reader{
			"byte by byte":        &Pieces{Text: left, Size: func() int { return 1 }},
			"a broken connection": &Pieces{Text: left, Size: func() int { return 512 }, End: io.ErrUnexpectedEOF},
		} {
			if how == "byte by byte" && !byByte {
				continue
			}
			again, failed := w.Read(source)
			if (failed == nil) != (err == nil) || !reflect.DeepEqual(again.Calls, got.Calls) || again.Text != got.Text {
				t.Errorf("cut at %d, read by %s: %v %+v\nelse %v %+v", at, how, failed, again, err, got)
			}
		}
		if t.Failed() {
			return
		}
	}
}

func (w Wire) judge(t *testing.T, at int, left string, whole, got providers.Response, err error) {
	t.Helper()
	if !strings.HasPrefix(whole.Text, got.Text) || !strings.HasPrefix(whole.Thinking, got.Thinking) {
		t.Errorf("cut at %d: text %q, thinking %q", at, got.Text, got.Thinking)
	}
	if w.Ended(left) {
		if err != nil || got.Text != whole.Text || !reflect.DeepEqual(got.Calls, whole.Calls) || got.Finish != whole.Finish {
			t.Errorf("cut at %d, behind the end: error %v\n got %+v\nwant %+v", at, err, got, whole)
		}
		return
	}
	if err == nil {
		t.Errorf("cut at %d: a whole answer: %+v", at, got)
	}
	if kind := providers.KindOf(err); kind != providers.KindTruncated && kind != providers.KindProtocol {
		t.Errorf("cut at %d: error %v", at, err)
	}
	if (got.Text != "" || len(got.Calls) > 0) && !errors.Is(err, io.ErrUnexpectedEOF) && providers.KindOf(err) != providers.KindTruncated {
		t.Errorf("cut at %d within the answer: error %v", at, err)
	}
	for _, c := range got.Calls {
		if c.State == providers.Whole || c.Object != nil {
			t.Errorf("cut at %d: call %s is whole: %s", at, c.Name, c.Object)
		}
	}
}

func (w Wire) compare(t *testing.T, name string, got providers.Response) {
	t.Helper()
	if got.Text == "" && len(got.Calls) == 0 {
		t.Error("neither text nor calls")
	}
	if got.Usage.Input == 0 || got.Usage.Output == 0 {
		t.Errorf("usage %+v", got.Usage)
	}
	for _, c := range got.Calls {
		if c.State != providers.Whole {
			t.Errorf("call %s is %s: %s", c.Name, c.State, c.Problem)
		}
	}
	raw, err := os.ReadFile(filepath.Join(w.path(t), name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var want recording
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	if want.Shows == nil {
		return
	}
	text, calls := want.Shows.Text, len(want.Shows.Calls)
	if j, differs := w.Judged[name]; differs {
		if j.Text != nil {
			text = j.Text
		}
		if j.Calls != nil {
			calls = *j.Calls
		}
	}
	if text != nil && strings.TrimSpace(*text) != strings.TrimSpace(got.Text) {
		t.Errorf("text %q, the client showed %q", got.Text, *text)
	}
	if calls != len(got.Calls) {
		t.Fatalf("%d calls, the client showed %d", len(got.Calls), calls)
	}
	for i, c := range want.Shows.Calls[:min(calls, len(want.Shows.Calls))] {
		if g := got.Calls[i]; g.ID != c.ID || g.Name != c.Name || !sameJSON(string(g.Object), c.Arguments) {
			t.Errorf("call %d is %s %s %s, the client showed %s %s %s", i, g.ID, g.Name, g.Object, c.ID, c.Name, c.Arguments)
		}
	}
}

func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

// Body is one recording's bytes; the test is skipped, saying so, where there are none.
func (w Wire) Body(t testing.TB, name string) string {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(w.path(t), name+".sse"))
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("the recorded stream %s/%s is not there", w.Folder, name)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// bodies are all recordings by name.
func (w Wire) bodies(t testing.TB) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(w.path(t), "*.sse"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skipf("the recorded streams of %s are not beside the repository: not replayed", w.Folder)
	}
	bodies := make(map[string]string, len(files))
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".sse")
		bodies[name] = w.Body(t, name)
	}
	for name, j := range w.Judged {
		if bodies[name] == "" || j.Why == "" {
			t.Errorf("judged %s: there is no such recording, or no reason", name)
		}
	}
	return bodies
}

// path finds the recordings: they lie beside the repository, not in it.
func (w Wire) path(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(filepath.Dir(dir), "shared", "wire", w.Folder)
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the package")
		}
	}
}

// Pieces reads text in pieces, then answers End, or io.EOF when that is nil.
type Pieces struct {
	Text string
	Size func() int
	End  error
}

// Read gives the next piece.
func (p *Pieces) Read(b []byte) (int, error) {
	if p.Text == "" {
		if p.End != nil {
			return 0, p.End
		}
		return 0, io.EOF
	}
	n := min(p.Size(), len(b), len(p.Text))
	copy(b, p.Text[:n])
	p.Text = p.Text[n:]
	return n, nil
}
