//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sqlite

import (
	"syscall"
	"testing"
)

// TestReleaseWhileAChildStarts: a child between fork and exec has a copy of every descriptor. That must not keep the
// folder locked after its store was closed.
func TestReleaseWhileAChildStarts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	held, err := acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	copied, err := syscall.Dup(int(held.file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(copied) }() // nothing is lost with it
	if err := held.release(); err != nil {
		t.Fatal(err)
	}
	again, err := acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.release(); err != nil {
		t.Error(err)
	}
}
