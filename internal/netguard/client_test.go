package netguard

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The decision itself, on addresses as the dialer hands them over. Nothing is dialled.
func TestB110DecisionOnAddresses(t *testing.T) {
	t.Parallel()
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("::1/128")}
	strict, loose := newGuard(nil, nil), newGuard(loopback, []uint16{11434})
	cases := []struct {
		address string
		guard   guard
		ok      bool
	}{
		{"8.8.8.8:443", strict, true},
		{"8.8.8.8:80", strict, true},
		{"[2606:4700::1111]:443", strict, true},
		{"8.8.8.8:6379", strict, false},
		{"8.8.8.8:5432", strict, false},
		{"8.8.8.8:8080", strict, false},
		{"127.0.0.1:80", strict, false},
		{"127.0.0.2:443", strict, false},
		{"0.0.0.0:80", strict, false},
		{"10.0.0.1:80", strict, false},
		{"172.16.0.1:80", strict, false},
		{"192.168.0.1:80", strict, false},
		{"169.254.169.254:80", strict, false},
		{"100.64.0.1:80", strict, false},
		{"224.0.0.1:80", strict, false},
		{"255.255.255.255:80", strict, false},
		{"[::1]:80", strict, false},
		{"[::]:80", strict, false},
		{"[fd00::1]:80", strict, false},
		{"[fe80::1]:80", strict, false},
		{"[::ffff:127.0.0.1]:80", strict, false},
		{"[64:ff9b::7f00:1]:80", strict, false},
		{"[2002:7f00:1::]:80", strict, false},
		{"no address", strict, false},
		{"127.0.0.1:11434", loose, true},
		{"[::1]:11434", loose, true},
		{"127.0.0.1:80", loose, true},
		{"127.0.0.1:6379", loose, false},
		{"127.0.0.2:11434", loose, false},
		{"8.8.8.8:11434", loose, false}, // the extra port is for the allowed prefixes only
		{"8.8.8.8:443", loose, true},
	}
	for _, c := range cases {
		network := "tcp4"
		if strings.HasPrefix(c.address, "[") {
			network = "tcp6"
		}
		err := c.guard.control(network, c.address, nil)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v, want allowed = %v", c.address, err, c.ok)
		}
		if err != nil && !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v does not wrap ErrRefused", c.address, err)
		}
	}
	if err := strict.control("udp4", "8.8.8.8:443", nil); !errors.Is(err, ErrRefused) {
		t.Errorf("udp: %v, want refused", err)
	}
}

// Spellings of inward addresses, through the whole client. A server listens on loopback and must never be reached.
func TestB110SpellingsAreRefused(t *testing.T) {
	t.Parallel()
	srv, hits := countingServer(t)
	_, port, _ := net.SplitHostPort(srv.Listener.Addr().String())
	// The worst resolver there is: every name that it is asked for is inward.
	client := newTestClient(t, Config{resolver: answering(t, func(int) string { return "127.0.0.1" })})
	for _, target := range []string{
		"http://127.0.0.1.nip.io/",
		"http://localhost/",
		"http://metadata.google.internal/",
		"http://[::ffff:127.0.0.1]/",
		"http://0x7f000001/",
		"http://100.64.0.1/",
		"http://[fd00::1]/",
		"http://169.254.169.254/latest/meta-data/",
		"http://example.com@127.0.0.1/",
		"http://127.0.0.1:" + port + "/",
		"http://127.0.0.1:6379/",
		"http://127.0.0.1:5432/",
		"http://user:pass@example.com/",
		"file:///etc/passwd",
		"gopher://127.0.0.1/",
		"http:///",
	} {
		_, err := get(t, client, target)
		if !errors.Is(err, ErrRefused) {
			t.Errorf("GET %s: %v, want ErrRefused", target, err)
		}
	}
	// Go's own resolver takes these for no names at all; a system's may read them as addresses, which the dialer then
	// refuses. Either error will do.
	for _, target := range []string{"http://2130706433/", "http://0/", "http://0177.0.0.1/"} {
		if _, err := get(t, client, target); err == nil {
			t.Errorf("GET %s was answered, want an error", target)
		}
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("the inward server was reached %d times", n)
	}
}

// A name that answers an allowed address first and another one later. Loopback stands for both: 127.0.0.1 is allowed,
// 127.0.0.2 is not.
func TestB110NameThatChangesItsAnswer(t *testing.T) {
	t.Parallel()
	hits := new(atomic.Int64)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		hits.Add(1)
		w.Header().Set("Connection", "close") // the next request must dial again
	}))
	t.Cleanup(srv.Close)
	_, port, _ := net.SplitHostPort(srv.Listener.Addr().String())
	client := newTestClient(t, Config{
		AllowPrefixes: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
		AllowPorts:    []uint16{portNumber(t, port)},
		resolver: answering(t, func(nth int) string {
			if nth == 0 {
				return "127.0.0.1"
			}
			return "127.0.0.2"
		}),
	})
	target := "http://rebind.test.:" + port + "/"
	if _, err := get(t, client, target); err != nil {
		t.Fatalf("first answer: %v, want it reached", err)
	}
	if _, err := get(t, client, target); !errors.Is(err, ErrRefused) {
		t.Errorf("second answer: %v, want ErrRefused", err)
	}
	if n := hits.Load(); n != 1 {
		t.Errorf("server reached %d times, want once", n)
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	inward, inwardHits := countingServer(t)
	mux := http.NewServeMux()
	mux.HandleFunc("/end", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "end") })
	mux.HandleFunc("/hop/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.PathValue("n"))
		next := "/end"
		if n > 1 {
			next = "/hop/" + strconv.Itoa(n-1)
		}
		http.Redirect(w, r, next, http.StatusFound)
	})
	mux.HandleFunc("/to", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("url"), http.StatusFound)
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	client := newTestClient(t, allow(t, srv, Config{MaxRedirects: 3}))
	none := newTestClient(t, allow(t, srv, Config{MaxRedirects: -1}))

	if body, err := get(t, client, srv.URL+"/hop/3"); err != nil || body != "end" {
		t.Errorf("3 redirects: %q, %v, want the end", body, err)
	}
	for name, c := range map[string]struct {
		client *http.Client
		target string
	}{
		"one redirect too many": {client, srv.URL + "/hop/4"},
		"none allowed":          {none, srv.URL + "/hop/1"},
		"to another port":       {client, srv.URL + "/to?url=" + url.QueryEscape(inward.URL)},
		"to metadata":           {client, srv.URL + "/to?url=http://169.254.169.254/"},
		"to a file":             {client, srv.URL + "/to?url=file:///etc/passwd"},
		"to user information":   {client, srv.URL + "/to?url=" + url.QueryEscape(strings.Replace(srv.URL, "http://", "http://u:p@", 1))},
	} {
		if _, err := get(t, c.client, c.target); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v, want ErrRefused", name, err)
		}
	}
	if n := inwardHits.Load(); n != 0 {
		t.Errorf("a redirect reached the inward server %d times", n)
	}
}

func TestRedirectToPlainHTTPIsRefused(t *testing.T) {
	t.Parallel()
	from := httptest.NewRequest(http.MethodGet, "https://example.com/", nil)
	to := httptest.NewRequest(http.MethodGet, "http://example.com/", nil)
	if err := checkRedirect(5)(to, []*http.Request{from}); !errors.Is(err, ErrRefused) {
		t.Errorf("https to http: %v, want ErrRefused", err)
	}
	if err := checkRedirect(5)(from, []*http.Request{to}); err != nil {
		t.Errorf("http to https: %v, want it followed", err)
	}
}

func TestBodyIsCapped(t *testing.T) {
	t.Parallel()
	const limit = 1000
	mux := http.NewServeMux()
	send := func(n int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("x", n)) }
	}
	mux.HandleFunc("/exact", send(limit))
	mux.HandleFunc("/declared", send(limit+1))
	mux.HandleFunc("/streamed", func(w http.ResponseWriter, r *http.Request) {
		for range 3 {
			send(limit/2)(w, r)
			_ = http.NewResponseController(w).Flush()
		}
	})
	mux.HandleFunc("/bomb", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = z.Write(make([]byte, 1<<20)) // about 1 KB on the wire
		_ = z.Close()
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	client := newTestClient(t, allow(t, srv, Config{MaxBodyBytes: limit}))
	if body, err := get(t, client, srv.URL+"/exact"); err != nil || len(body) != limit {
		t.Errorf("body of exactly the limit: %d bytes, %v", len(body), err)
	}
	for _, path := range []string{"/declared", "/streamed", "/bomb"} {
		body, err := get(t, client, srv.URL+path)
		if _, ok := errors.AsType[*TooLargeError](err); !ok {
			t.Errorf("%s: %v, want *TooLargeError", path, err)
		}
		if len(body) > limit {
			t.Errorf("%s: %d bytes were handed out, limit %d", path, len(body), limit)
		}
	}
}

func TestNoCookiesAndNoProxy(t *testing.T) {
	cookies := make(chan string, 2)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cookies <- r.Header.Get("Cookie")
		http.SetCookie(w, &http.Cookie{Name: "track", Value: "1"})
	}))
	t.Cleanup(srv.Close)
	proxy, proxied := countingServer(t)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		t.Setenv(name, proxy.URL)
	}
	client := newTestClient(t, allow(t, srv, Config{}))
	for range 2 {
		if _, err := get(t, client, srv.URL); err != nil {
			t.Fatal(err)
		}
		if got := <-cookies; got != "" {
			t.Errorf("a cookie came back: %q", got)
		}
	}
	if tr := client.Transport.(*transport); tr.base.Proxy != nil || proxied.Load() != 0 {
		t.Error("the client asks the environment for a proxy")
	}
}

func newTestClient(t *testing.T, c Config) *http.Client {
	t.Helper()
	client := NewClient(c)
	t.Cleanup(client.CloseIdleConnections)
	return client
}

func allow(t *testing.T, srv *httptest.Server, c Config) Config {
	t.Helper()
	at := netip.MustParseAddrPort(srv.Listener.Addr().String())
	c.AllowPrefixes = []netip.Prefix{netip.PrefixFrom(at.Addr(), at.Addr().BitLen())}
	c.AllowPorts = []uint16{at.Port()}
	return c
}

func countingServer(t *testing.T) (*httptest.Server, *atomic.Int64) {
	t.Helper()
	hits := new(atomic.Int64)
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	t.Cleanup(srv.Close)
	return srv, hits
}

func get(t *testing.T, client *http.Client, target string) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}

func portNumber(t *testing.T, s string) uint16 {
	t.Helper()
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	return uint16(n)
}

// answering returns a resolver whose every A question is answered by answer, which gets the number of the question.
func answering(t *testing.T, answer func(nth int) string) *net.Resolver {
	t.Helper()
	var asked atomic.Int64
	return &net.Resolver{
		PreferGo: true,
		Dial: func(context.Context, string, string) (net.Conn, error) {
			client, server := net.Pipe()
			go serveDNS(server, func() netip.Addr { return netip.MustParseAddr(answer(int(asked.Add(1)) - 1)) })
			return client, nil
		},
	}
}
