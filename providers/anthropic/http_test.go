package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parleybot/parley/providers"
	"github.com/parleybot/parley/providers/internal/rows"
	"github.com/parleybot/parley/providers/internal/wire"
)

const testKey = "sk-ant-api03-abcdefghijklmnop"

// service is a server on loopback that answers with what a test gives it and remembers what it was asked.
type service struct {
	*httptest.Server
	mu      sync.Mutex
	bodies  [][]byte
	paths   []string
	headers []http.Header
}

func serve(t testing.TB, answer http.HandlerFunc) *service {
	t.Helper()
	s := &service{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || !json.Valid(body) {
			t.Errorf("request body %q: %v", body, err)
		}
		s.mu.Lock()
		s.bodies, s.paths, s.headers = append(s.bodies, body), append(s.paths, r.URL.RequestURI()), append(s.headers, r.Header)
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// request is what the server was sent, the nth from 0.
func (s *service) request(t testing.TB, n int) map[string]any {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if n >= len(s.bodies) {
		t.Fatalf("%d requests, want more than %d", len(s.bodies), n)
	}
	var body map[string]any
	if err := json.Unmarshal(s.bodies[n], &body); err != nil {
		t.Fatal(err)
	}
	return body
}

func (s *service) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.bodies)
}

func (s *service) provider(t testing.TB, change func(*Config)) *Provider {
	t.Helper()
	c := Config{BaseURL: s.URL, APIKey: testKey, Model: "claude-sonnet-4-5"}
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

var fine = begin() + textBlock(0, "hi") + end("end_turn")

const fineShown = "say:hi | usage:5/9 | stop"

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

func refusal(kind, message string) string {
	return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q},"request_id":"req_1"}`, kind, message)
}

var hello = providers.Request{Messages: []providers.Message{{Role: providers.RoleUser, Content: "hello"}}}

func TestEndpoints(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ base, want string }{
		{"", "/v1/messages"},
		{"/", "/v1/messages"},
		{"/v1", "/v1/messages"},
		{"/v1/", "/v1/messages"},
		{"/v1/messages", "/v1/messages"},
		{"/anthropic", "/anthropic/v1/messages"},
		{"/api/anthropic/v1/?a=1&b=x%20y", "/api/anthropic/v1/messages?a=1&b=x+y"},
	} {
		t.Run("base "+c.base, func(t *testing.T) {
			t.Parallel()
			s := serve(t, streamOf(fine))
			p := s.provider(t, func(cfg *Config) { cfg.BaseURL = s.URL + c.base })
			if got := show(providers.Collect(p.Stream(t.Context(), hello), nil)); got != fineShown {
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

// TestNothingComesFromTheEnvironment sets everything the SDK reads when it is asked to.
func TestNothingComesFromTheEnvironment(t *testing.T) {
	for name, value := range map[string]string{
		"ANTHROPIC_API_KEY": "sk-ant-env", "ANTHROPIC_AUTH_TOKEN": "token-env", "ANTHROPIC_BASE_URL": "http://127.0.0.1:1/",
		"ANTHROPIC_CUSTOM_HEADERS": "X-Env: yes", "ANTHROPIC_PROFILE": "nobody", "ANTHROPIC_CONFIG_DIR": t.TempDir(),
		"ANTHROPIC_WORKSPACE_ID": "w-env", "ANTHROPIC_IDENTITY_TOKEN": "i-env", "ANTHROPIC_LOG": "debug",
	} {
		t.Setenv(name, value)
	}
	for _, key := range []string{"", testKey} {
		s := serve(t, streamOf(fine))
		p := s.provider(t, func(c *Config) { c.APIKey = key })
		if got := show(providers.Collect(p.Stream(t.Context(), hello), nil)); got != fineShown {
			t.Fatal(got)
		}
		h := s.headers[0]
		if h.Get("Authorization") != "" || h.Get("X-Api-Key") != key || h.Get("X-Env") != "" || h.Get("Anthropic-Version") != "2023-06-01" {
			t.Errorf("key %q: headers %v", key, h)
		}
		for name, values := range h {
			if strings.Contains(strings.Join(values, " "), "env") {
				t.Errorf("header %s: %v", name, values)
			}
		}
	}
}

func TestBearer(t *testing.T) {
	t.Parallel()
	s := serve(t, streamOf(fine))
	p := s.provider(t, func(c *Config) { c.Bearer = true })
	if got := show(providers.Collect(p.Stream(t.Context(), hello), nil)); got != fineShown {
		t.Fatal(got)
	}
	if h := s.headers[0]; h.Get("Authorization") != "Bearer "+testKey || h.Get("X-Api-Key") != "" || h.Get("Accept") != "text/event-stream" {
		t.Errorf("headers %v", h)
	}
}

func TestRequestsThatAreNotSent(t *testing.T) {
	t.Parallel()
	s := serve(t, streamOf(fine))
	p := s.provider(t, func(c *Config) { c.Model = "" })
	for name, req := range map[string]providers.Request{
		"no model":     hello,
		"tool name":    {Model: "m", Messages: hello.Messages, Tools: []providers.ToolSpec{{Name: "a.b"}}},
		"no messages":  {Model: "m"},
		"P46 no words": {Model: "m", Messages: []providers.Message{hello.Messages[0], {Role: providers.RoleAssistant, Content: "hi"}}},
	} {
		if _, err := providers.Collect(p.Stream(t.Context(), req), nil); providers.KindOf(err) != providers.KindBadRequest {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if s.count() != 0 {
		t.Errorf("%d requests were sent", s.count())
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	rows.Ran(t, "CD122", "CD123", "CD133")
	leak := "invalid x-api-key sk-ant-abc***mnop. Bearer " + testKey
	for _, c := range []struct {
		name      string
		answer    http.HandlerFunc
		kind      providers.ErrorKind
		retryable bool
		after     time.Duration
		message   string
	}{
		{"CD123 401", status(401, refusal("authentication_error", leak)), providers.KindAuth, false, 0, wire.KeyRejected},
		{"403", status(403, refusal("permission_error", leak)), providers.KindAuth, false, 0, wire.KeyRejected},
		{"CD122 P36 429 with Retry-After", status(429, refusal("rate_limit_error", "slow down"), "Retry-After", "2"), providers.KindRateLimit, true, 2 * time.Second, "slow down"},
		{"429 of a spending limit", status(429, `{"type":"error","error":{"type":"rate_limit_error","message":"x","details":{"error_code":"enforced_spend_limit_reached"}}}`), providers.KindQuota, false, 0, "x"},
		{"402", status(402, refusal("billing_error", "pay")), providers.KindQuota, false, 0, "pay"},
		{"400, no credit", status(400, refusal("invalid_request_error", "Your credit balance is too low")), providers.KindQuota, false, 0, "Your credit balance is too low"},
		{"400, too long", status(400, refusal("invalid_request_error", "prompt is too long: 205000 tokens > 200000 maximum")), providers.KindTooLarge, false, 0, "prompt is too long: 205000 tokens > 200000 maximum"},
		{"413", status(413, refusal("request_too_large", "big")), providers.KindTooLarge, false, 0, "big"},
		{"404", status(404, refusal("not_found_error", "model: x")), providers.KindBadRequest, false, 0, "model: x"},
		{"408", status(408, `{}`), providers.KindTimeout, true, 0, "{}"},
		{"409", status(409, refusal("conflict_error", "again")), providers.KindUnavailable, true, 0, "again"},
		{"425", status(425, `early`), providers.KindUnavailable, true, 0, "early"},
		{"500", status(500, refusal("api_error", "boom")), providers.KindUnavailable, true, 0, "boom"},
		{"503, not to be retried", status(503, refusal("api_error", "busy"), "X-Should-Retry", "false"), providers.KindOverloaded, false, 0, "busy"},
		{"504", status(504, refusal("timeout_error", "slow")), providers.KindTimeout, true, 0, "slow"},
		{"P37 529", status(529, refusal("overloaded_error", "Overloaded"), "Retry-After-Ms", "1500"), providers.KindOverloaded, true, 1500 * time.Millisecond, "Overloaded"},
		{"502 with a page", status(502, `<html>oops</html>`), providers.KindUnavailable, true, 0, ""},
		{"a key in another message", status(400, refusal("invalid_request_error", "header "+leak)), providers.KindBadRequest, false, 0, "header invalid x-api-key [redacted] [redacted]"},
		{"204", status(204, ""), providers.KindProtocol, false, 0, "the service answered 204 instead of an answer"},
		{"P33 overloaded inside a 200", streamOf(begin() + sent(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)), providers.KindOverloaded, true, 0, "Overloaded"},
		{"P33 overloaded behind text", streamOf(begin() + textBlock(0, "a") + sent(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)), providers.KindOverloaded, false, 0, "Overloaded"},
		{"a key inside a 200", streamOf(sent(`{"type":"error","error":{"type":"authentication_error","message":"` + leak + `"}}`)), providers.KindAuth, false, 0, wire.KeyRejected},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, c.answer)
			_, err := providers.Collect(s.provider(t, nil).Stream(t.Context(), hello), nil)
			e, ok := errors.AsType[*providers.Error](err)
			if !ok {
				t.Fatalf("error %v", err)
			}
			if e.Kind != c.kind || e.Retryable != c.retryable || e.RetryAfter != c.after || e.Message != c.message || e.Provider != "anthropic" {
				t.Errorf("error %+v", e)
			}
			if text := err.Error(); strings.Contains(text, testKey) || strings.Contains(text, "mnop") || strings.Contains(text, "127.0.0.1") {
				t.Errorf("the error tells too much: %s", text)
			}
			if s.count() != 1 {
				t.Errorf("%d requests", s.count())
			}
		})
	}
}

// TestOverloadedIsRetried: P37, and P36 through the whole chain: the second request is answered.
func TestOverloadedIsRetried(t *testing.T) {
	t.Parallel()
	var s *service
	s = serve(t, func(w http.ResponseWriter, r *http.Request) {
		if s.count() == 1 {
			status(529, refusal("overloaded_error", "Overloaded"), "Retry-After-Ms", "1")(w, r)
			return
		}
		streamOf(fine)(w, r)
	})
	p := providers.Retrying(s.provider(t, nil), providers.RetryPolicy{})
	if got := show(providers.Collect(p.Stream(t.Context(), hello), nil)); got != fineShown || s.count() != 2 {
		t.Errorf("%s after %d requests", got, s.count())
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
	if providers.KindOf(err) != providers.KindProtocol || other.count() != 0 {
		t.Errorf("error %v, %d requests elsewhere", err, other.count())
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

func TestP38NoHeadersInTime(t *testing.T) {
	t.Parallel()
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	p := s.provider(t, func(c *Config) { c.HeaderTimeout = 20 * time.Millisecond })
	_, err := providers.Collect(p.Stream(t.Context(), hello), nil)
	if e, ok := errors.AsType[*providers.Error](err); !ok || e.Kind != providers.KindTimeout || !e.Retryable {
		t.Errorf("error %v", err)
	}
}

// held answers the beginning of a stream, then keeps the connection until the client leaves, and tells when it did.
func held(left chan<- struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		streamOf(begin()+start(0, `{"type":"text","text":"hi"}`))(w, r)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(left)
	}
}

func TestP38SilenceEndsTheAnswer(t *testing.T) {
	t.Parallel()
	left := make(chan struct{})
	s := serve(t, held(left))
	p := s.provider(t, func(c *Config) { c.IdleTimeout = 20 * time.Millisecond })
	got, err := providers.Collect(p.Stream(t.Context(), hello), nil)
	if providers.KindOf(err) != providers.KindTimeout || got.Text != "hi" {
		t.Errorf("text %q, error %v", got.Text, err)
	}
	<-left
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
	if !errors.Is(err, context.Canceled) || got.Text != "hi" || got.Usage.Input != 5 {
		t.Errorf("text %q, usage %+v, error %v", got.Text, got.Usage, err)
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

// TestBodyCutByTheServer closes the connection inside a chunked body.
func TestBodyCutByTheServer(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		streamOf(begin()+textBlock(0, "hi")+start(1, `{"type":"tool_use","id":"a","name":"echo"}`)+argument(1, `{"n":1}`))(w, r)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	got, err := providers.Collect(s.provider(t, nil).Stream(t.Context(), hello), nil)
	if s := show(got, err); s != "say:hi | a/echo/truncated | usage:5/1 | missing | error:truncated" {
		t.Error(s)
	}
}

func TestBodiesThatAreNoStream(t *testing.T) {
	t.Parallel()
	whole := `{"type":"message","model":"x","stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":2},"content":[` +
		`{"type":"thinking","thinking":"hm","signature":"S"},{"type":"text","text":"a"},{"type":"tool_use","id":"c","name":"echo","input":{"n":1}}]}`
	for _, c := range []struct{ name, contentType, body, want string }{
		{"whole answer", "application/json; charset=utf-8", whole, `think:hm | block:{"type":"thinking","thinking":"hm","signature":"S"} | say:a | c/echo/{"n":1} | usage:1/2 | stop`},
		{"error object", "application/json", refusal("invalid_request_error", "no such model"), "error | error:bad_request"},
		{"cut document", "application/json", whole[:len(whole)-9], "error | error:protocol"},
		{"some other document", "application/json", `{"ok":true}`, "error | error:protocol"},
		{"web page", "text/html", `<html>login</html>`, "error | error:protocol"},
		{"web page in disguise", "text/event-stream", "\n<!doctype html>", "error | error:protocol"},
		{"stream called JSON", "application/json", fine, fineShown},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := show(read(c.contentType, strings.NewReader(c.body), 0)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestP31LongLines(t *testing.T) {
	t.Parallel()
	rows.Ran(t, "CD116")
	got, err := replay(begin()+textBlock(0, strings.Repeat("x", 900_000))+end("end_turn"), 1<<15)
	if err != nil || len(got.Text) != 900_000 {
		t.Errorf("%d bytes, %v", len(got.Text), err)
	}
	padded := sent(`{"type":"ping","padding":"` + strings.Repeat("x", 2<<20) + `"}`)
	if got := show(replay(begin()+padded+textBlock(0, "a")+end("end_turn"), 1<<15)); got != "say:a | usage:5/9 | stop" {
		t.Error(got)
	}
	if got := show(replay(begin()+textBlock(0, "a")+textBlock(1, strings.Repeat("x", 5<<20)), 1<<15)); got != "say:a | usage:5/1 | error | error:protocol" {
		t.Error(got)
	}
}

func TestP14LengthIsRecognisedByItsNumbers(t *testing.T) {
	t.Parallel()
	s := serve(t, streamOf(begin()+toolBlock(0, "a", "echo", `{"n":`)+end("tool_use")))
	req := hello
	req.MaxOutputTokens = 9
	if got := show(providers.Collect(s.provider(t, nil).Stream(t.Context(), req), nil)); got != "a/echo/truncated | usage:5/9 | length" {
		t.Error(got)
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	rows.Ran(t, "CD135", "CD138")
	begun := func(usage string) string {
		return sent(`{"type":"message_start","message":{"type":"message","model":"x","usage":` + usage + `}}`)
	}
	ended := func(usage string) string {
		return textBlock(0, "a") + sent(`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":`+usage+`}`) + sent(`{"type":"message_stop"}`)
	}
	for _, c := range []struct {
		name, begin, end string
		want             providers.Usage
	}{
		{"CD135 P43 the later 0 keeps the number", `{"input_tokens":12,"output_tokens":1}`, `{"input_tokens":0,"output_tokens":7}`, providers.Usage{Input: 12, Output: 7}},
		{"CD135 P41 P43 a later number replaces it", `{"input_tokens":12,"output_tokens":1}`, `{"input_tokens":20,"output_tokens":7}`, providers.Usage{Input: 20, Output: 7}},
		{"P43 only at the end", `{"input_tokens":0}`, `{"input_tokens":20,"output_tokens":7}`, providers.Usage{Input: 20, Output: 7}},
		{
			"CD138 P42 what the cache holds is counted beside the input, and is input", `{"input_tokens":200,"cache_read_input_tokens":800,"cache_creation_input_tokens":50,"output_tokens":1}`,
			`{"output_tokens":30,"output_tokens_details":{"thinking_tokens":10}}`,
			providers.Usage{Input: 1050, Output: 30, CacheRead: 800, CacheWrite: 50, Reasoning: 10},
		},
		{"numbers of another kind", `{"input_tokens":12.0,"output_tokens":"x","cache_read_input_tokens":null}`, `{"output_tokens":-3}`, providers.Usage{Input: 12}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := replay(begun(c.begin)+ended(c.end), 64)
			if err != nil || got.Usage != c.want || got.Model != "x" {
				t.Errorf("usage %+v of %q, error %v, want %+v", got.Usage, got.Model, err, c.want)
			}
		})
	}
}
