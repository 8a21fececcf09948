package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/providers/internal/rows"
	"github.com/parleybot/parley/providers/internal/wire"
)

const testKey = "sk-test-abcdefghijklmnop"

// service is a server on loopback that answers with what a test gives it and remembers what it was asked.
type service struct {
	*httptest.Server
	mu       sync.Mutex
	requests []map[string]any
	paths    []string
	headers  []http.Header
}

func serve(t *testing.T, answer http.HandlerFunc) *service {
	t.Helper()
	s := &service{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Errorf("request body: %v", err)
		}
		s.mu.Lock()
		s.requests, s.paths, s.headers = append(s.requests, body), append(s.paths, r.URL.RequestURI()), append(s.headers, r.Header)
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *service) provider(t *testing.T, change func(*Config)) *Provider {
	t.Helper()
	c := Config{Name: "openai", BaseURL: s.URL, APIKey: testKey, Model: "m"}
	if change != nil {
		change(&c)
	}
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func streamOf(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, body)
	}
}

var fine = sayChunk("hi") + endChunk("stop") + doneLine

func status(code int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

var hello = providers.Request{Messages: []providers.Message{{Role: providers.RoleUser, Content: "hello"}}}

func TestCD106Endpoints(t *testing.T) {
	t.Parallel()
	rows.Ran(t, "CD106", "CD107")
	for _, c := range []struct{ base, want string }{
		{"", "/v1/chat/completions"},
		{"/", "/v1/chat/completions"},
		{"/v1", "/v1/chat/completions"},
		{"/v1/", "/v1/chat/completions"},
		{"/api/v4//", "/api/v4/chat/completions"},
		{"/v1beta/openai", "/v1beta/openai/chat/completions"},
		{"/v1beta/openai/?key=x%20y&a=1", "/v1beta/openai/chat/completions?a=1&key=x+y"},
		{"/deployments/d/chat/completions?api-version=2", "/deployments/d/chat/completions?api-version=2"},
	} {
		t.Run("base "+c.base, func(t *testing.T) {
			t.Parallel()
			s := serve(t, streamOf(fine))
			p := s.provider(t, func(cfg *Config) { cfg.BaseURL = s.URL + c.base })
			if got := show(providers.Collect(p.Stream(t.Context(), hello), nil)); got != "say:hi | stop" {
				t.Fatal(got)
			}
			if s.paths[0] != c.want {
				t.Errorf("path %s, want %s", s.paths[0], c.want)
			}
		})
	}
	for _, bad := range []string{"ftp://x", "localhost:1", "http://", "http://u:p@h/v1", "http://%zz"} {
		if _, err := New(Config{BaseURL: bad}); err == nil || strings.Contains(err.Error(), "u:p") {
			t.Errorf("base %s: error %v", bad, err)
		}
	}
}

func TestNothingComesFromTheEnvironment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-env")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/")
	t.Setenv("OPENAI_ORG_ID", "org-env")
	t.Setenv("OPENAI_PROJECT_ID", "project-env")
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Env: yes")
	t.Setenv("OPENAI_ADMIN_KEY", "sk-admin-env")
	s := serve(t, streamOf(fine))
	p := s.provider(t, func(c *Config) { c.APIKey = "" })
	if got := show(providers.Collect(p.Stream(t.Context(), hello), nil)); got != "say:hi | stop" {
		t.Fatal(got)
	}
	if h := s.headers[0]; h.Get("Authorization") != "" || h.Get("OpenAI-Organization") != "" || h.Get("OpenAI-Project") != "" || h.Get("X-Env") != "" {
		t.Errorf("headers %v", h)
	}
}

func TestRequestBody(t *testing.T) {
	t.Parallel()
	rows.Ran(t, "CD124", "CD125", "CD130")
	s := serve(t, streamOf(fine))
	p := s.provider(t, nil)
	call := func(key, id, name, arguments string, state providers.ArgumentState) providers.Call {
		c := providers.Call{Key: key, ID: id, Name: name, Arguments: arguments, State: state}
		if state == providers.Whole {
			c.Object = json.RawMessage(arguments)
		}
		return c
	}
	signed := call("k1", "call_0", "echo", `{"n":12345678901234567890}`, providers.Whole)
	signed.Opaque = json.RawMessage(`{"provider":"openai","model":"m","members":{"extra_content":{"g":1}}}`)
	foreign := call("k3", "call_0", "no such!", `{"a":`, providers.Truncated)
	foreign.Opaque = json.RawMessage(`{"provider":"other","model":"m","members":{"extra_content":{"g":2}}}`)
	req := providers.Request{
		System: "Be brief.", MaxOutputTokens: 100,
		Messages: []providers.Message{
			{Role: providers.RoleUser, Content: "Mia: hi"},
			{Role: providers.RoleUser, Content: "Ben: hello"},
			{Role: providers.RoleSystem, Content: "a later system text"},
			{Role: providers.RoleAssistant, Calls: []providers.Call{signed, call("k2", strings.Repeat("x", 41), "echo", `{}`, providers.Whole)}},
			{Role: providers.RoleTool, CallKey: "k1", Content: "denied by user", Failed: true},
			{Role: providers.RoleNote, Content: "stopped: tool loop iteration limit reached"},
			{Role: providers.RoleAssistant, Content: "again", Calls: []providers.Call{foreign}},
			{Role: providers.RoleTool, CallKey: "k3"},
			{Role: providers.RoleAssistant},
		},
		Tools: []providers.ToolSpec{{Name: "echo", Description: "Echoes.", Schema: json.RawMessage(
			`{"$schema":"x","type":"object","additionalProperties":false,"required":["n"],"properties":{"n":{"type":["null","integer"],"minimum":1,"examples":[2],"description":"a number"},"l":{"type":"array","items":{"type":"string","const":"x"}}}}`)}},
	}
	if got := show(providers.Collect(p.Stream(t.Context(), req), nil)); got != "say:hi | stop" {
		t.Fatal(got)
	}
	k2, k3 := wire.DerivedID("k2/"+strings.Repeat("x", 41)+"/0"), wire.DerivedID("k3/call_0/0")
	want := `{"model":"m","stream":true,"stream_options":{"include_usage":true},"max_tokens":100,
	"messages":[
	 {"role":"system","content":"Be brief."},
	 {"role":"user","content":"Mia: hi\n\nBen: hello"},
	 {"role":"assistant","content":"","tool_calls":[
	   {"id":"call_0","type":"function","function":{"name":"echo","arguments":"{\"n\":12345678901234567890}"},"extra_content":{"g":1}},
	   {"id":"` + k2 + `","type":"function","function":{"name":"echo","arguments":"{}"}}]},
	 {"role":"tool","tool_call_id":"call_0","content":"denied by user"},
	 {"role":"tool","tool_call_id":"` + k2 + `","content":"not run: an earlier call was denied"},
	 {"role":"assistant","content":"again","tool_calls":[{"id":"` + k3 + `","type":"function","function":{"name":"no_such","arguments":"{}"}}]},
	 {"role":"tool","tool_call_id":"` + k3 + `","content":"(empty)"}],
	"tools":[{"type":"function","function":{"name":"echo","description":"Echoes.","parameters":{"type":"object","required":["n"],
	 "properties":{"n":{"type":"integer","description":"a number"},"l":{"type":"array","items":{"type":"string"}}}}}}]}`
	var wanted map[string]any
	if err := json.Unmarshal([]byte(want), &wanted); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(wanted, s.requests[0]); d != "" {
		t.Error(d)
	}
	if h := s.headers[0]; h.Get("Authorization") != "Bearer "+testKey || h.Get("Accept") != "text/event-stream" || h.Get("Content-Type") != "application/json" {
		t.Errorf("headers %v", h)
	}
	if len(k2) != 9 || len(k3) != 9 {
		t.Errorf("derived ids %q and %q", k2, k3)
	}
}

func TestRequestsThatAreNotSent(t *testing.T) {
	t.Parallel()
	s := serve(t, streamOf(fine))
	p := s.provider(t, func(c *Config) { c.Model = "" })
	for name, req := range map[string]providers.Request{
		"no model":  hello,
		"tool name": {Model: "m", Messages: hello.Messages, Tools: []providers.ToolSpec{{Name: "a.b"}}},
	} {
		if _, err := providers.Collect(p.Stream(t.Context(), req), nil); providers.KindOf(err) != providers.KindBadRequest {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if len(s.requests) != 0 {
		t.Errorf("%d requests were sent", len(s.requests))
	}
}

func TestFallbacksAreLearned(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		_ = json.NewDecoder(r.Body).Decode(&body)
		s.mu.Lock()
		s.requests = append(s.requests, body)
		s.mu.Unlock()
		switch {
		case body["stream_options"] != nil:
			status(400, `{"error":{"message":"unknown field stream_options"}}`)(w, r)
		case body["max_tokens"] != nil:
			status(400, `{"error":{"message":"use max_completion_tokens"}}`)(w, r)
		default:
			streamOf(fine)(w, r)
		}
	})
	p := s.provider(t, nil)
	req := hello
	req.MaxOutputTokens = 10
	for range 2 {
		if got := show(providers.Collect(p.Stream(t.Context(), req), nil)); got != "say:hi | stop" {
			t.Fatal(got)
		}
	}
	if len(s.requests) != 4 || s.requests[3]["max_completion_tokens"] != 10.0 {
		t.Errorf("%d requests, last %v", len(s.requests), s.requests[len(s.requests)-1])
	}
}

func TestAServiceThatAlwaysRefusesIsNotAskedForEver(t *testing.T) {
	t.Parallel()
	s := serve(t, status(400, `{"error":{"message":"stream_options and max_tokens are bad"}}`))
	req := hello
	req.MaxOutputTokens = 10
	_, err := providers.Collect(s.provider(t, nil).Stream(t.Context(), req), nil)
	if providers.KindOf(err) != providers.KindBadRequest || len(s.requests) != 3 {
		t.Errorf("%d requests, error %v", len(s.requests), err)
	}
}

func TestLengthIsRecognisedByItsNumbers(t *testing.T) {
	t.Parallel()
	s := serve(t, streamOf(halfCall()+endChunk("tool_calls")+event(`{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":10}}`)+doneLine))
	req := hello
	req.MaxOutputTokens = 10
	if got := show(providers.Collect(s.provider(t, nil).Stream(t.Context(), req), nil)); got != "a/echo/truncated | usage:1/10 | length" {
		t.Error(got)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	rows.Ran(t, "CD122", "CD123")
	leak := "Incorrect API key provided: sk-test-abc***mnop. Bearer " + testKey
	for _, c := range []struct {
		name      string
		answer    http.HandlerFunc
		kind      providers.ErrorKind
		retryable bool
		after     time.Duration
		message   string
	}{
		{"CD123 401", status(401, `{"error":{"message":"`+leak+`"}}`), providers.KindAuth, false, 0, wire.KeyRejected},
		{"403", status(403, `{"error":{"message":"`+leak+`"}}`), providers.KindAuth, false, 0, wire.KeyRejected},
		{"CD122 429 with Retry-After", status(429, `{"error":{"message":"slow down"}}`, "Retry-After", "2"), providers.KindRateLimit, true, 2 * time.Second, "slow down"},
		{"429 in milliseconds", status(429, `{}`, "Retry-After-Ms", "1500", "Retry-After", "9"), providers.KindRateLimit, true, 1500 * time.Millisecond, "{}"},
		{"429 for the quota", status(429, `{"error":{"message":"x","code":"insufficient_quota"}}`), providers.KindQuota, false, 0, "x"},
		{"503, not to be retried", status(503, `{"error":"busy"}`, "X-Should-Retry", "false"), providers.KindOverloaded, false, 0, "busy"},
		{"529", status(529, `overloaded`), providers.KindOverloaded, true, 0, "overloaded"},
		{"500 with a page", status(500, `<html>oops</html>`), providers.KindUnavailable, true, 0, ""},
		{"400, Gemini's list", status(400, `[{"error":{"message":"bad","status":"INVALID_ARGUMENT"}}]`), providers.KindBadRequest, false, 0, "bad"},
		{"400, context too long", status(400, `{"error":{"message":"long","code":"context_length_exceeded"}}`), providers.KindTooLarge, false, 0, "long"},
		{"413", status(413, `{"error":{"message":"big"}}`), providers.KindTooLarge, false, 0, "big"},
		{"404", status(404, `{"detail":"no route"}`), providers.KindBadRequest, false, 0, "no route"},
		{
			"a key in another message", status(400, `{"error":{"message":"header `+leak+`"}}`), providers.KindBadRequest, false, 0,
			"header Incorrect API key provided: [redacted] [redacted]",
		},
		{"a long text", status(400, `{"error":{"message":"`+strings.Repeat("é ", 300)+`"}}`), providers.KindBadRequest, false, 0, strings.TrimSpace(strings.Repeat("é ", 100))},
		{"204", status(204, ""), providers.KindProtocol, false, 0, "the service answered 204 instead of an answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, c.answer)
			_, err := providers.Collect(s.provider(t, nil).Stream(t.Context(), hello), nil)
			e, ok := errors.AsType[*providers.Error](err)
			if !ok {
				t.Fatalf("error %v", err)
			}
			if e.Kind != c.kind || e.Retryable != c.retryable || e.RetryAfter != c.after || e.Message != c.message || e.Provider != "openai" {
				t.Errorf("error %+v", e)
			}
			if text := err.Error(); strings.Contains(text, testKey) || strings.Contains(text, "mnop") || strings.Contains(text, "127.0.0.1") {
				t.Errorf("the error tells too much: %s", text)
			}
			if len(s.requests) != 1 {
				t.Errorf("%d requests", len(s.requests))
			}
		})
	}
}

func TestAnEndlessRefusalIsBounded(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, strings.Repeat("x", 1<<15)); err != nil {
				return
			}
		}
	})
	if _, err := providers.Collect(s.provider(t, nil).Stream(t.Context(), hello), nil); providers.KindOf(err) != providers.KindUnavailable {
		t.Errorf("error %v", err)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	other := serve(t, streamOf(fine))
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	})
	_, err := providers.Collect(s.provider(t, nil).Stream(t.Context(), hello), nil)
	if providers.KindOf(err) != providers.KindProtocol || len(other.requests) != 0 {
		t.Errorf("error %v, %d requests elsewhere", err, len(other.requests))
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	s := serve(t, streamOf(fine))
	p := s.provider(t, func(c *Config) { c.BaseURL += "/v1?key=secret" })
	s.Close()
	_, err := providers.Collect(p.Stream(t.Context(), hello), nil)
	if e, ok := errors.AsType[*providers.Error](err); !ok || e.Kind != providers.KindNetwork || !e.Retryable || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v", err)
	}
}

func TestNoHeadersInTime(t *testing.T) {
	t.Parallel()
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	p := s.provider(t, func(c *Config) { c.HeaderTimeout = 20 * time.Millisecond })
	_, err := providers.Collect(p.Stream(t.Context(), hello), nil)
	if e, ok := errors.AsType[*providers.Error](err); !ok || e.Kind != providers.KindTimeout || !e.Retryable {
		t.Errorf("error %v", err)
	}
}

// TestP38ASilentAnswerEnds reads without the tool loop's own timer.
func TestP38ASilentAnswerEnds(t *testing.T) {
	t.Parallel()
	left := make(chan struct{})
	s := serve(t, held(left))
	p := s.provider(t, func(c *Config) { c.IdleTimeout = 20 * time.Millisecond })
	got, err := providers.Collect(p.Stream(t.Context(), hello), nil)
	if got.Text != "hi" || providers.KindOf(err) != providers.KindTimeout {
		t.Errorf("text %q, error %v", got.Text, err)
	}
	<-left
}

// held answers one chunk, then keeps the connection until the client leaves, and tells when it did.
func held(left chan<- struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		streamOf(sayChunk("hi"))(w, r)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(left)
	}
}

func TestCancelClosesTheConnection(t *testing.T) {
	t.Parallel()
	left := make(chan struct{})
	s := serve(t, held(left))
	ctx, cancel := context.WithCancel(t.Context())
	got, err := providers.Collect(s.provider(t, nil).Stream(ctx, hello), func(f providers.Fragment) {
		if _, ok := f.(providers.TextDelta); ok {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || got.Text != "hi" {
		t.Errorf("text %q, error %v", got.Text, err)
	}
	<-left
}

func TestLeavingEarlyClosesTheConnection(t *testing.T) {
	t.Parallel()
	left := make(chan struct{})
	s := serve(t, held(left))
	for _, err := range s.provider(t, nil).Stream(t.Context(), hello) {
		if err != nil {
			t.Error(err)
		}
		break
	}
	<-left
}

func TestConnectionIsReused(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	connections := map[string]bool{}
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		connections[r.RemoteAddr] = true
		mu.Unlock()
		streamOf(fine)(w, r)
	})
	p := s.provider(t, nil)
	for range 5 {
		if _, err := providers.Collect(p.Stream(t.Context(), hello), nil); err != nil {
			t.Fatal(err)
		}
	}
	if len(connections) != 1 {
		t.Errorf("%d connections for 5 requests", len(connections))
	}
}

func TestThinkTagsByConfiguration(t *testing.T) {
	t.Parallel()
	s := serve(t, streamOf(sayChunk("<th")+sayChunk("ink>a</think>b")+endChunk("stop")))
	for _, c := range []struct {
		vendor string
		tags   bool
		want   string
	}{
		{"openai", true, "think:a | say:b | stop"},
		{"openai", false, "say:<think>a</think>b | stop"},
		{"ollama", false, "think:a | say:b | stop"},
		{"", false, "think:a | say:b | stop"},
	} {
		p := s.provider(t, func(cfg *Config) { cfg.Vendor, cfg.ThinkTags = c.vendor, c.tags })
		if got := show(providers.Collect(p.Stream(t.Context(), hello), nil)); got != c.want {
			t.Errorf("vendor %q, tags %v: %s", c.vendor, c.tags, got)
		}
	}
}

// TestBodyCutByTheServer closes the connection inside a chunked body.
func TestBodyCutByTheServer(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		streamOf(sayChunk("hi")+halfCall())(w, r)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	got, err := providers.Collect(s.provider(t, nil).Stream(t.Context(), hello), nil)
	if s := show(got, err); s != "say:hi | a/echo/truncated | missing | error:truncated" {
		t.Error(s)
	}
}
