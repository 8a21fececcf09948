package main

import (
	"io"
	"net"
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	t.Parallel()
	postgres, redis, other := listen(t, "N"), listen(t, "+PONG\r\n"), listen(t, "HTTP/1.1 400\r\n")
	closed := listen(t, "")
	cases := map[string]struct {
		env  map[string]string
		ok   bool
		want []string
	}{
		"both there":             {map[string]string{"POSTGRES_ADDR": postgres, "REDIS_ADDR": redis, "REQUIRE_SERVICES": "1"}, true, []string{"Postgres: reachable", "Redis: reachable"}},
		"one silent":             {map[string]string{"POSTGRES_ADDR": closed, "REDIS_ADDR": redis}, true, []string{"Postgres: not reachable", "Redis: reachable"}},
		"one silent, required":   {map[string]string{"POSTGRES_ADDR": closed, "REDIS_ADDR": redis, "REQUIRE_SERVICES": "1"}, false, []string{"Postgres: REQUIRED BUT MISSING", "Redis: reachable"}},
		"another server, needed": {map[string]string{"POSTGRES_ADDR": other, "REDIS_ADDR": other, "REQUIRE_SERVICES": "1"}, false, []string{"is something else", "is something else"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			ok := report(&out, func(name string) string { return c.env[name] })
			if ok != c.ok {
				t.Errorf("report = %v, want %v", ok, c.ok)
			}
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			if len(lines) != len(c.want) {
				t.Fatalf("lines = %q, want %d", lines, len(c.want))
			}
			for i, want := range c.want {
				if !strings.Contains(lines[i], want) {
					t.Errorf("line %d = %q, want it to contain %q", i, lines[i], want)
				}
			}
		})
	}
}

// listen serves answer to everyone who says something, and returns the address.
func listen(t *testing.T, answer string) string {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { _ = l.Close(); <-done })
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if _, err := conn.Read(make([]byte, 1)); err == nil {
				_, _ = io.WriteString(conn, answer)
			}
			_ = conn.Close()
		}
	}()
	return l.Addr().String()
}
