package playground

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/parleybot/parley/internal/discordsim"
)

// idleBot is a bot that is there and does nothing.
type idleBot struct{ ready chan struct{} }

func newIdleBot() *idleBot {
	b := &idleBot{ready: make(chan struct{})}
	close(b.ready)
	return b
}

func (b *idleBot) Ready() <-chan struct{} { return b.ready }

func (b *idleBot) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// browser is a running playground and an HTTP client that behaves like its page.
type browser struct {
	t      *testing.T
	p      *Playground
	client *http.Client
	stop   func() error
}

// open runs a playground with an idle bot until the test ends.
func open(t *testing.T, cfg Config) *browser {
	t.Helper()
	if cfg.Addr == "" {
		cfg.Addr = "127.0.0.1:0"
	}
	if cfg.Boot == nil {
		cfg.Boot = func(context.Context, Setup) (Bot, error) { return newIdleBot(), nil }
	}
	if cfg.Models == nil {
		cfg.Models = []Model{{ID: "m", Name: "a model", Offline: true}}
	}
	p, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- p.Run(ctx, func() { close(ready) }) }()
	transport := &http.Transport{}
	b := &browser{t: t, p: p, client: &http.Client{Transport: transport}}
	stopped := false
	b.stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		return <-ended
	}
	t.Cleanup(func() {
		if err := b.stop(); err != nil {
			t.Errorf("the playground ended with %v", err)
		}
		transport.CloseIdleConnections()
	})
	select {
	case <-ready:
	case err := <-ended:
		stopped = true
		t.Fatalf("the playground did not come up: %v", err)
	}
	return b
}

func (b *browser) person(name string) resident {
	b.t.Helper()
	for _, r := range b.p.town.people {
		if r.Name == name {
			return r
		}
	}
	b.t.Fatalf("nobody is called %s", name)
	return resident{}
}

func (b *browser) channel(name string) discordsim.ID {
	b.t.Helper()
	id, ok := b.p.town.world().ChannelNamed(b.p.town.guild, name)
	if !ok {
		b.t.Fatalf("there is no #%s", name)
	}
	return id
}

// do sends a request as the page would, changed by the given functions.
func (b *browser) do(method, path string, body any, change ...func(*http.Request)) (status int, header http.Header, text string) {
	b.t.Helper()
	var sent io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			b.t.Fatal(err)
		}
		sent = bytes.NewReader(data)
	}
	base := strings.TrimSuffix(b.p.URL(), "/")
	req, err := http.NewRequestWithContext(b.t.Context(), method, base+path, sent)
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	if method == http.MethodPost {
		req.Header.Set("Origin", base)
		req.Header.Set("Content-Type", "application/json")
	}
	for _, f := range change {
		f(req)
	}
	resp, err := b.client.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(data)
}

// act does what a page does when somebody acts, and fails the test when that is refused.
func (b *browser) act(name string, body map[string]any) map[string]any {
	b.t.Helper()
	status, _, text := b.do(http.MethodPost, "/api/"+name, body)
	if status != http.StatusOK {
		b.t.Fatalf("%s: %d %s", name, status, text)
	}
	var out map[string]any
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		b.t.Fatal(err)
	}
	return out
}

// sse is one event of a stream.
type sse struct {
	id, name, data string
}

// stream connects as somebody, going on after lastID unless that is empty. next gives one event after the other and
// fails the test when there is no more.
func (b *browser) stream(who discordsim.ID, lastID string) (next func() sse) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.p.URL()+"api/stream?person="+string(who), nil)
	if err != nil {
		b.t.Fatal(err)
	}
	if lastID != "" {
		req.Header.Set("Last-Event-ID", lastID)
	}
	resp, err := b.client.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { resp.Body.Close() })
	if kind := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || kind != "text/event-stream" {
		b.t.Fatalf("the stream was answered with %d, %s", resp.StatusCode, kind)
	}
	lines := bufio.NewReader(resp.Body)
	return func() sse {
		b.t.Helper()
		var e sse
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				b.t.Fatalf("reading the stream: %v", err)
			}
			field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch {
			case field == "id":
				e.id = value
			case field == "event":
				e.name = value
			case field == "data":
				e.data = value
			case line == "\n" && e.name != "":
				return e
			}
		}
	}
}

// until skips events before the first of one kind.
func until(next func() sse, kind noteKind) sse {
	for {
		if e := next(); e.name == string(kind) {
			return e
		}
	}
}

func decode[T any](t *testing.T, e sse) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(e.data), &v); err != nil {
		t.Fatalf("decoding the event %s %s: %v", e.name, e.data, err)
	}
	return v
}
