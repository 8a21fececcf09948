package sqlite

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/parleybot/parley/store"
)

// fullEnv makes TestRealDiskFull the process that has a small disk of its own, at that folder.
const fullEnv = "PARLEY_SQLITE_TEST_SMALL_DISK"

// TestRealDiskFull fills a disk of two megabytes, in a process that alone sees it. What was acknowledged is there afterwards, the
// error says what is the matter, and with room again all is as before.
func TestRealDiskFull(t *testing.T) {
	if dir := os.Getenv(fullEnv); dir != "" {
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
			t.Skip("no small disk can be made here: ", err)
		}
		fillDisk(t, dir)
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestRealDiskFull$", "-test.v")
	cmd.Env = append(os.Environ(), fullEnv+"="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	output, err := cmd.CombinedOutput()
	if _, ran := errors.AsType[*exec.ExitError](err); err != nil && !ran {
		t.Skip("no process with a disk of its own can be started here: ", err)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, output)
	}
	if strings.Contains(string(output), "--- SKIP") {
		t.Skip(string(output))
	}
}

func fillDisk(t *testing.T, dir string) {
	t.Helper()
	ballast := dir + "/ballast"
	write(t, ballast, make([]byte, 1<<20))
	db := open(t, dir)
	acknowledged := 0
	var err error
	for err == nil {
		err = db.PutWaiting(t.Context(), store.Waiting{
			MessageID: "m" + strings.Repeat("x", acknowledged), ChannelID: "c", Payload: []byte(`"` + strings.Repeat("p", 5000) + `"`),
		})
		if err == nil {
			acknowledged++
		}
	}
	if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), db.path) || !strings.Contains(err.Error(), "the disk is full; free some space") {
		t.Errorf("on a full disk: %v", err)
	}
	there := func() {
		t.Helper()
		waiting, err := db.AllWaiting(t.Context())
		if err != nil || len(waiting) != acknowledged || acknowledged == 0 {
			t.Errorf("%d of %d acknowledged are there: %v", len(waiting), acknowledged, err)
		}
	}
	there()
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := db.PutWaiting(t.Context(), store.Waiting{MessageID: "after", ChannelID: "c", Payload: []byte(`{}`)}); err != nil {
		t.Errorf("with room again: %v", err)
	}
	acknowledged++
	sound(t, db)
	there()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = open(t, dir)
	sound(t, db)
	there()
}
