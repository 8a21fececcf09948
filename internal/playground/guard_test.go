package playground

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestGuard(t *testing.T) {
	t.Parallel()
	const addr = "127.0.0.1:7788"
	const own = "http://" + addr
	served := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	g := guard(addr, served)
	cases := map[string]struct {
		method, path, host string
		header             map[string]string
		ok                 bool
	}{
		"typed address":           {"GET", "/", addr, map[string]string{"Sec-Fetch-Site": "none"}, true},
		"linked from elsewhere":   {"GET", "/", addr, map[string]string{"Sec-Fetch-Site": "cross-site"}, true},
		"localhost":               {"GET", "/", "localhost:7788", nil, true},
		"old browser":             {"GET", "/api/stream", addr, nil, true},
		"own stream":              {"GET", "/api/stream", addr, map[string]string{"Sec-Fetch-Site": "same-origin"}, true},
		"foreign stream":          {"GET", "/api/stream", addr, map[string]string{"Sec-Fetch-Site": "cross-site"}, false},
		"stream of another port":  {"GET", "/api/stream", addr, map[string]string{"Sec-Fetch-Site": "same-site"}, false},
		"stream, foreign origin":  {"GET", "/api/stream", addr, map[string]string{"Origin": "http://evil.example"}, false},
		"rebound name":            {"GET", "/", "evil.example:7788", nil, false},
		"rebound name, own fetch": {"POST", "/api/say", "evil.example:7788", map[string]string{"Origin": "http://evil.example:7788", "Sec-Fetch-Site": "same-origin", "Content-Type": "application/json"}, false},
		"other port":              {"GET", "/", "127.0.0.1:80", nil, false},
		"own post":                {"POST", "/api/say", addr, map[string]string{"Origin": own, "Sec-Fetch-Site": "same-origin", "Content-Type": "application/json"}, true},
		"own post, charset":       {"POST", "/api/say", addr, map[string]string{"Origin": own, "Content-Type": "application/json; charset=utf-8"}, true},
		"no origin at all":        {"POST", "/api/say", addr, map[string]string{"Content-Type": "application/json"}, false},
		"foreign post":            {"POST", "/api/say", addr, map[string]string{"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site", "Content-Type": "application/json"}, false},
		"post of another port":    {"POST", "/api/say", addr, map[string]string{"Origin": "http://127.0.0.1:80", "Sec-Fetch-Site": "same-site", "Content-Type": "application/json"}, false},
		"null origin":             {"POST", "/api/say", addr, map[string]string{"Origin": "null", "Content-Type": "application/json"}, false},
		"form":                    {"POST", "/api/say", addr, map[string]string{"Origin": own, "Content-Type": "text/plain"}, false},
		"no content type":         {"POST", "/api/say", addr, map[string]string{"Origin": own}, false},
		"site contradicts":        {"POST", "/api/say", addr, map[string]string{"Origin": own, "Sec-Fetch-Site": "cross-site", "Content-Type": "application/json"}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequestWithContext(t.Context(), c.method, c.path, strings.NewReader("{}"))
			r.Host = c.host
			for key, value := range c.header {
				r.Header.Set(key, value)
			}
			w := httptest.NewRecorder()
			g.ServeHTTP(w, r)
			if want := map[bool]int{true: http.StatusNoContent, false: http.StatusForbidden}[c.ok]; w.Code != want {
				t.Errorf("answered %d %s, want %d", w.Code, w.Body, want)
			}
			policy := w.Header().Get("Content-Security-Policy")
			for _, part := range []string{"default-src 'none'", "script-src 'self';", "style-src 'self';", "require-trusted-types-for 'script'"} {
				if !strings.Contains(policy, part) {
					t.Errorf("policy %q has no %s", policy, part)
				}
			}
			if strings.Contains(policy, "unsafe") {
				t.Errorf("policy %q", policy)
			}
		})
	}
}
