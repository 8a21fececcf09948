// Command servicecheck says which servers the tests can use on this machine. It speaks a few bytes of each server's own
// protocol, so a port that something else holds does not count. With REQUIRE_SERVICES=1 a missing one is an error, so
// that CI never passes by skipping.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

type service struct {
	name    string
	env     string // variable that overrides address
	address string
	tests   string // folder of the package whose tests need it
	hello   []byte
	// answers reports whether the first byte of the answer is what such a server says.
	answers func(first byte) bool
}

var services = []service{
	{
		name: "Postgres", env: "POSTGRES_ADDR", address: "127.0.0.1:5432", tests: "store/postgres",
		hello:   []byte{0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f}, // SSLRequest: answered by one byte, S or N
		answers: func(b byte) bool { return b == 'S' || b == 'N' },
	},
	{
		name: "Redis", env: "REDIS_ADDR", address: "127.0.0.1:6379", tests: "store/redis",
		hello:   []byte("PING\r\n"),
		answers: func(b byte) bool { return b == '+' || b == '-' }, // -NOAUTH is a Redis too
	},
}

func main() {
	if !report(os.Stdout, os.Getenv) {
		os.Exit(1)
	}
}

// report writes one line for each service and returns false when a required one is missing.
func report(out io.Writer, getenv func(string) string) bool {
	required := getenv("REQUIRE_SERVICES") == "1"
	ok := true
	for _, s := range services {
		if address := getenv(s.env); address != "" {
			s.address = address
		}
		use := "its tests run"
		if _, err := os.Stat(s.tests); err != nil {
			use = "no test needs it yet: there is no " + s.tests
		}
		err := s.probe()
		switch {
		case err == nil:
			_, _ = fmt.Fprintf(out, "%s: reachable at %s; %s\n", s.name, s.address, use)
		case required:
			_, _ = fmt.Fprintf(out, "%s: REQUIRED BUT MISSING: %v; start it or set %s\n", s.name, err, s.env)
			ok = false
		default:
			_, _ = fmt.Fprintf(out, "%s: not reachable at %s; tests that need it are skipped\n", s.name, s.address)
		}
	}
	return ok
}

func (s service) probe() error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", s.address)
	if err != nil {
		return fmt.Errorf("reach it: %w", err)
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return fmt.Errorf("bound the talk with %s: %w", s.address, err)
	}
	if _, err := conn.Write(s.hello); err != nil {
		return fmt.Errorf("greet %s: %w", s.address, err)
	}
	var first [1]byte
	if _, err := io.ReadFull(conn, first[:]); err != nil {
		return fmt.Errorf("hear from %s: %w", s.address, err)
	}
	if !s.answers(first[0]) {
		return fmt.Errorf("%s is something else: it answered %q", s.address, first[:])
	}
	return nil
}
