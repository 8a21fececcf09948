package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleybot/parley/bot/delivery"
)

// script answers requests in order; after its end everything succeeds.
type script struct {
	mu     sync.Mutex
	steps  []func(http.ResponseWriter)
	bodies []map[string]any
	paths  []string
	client *restClient
}

func newScript(t *testing.T, steps ...func(http.ResponseWriter)) *script {
	t.Helper()
	s := &script{steps: steps}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	s.client = newRestClient(Config{APIBase: srv.URL, Token: "secret", Version: "test", Log: zerolog.Nop()}, nil, transport)
	return s
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	var body map[string]any
	_ = json.Unmarshal(raw, &body)
	s.mu.Lock()
	s.bodies = append(s.bodies, body)
	s.paths = append(s.paths, r.URL.Path)
	step := func(w http.ResponseWriter) { _, _ = fmt.Fprintf(w, `{"id":"%d"}`, len(s.bodies)) }
	if len(s.steps) > 0 {
		step, s.steps = s.steps[0], s.steps[1:]
	}
	s.mu.Unlock()
	step(w)
}

func status(code int, body string, headers ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = conn.Close()
	}
}

// B84, B85: what is worth repeating is repeated with the same nonce, so that it cannot appear twice.
func TestRepeatedWithTheSameNonce(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]func(http.ResponseWriter){
		"502":                status(502, "<html>"),
		"503":                status(503, ""),
		"reset":              reset,
		"429 by body":        status(429, `{"message":"x","retry_after":0.05,"global":false}`),
		"429 by header":      status(429, `<html>`, "Retry-After", "0.05"),
		"429 global by body": status(429, `{"retry_after":0.05,"global":true}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScript(t, step)
			id, err := s.client.create(t.Context(), "1", newMessage("hi"))
			if err != nil || id != "2" || len(s.bodies) != 2 {
				t.Fatalf("id %q, %d requests: %v", id, len(s.bodies), err)
			}
			a, b := s.bodies[0]["nonce"], s.bodies[1]["nonce"]
			if a == "" || a != b || s.bodies[1]["enforce_nonce"] != true || len(fmt.Sprint(a)) > 25 {
				t.Errorf("nonces %v and %v", a, b)
			}
		})
	}
}

// X05: refusals are never repeated, and told apart.
func TestRefusalsAreFinal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		step func(http.ResponseWriter)
		want error
	}{
		"50013":   {status(403, `{"code":50013,"message":"Missing Permissions"}`), delivery.ErrForbidden},
		"50001":   {status(403, `{"code":50001,"message":"Missing Access"}`), delivery.ErrForbidden},
		"403":     {status(403, `cloudflare`), delivery.ErrForbidden},
		"10003":   {status(404, `{"code":10003,"message":"Unknown Channel"}`), delivery.ErrUnknownChannel},
		"10008":   {status(404, `{"code":10008,"message":"Unknown Message"}`), delivery.ErrUnknownMessage},
		"50035":   {status(400, `{"code":50035,"message":"Invalid Form Body"}`), nil},
		"10062":   {status(404, `{"code":10062,"message":"Unknown interaction"}`), errTokenExpired},
		"no JSON": {status(400, `<html>`), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScript(t, c.step)
			_, err := s.client.create(t.Context(), "1", newMessage("hi"))
			ae, ok := errors.AsType[*APIError](err)
			if !ok || len(s.bodies) != 1 || strings.Contains(err.Error(), "secret") {
				t.Fatalf("%d requests: %v", len(s.bodies), err)
			}
			if c.want != nil && !errors.Is(err, c.want) || c.want == nil && ae.Unwrap() != nil {
				t.Errorf("%v is not %v", err, c.want)
			}
		})
	}
}

func TestTriesAreBounded(t *testing.T) {
	t.Parallel()
	limited := slices.Repeat([]func(http.ResponseWriter){status(429, `{"retry_after":0.01}`)}, 20)
	s := newScript(t, limited...)
	if _, err := s.client.create(t.Context(), "1", newMessage("hi")); err == nil || len(s.bodies) != maxTries {
		t.Errorf("%d requests: %v", len(s.bodies), err)
	}
	long := newScript(t, status(429, `{"retry_after":3600}`))
	if _, err := long.client.create(t.Context(), "1", newMessage("hi")); err == nil || len(long.bodies) != 1 {
		t.Errorf("an hour's limit: %d requests: %v", len(long.bodies), err)
	}
}

func TestUnrepeatableIsSentOnce(t *testing.T) {
	t.Parallel()
	s := newScript(t, status(503, ""))
	r := &reply{rest: s.client, application: "1", token: "interaction-secret", log: zerolog.Nop()}
	err := r.followUp(t.Context(), privately("x"))
	if err == nil || len(s.bodies) != 1 || strings.Contains(err.Error(), "interaction-secret") {
		t.Errorf("%d requests: %v", len(s.bodies), err)
	}
}

// An answer whose acknowledgement was lost is no failure.
func TestLostAcknowledgement(t *testing.T) {
	t.Parallel()
	s := newScript(t, reset, status(400, `{"code":40060,"message":"Interaction has already been acknowledged."}`))
	r := &reply{rest: s.client, id: "1", token: "interaction-secret", log: zerolog.Nop()}
	if err := r.callback(t.Context(), callbackDeferred, nil); err != nil || len(s.bodies) != 2 {
		t.Errorf("%d requests: %v", len(s.bodies), err)
	}
}

func TestNetworkErrorsHideTheURL(t *testing.T) {
	t.Parallel()
	c := newRestClient(Config{APIBase: "http://127.0.0.1:1", Token: "secret", Log: zerolog.Nop()}, nil, &http.Transport{})
	r := &reply{rest: c, id: "1", application: "1", token: "interaction-secret", log: zerolog.Nop()}
	if err := r.followUp(t.Context(), privately("x")); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}

// B04: a limit in the middle delays the rest, and keeps it in order.
func TestOrderIsKeptOverALimit(t *testing.T) {
	t.Parallel()
	ok := status(200, `{"id":"1"}`)
	s := newScript(t, ok, ok, status(429, `{"retry_after":0.1}`))
	for n := range 5 {
		if _, err := s.client.create(t.Context(), "1", newMessage(fmt.Sprint(n))); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, b := range s.bodies {
		got = append(got, fmt.Sprint(b["content"]))
	}
	if want := []string{"0", "1", "2", "2", "3", "4"}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

func TestUploads(t *testing.T) {
	t.Parallel()
	var form string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseMultipartForm(1 << 20); err == nil {
			f, h, err := r.FormFile("files[0]")
			if err == nil {
				data, _ := io.ReadAll(f)
				form = r.FormValue("payload_json") + " " + h.Filename + " " + string(data)
			}
		}
		_, _ = io.WriteString(w, `{"id":"9"}`)
	}))
	defer srv.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	c := newRestClient(Config{APIBase: srv.URL, Log: zerolog.Nop()}, nil, transport)
	m := newMessage("see").with(delivery.File{Name: `a"b.md`, Data: []byte("# data")})
	id, err := c.create(t.Context(), "1", m)
	if err != nil || id != "9" || !strings.Contains(form, `"attachments":[{"id":"0","filename":"a\"b.md"}]`) || !strings.HasSuffix(form, `a"b.md # data`) {
		t.Errorf("id %q, %v: %s", id, err, form)
	}
}

func TestUnauthorizedIsNoticed(t *testing.T) {
	t.Parallel()
	s := newScript(t, status(401, `{"code":0,"message":"401: Unauthorized"}`), status(401, ``))
	for range 2 {
		if err := s.client.typing(t.Context(), "1"); fatalIn(err) == nil {
			t.Errorf("%v is not fatal", err)
		}
	}
	select {
	case <-s.client.rejected:
	default:
		t.Error("not noticed")
	}
}

func TestCancelledWhileLimited(t *testing.T) {
	t.Parallel()
	s := newScript(t, status(429, `{"retry_after":60}`))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := s.client.create(ctx, "1", newMessage("x"))
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 10*time.Second {
		t.Errorf("%v after %s", err, time.Since(start))
	}
}
