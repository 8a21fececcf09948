// Package testreport lets a package's tests say something that is still seen when they pass: go test hides what a passing
// package prints. `make test` names a file in TEST_REPORT and prints it at the end. Only tests import it.
package testreport

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Line prints a line and, when TEST_REPORT names a file, appends it there with the name of the package's test binary. A
// report that cannot be written is no reason to fail.
func Line(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	fmt.Println(text)
	path := os.Getenv("TEST_REPORT")
	if path == "" {
		return
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		fmt.Println("test report:", err)
		return
	}
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".test")
	_, err = fmt.Fprintf(file, "%s: %s\n", name, text)
	if err = errors.Join(err, file.Close()); err != nil {
		fmt.Println("test report:", err)
	}
}

// Away ends a test whose server cannot be used: it is skipped, which the report tells at the end with what to do about it,
// or it fails when REQUIRE_SERVICES is 1. env is the variable that names another address.
func Away(t testing.TB, server, addr, env string, err error) {
	t.Helper()
	if os.Getenv("REQUIRE_SERVICES") == "1" {
		t.Fatalf("%s is required and cannot be used at %s: %v", server, addr, err)
	}
	Line("SKIPPED: there is no %s at %s; start it or set %s", server, addr, env)
	t.Skipf("there is no %s at %s (%s): %v", server, addr, env, err)
}

// Reach returns the address of a server, which env or else usual names; see Away for one that nobody listens at.
func Reach(t testing.TB, server, env, usual string) string {
	t.Helper()
	addr := os.Getenv(env)
	if addr == "" {
		addr = usual
	}
	conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		Away(t, server, addr, env, err)
	}
	_ = conn.Close() // nothing was written
	return addr
}
