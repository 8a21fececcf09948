package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/parleybot/parley/store"
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
		exit(writeJournal(context.Background(), os.Getenv(dirEnv), os.Stdout))
	case "open":
		db, err := Open(context.Background(), Config{Dir: os.Getenv(dirEnv)})
		if err == nil {
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

// writeJournal begins turns, opens and closes calls until it is killed, and tells each write once it is acknowledged.
func writeJournal(ctx context.Context, dir string, told io.Writer) error {
	db, err := Open(ctx, Config{Dir: dir})
	if err != nil {
		return err
	}
	run := time.Now().UnixNano()
	for n := 0; ; n++ {
		turn := fmt.Sprintf("%d-%d", run, n)
		if err := db.BeginTurn(ctx, store.Turn{ID: turn, ChannelID: "c", OwnerID: "ana"}); err != nil {
			return err
		}
		fmt.Fprintln(told, "begun", turn, "-")
		for k := range 3 {
			key := fmt.Sprint(k)
			if err := db.OpenCall(ctx, store.Call{TurnID: turn, Key: key, Tool: "write", Arguments: `{}`}); err != nil {
				return err
			}
			fmt.Fprintln(told, "opened", turn, key)
			if err := db.CloseCall(ctx, store.Call{TurnID: turn, Key: key, Status: store.CallDone, Result: strings.Repeat("r", 3000)}); err != nil {
				return err
			}
			fmt.Fprintln(told, "closed", turn, key)
		}
		if err := db.FinishTurn(ctx, store.Turn{ID: turn, Status: store.TurnCompleted}); err != nil {
			return err
		}
		fmt.Fprintln(told, "finished", turn, "-")
	}
}

// TestJournalSurvivesKill kills a writing process at random points. On restart the file is sound, every acknowledged
// write is there, and what was running is closed as interrupted, once.
func TestJournalSurvivesKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for round := range 3 {
		seed := uint64(time.Now().UnixNano())
		t.Logf("round %d: seed %d", round, seed)
		acknowledged := killAfter(t, dir, 20+rand.New(rand.NewPCG(seed, 0)).IntN(400))

		db := open(t, dir)
		sound(t, db)
		at := time.Unix(1_900_000_000, 0).UTC()
		turns, calls, err := db.Sweep(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		if len(turns) > 1 || len(calls) > 1 {
			t.Errorf("one writer left %d turns and %d calls running", len(turns), len(calls))
		}
		checkAcknowledged(t, db, acknowledged)
		turns, calls, err = db.Sweep(t.Context(), at)
		if err != nil || len(turns)+len(calls) != 0 {
			t.Errorf("a second sweep closed %d turns and %d calls (%v)", len(turns), len(calls), err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// write is one line of what the child told: what it did to which turn and call.
type acknowledgement struct{ what, turn, key string }

// killAfter runs the writer, kills it after it has told lines writes, and returns everything that it had told by then.
func killAfter(t *testing.T, dir string, lines int) []acknowledgement {
	t.Helper()
	cmd := child(t, "journal", dir)
	var problems strings.Builder
	cmd.Stderr = &problems
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var told []acknowledgement
	for scanner := bufio.NewScanner(output); scanner.Scan(); {
		var a acknowledgement
		if _, err := fmt.Sscan(scanner.Text(), &a.what, &a.turn, &a.key); err != nil {
			break // cut short by the kill
		}
		told = append(told, a)
		if len(told) == lines {
			if err := cmd.Process.Kill(); err != nil { // SIGKILL; what is in the pipe is still read
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil || len(told) < lines {
		t.Fatalf("the writer ended by itself after %d writes: %v\n%s", len(told), err, problems.String())
	}
	return told
}

func checkAcknowledged(t *testing.T, db *DB, told []acknowledgement) {
	t.Helper()
	closed := make(map[acknowledgement]bool)
	finished := make(map[string]bool)
	for _, a := range told {
		closed[acknowledgement{"closed", a.turn, a.key}] = closed[acknowledgement{"closed", a.turn, a.key}] || a.what == "closed"
		finished[a.turn] = finished[a.turn] || a.what == "finished"
	}
	turns, err := db.RecentTurns(t.Context(), "c", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	status := make(map[string]store.TurnStatus)
	for _, turn := range turns {
		status[turn.ID] = turn.Status
	}
	for turn, isFinished := range finished {
		if got := status[turn]; got == "" || isFinished && got != store.TurnCompleted {
			t.Errorf("turn %s, told as finished: %t, is %q", turn, isFinished, got)
		}
	}
	calls := make(map[acknowledgement]store.Call)
	for turn := range finished {
		of, err := db.Calls(t.Context(), turn)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range of {
			calls[acknowledgement{"opened", turn, c.Key}] = c
			wasTold := closed[acknowledgement{"closed", turn, c.Key}]
			done := c.Status == store.CallDone && len(c.Result) == 3000
			interrupted := c.Status == store.CallError && c.Reason == store.CallReasonInterrupted && c.Result == ""
			if !done && (wasTold || !interrupted) {
				t.Errorf("call %s of %s, told as closed: %t, is %s/%s with %d bytes", c.Key, turn, wasTold, c.Status, c.Reason, len(c.Result))
			}
		}
	}
	for _, a := range told {
		if _, ok := calls[a]; a.what == "opened" && !ok {
			t.Errorf("call %s of %s was acknowledged and is gone", a.key, a.turn)
		}
	}
}

func TestSecondProcessIsRefused(t *testing.T) {
	t.Parallel()
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
