package openai

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/providers/internal/wire"
)

// pieces reads text in pieces of one size.
type pieces struct {
	text string
	size int
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.text == "" {
		return 0, io.EOF
	}
	n := min(p.size, len(b), len(p.text))
	copy(b, p.text[:n])
	p.text = p.text[n:]
	return n, nil
}

// replay reads a body as if a service had answered it.
func replay(t *testing.T, body string, size int, tools ...string) (providers.Response, error) {
	t.Helper()
	return replayAs(t, "text/event-stream", body, size, tools...)
}

func replayAs(t *testing.T, contentType, body string, size int, tools ...string) (providers.Response, error) {
	t.Helper()
	p, err := New(Config{Model: "m", APIKey: "sk-test-1234567890"})
	if err != nil {
		t.Fatal(err)
	}
	res := &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {contentType}},
		Body: io.NopCloser(&pieces{body, size}),
	}
	return providers.Collect(func(yield func(providers.Fragment, error) bool) {
		a := answer{provider: p, yield: yield, model: "m", slots: slots{offered: func(name string) bool { return slices.Contains(tools, name) }}}
		if err := a.readBody(res); err != nil && !errors.Is(err, wire.ErrLeft) {
			yield(nil, err)
		}
	}, nil)
}

// recording is the file beside a recorded body.
type recording struct {
	Wire  string `json:"wire"`
	Shows *struct {
		Calls []struct{ ID, Name, Arguments string } `json:"calls"`
		Text  *string                                `json:"text"`
	} `json:"next_request_shows"`
}

// judged holds the texts of recordings where the recording client is wrong. Here the server sent a space after the calls,
// and the client kept only that.
var judged = map[string]string{
	"OpenAICompatibleCommon-avian-kimi-multi-tool-streaming-0.sse": "I'll add and multiply 2 and 3 for you at the same time.",
}

// TestRecordings replays real streams and compares with what the recording client made of the same bytes.
func TestRecordings(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(sharedFolder(t), "wire", "openai", "*.sse"))
	if err != nil || len(files) == 0 {
		t.Skip("../shared/wire/openai not present")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".sse"), func(t *testing.T) {
			t.Parallel()
			body, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			raw, err := os.ReadFile(strings.TrimSuffix(file, ".sse") + ".json")
			if err != nil {
				t.Fatal(err)
			}
			var want recording
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
			whole, err := replay(t, string(body), len(body))
			if err != nil {
				t.Fatal(err)
			}
			if text, differs := judged[filepath.Base(file)]; differs {
				want.Shows.Text = &text
			}
			compareRecording(t, want, whole)
			for _, size := range []int{1, 2, 7, 1024} {
				split, err := replay(t, string(body), size)
				if d := cmp.Diff(whole, split); err != nil || d != "" {
					t.Errorf("in pieces of %d: %v %s", size, err, d)
				}
			}
		})
	}
}

func compareRecording(t *testing.T, want recording, got providers.Response) {
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
	if want.Shows == nil {
		return
	}
	if want.Shows.Text != nil && strings.TrimSpace(*want.Shows.Text) != strings.TrimSpace(got.Text) {
		t.Errorf("text %q, the client showed %q", got.Text, *want.Shows.Text)
	}
	if len(want.Shows.Calls) != len(got.Calls) {
		t.Fatalf("%d calls, the client showed %d", len(got.Calls), len(want.Shows.Calls))
	}
	for i, c := range want.Shows.Calls {
		if g := got.Calls[i]; g.ID != c.ID || g.Name != c.Name || !sameJSON(string(g.Object), c.Arguments) {
			t.Errorf("call %d is %s %s %s, the client showed %s %s %s", i, g.ID, g.Name, g.Object, c.ID, c.Name, c.Arguments)
		}
	}
}

func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

// sharedFolder finds ../shared beside the repository.
func sharedFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(filepath.Dir(dir), "shared")
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the package")
		}
	}
}
