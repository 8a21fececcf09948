package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/parleybot/parley/store/storetest"
)

// The test binary runs itself as another process when this names what to do; crashDir is the data folder.
const (
	childEnv = "PARLEY_SQLITE_TEST_CHILD"
	dirEnv   = "PARLEY_SQLITE_TEST_DIR"
)

func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "":
		os.Exit(m.Run())
	case "journal":
		db, err := Open(context.Background(), Config{Dir: os.Getenv(dirEnv)})
		if err == nil {
			err = storetest.WriteJournal(context.Background(), storetest.Engine{Turns: db, Journal: db, Ledger: db}, os.Stdout)
		}
		exit(err)
	case "open":
		db, err := Open(context.Background(), Config{Dir: os.Getenv(dirEnv)})
		if err == nil {
			err = db.Close()
		}
		exit(err)
	case "serve": // from when it is told to until its input ends
		fmt.Println("ready")
		_, _ = os.Stdin.Read(make([]byte, 1)) // whatever it says, it is time
		db, err := Open(context.Background(), Config{Dir: os.Getenv(dirEnv)})
		if err == nil {
			fmt.Println("open")
			_, _ = io.Copy(io.Discard, os.Stdin) // whatever it says, it has ended
			err = db.Close()
		}
		exit(err)
	}
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child prepares the test binary as another process on a data folder.
func child(t *testing.T, task, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), childEnv+"="+task, dirEnv+"="+dir)
	return cmd
}

// TestJournalSurvivesKill is not parallel, and neither is what else starts processes: between fork and exec a child holds
// the locks of all data folders that are open here.
func TestJournalSurvivesKill(t *testing.T) {
	crash(t, storetest.CrashRounds)
}

func TestSoakJournalSurvivesKill(t *testing.T) {
	if os.Getenv("SOAK") != "1" {
		t.Skip("long: run by make soak")
	}
	crash(t, storetest.SoakCrashRounds)
}

func crash(t *testing.T, rounds int) {
	t.Helper()
	dir := t.TempDir()
	writer := func(t *testing.T) *exec.Cmd { t.Helper(); return child(t, "journal", dir) }
	storetest.Crash(t, rounds, writer, func(t *testing.T) (storetest.Engine, func()) {
		t.Helper()
		db := open(t, dir)
		sound(t, db)
		return storetest.Engine{Turns: db, Journal: db, Ledger: db}, func() {
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestSecondProcessIsRefused(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir)
	output, err := child(t, "open", dir).CombinedOutput()
	if _, exited := errors.AsType[*exec.ExitError](err); !exited {
		t.Fatalf("the second process was let in: %v\n%s", err, output)
	}
	if want := fmt.Sprintf("in use by another Parley (process %d)", os.Getpid()); !strings.Contains(string(output), want) {
		t.Errorf("the refusal does not say %q:\n%s", want, output)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if output, err := child(t, "open", dir).CombinedOutput(); err != nil {
		t.Errorf("refused a free folder: %v\n%s", err, output)
	}
}
