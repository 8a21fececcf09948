// Package testreport lets a package's tests say something that is still seen when they pass: go test hides what a passing
// package prints. `make test` names a file in TEST_REPORT and prints it at the end. Only tests import it.
package testreport

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
