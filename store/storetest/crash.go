package storetest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/store"
)

// The rounds of Crash in the tests and in a soak.
const (
	CrashRounds     = 20
	SoakCrashRounds = 200
)

// WriteJournal begins turns, opens and closes calls until it is killed, and tells each write once it is acknowledged. It is
// what the process that Crash kills must do.
func WriteJournal(ctx context.Context, e Engine, told io.Writer) error {
	run := time.Now().UnixNano()
	for n := 0; ; n++ {
		turn := fmt.Sprintf("%d-%d", run, n)
		if err := e.Turns.BeginTurn(ctx, store.Turn{ID: turn, ChannelID: "c", OwnerID: "ana"}); err != nil {
			return err
		}
		fmt.Fprintln(told, "begun", turn, "-")
		for k := range 3 {
			key := fmt.Sprint(k)
			if err := e.Journal.OpenCall(ctx, store.Call{TurnID: turn, Key: key, Tool: "write", Arguments: `{}`}); err != nil {
				return err
			}
			fmt.Fprintln(told, "opened", turn, key)
			if err := e.Journal.CloseCall(ctx, store.Call{TurnID: turn, Key: key, Status: store.CallDone, Result: strings.Repeat("r", 3000)}); err != nil {
				return err
			}
			fmt.Fprintln(told, "closed", turn, key)
		}
		if err := e.Turns.FinishTurn(ctx, store.Turn{ID: turn, Status: store.TurnCompleted},
			store.ModelUsage{Model: "big", Usage: store.Usage{Input: 1}}, store.ModelUsage{Model: "small", Usage: store.Usage{Input: 1}}); err != nil {
			return err
		}
		fmt.Fprintln(told, "finished", turn, "-")
	}
}

// Crash kills a writing process at random points. On restart every acknowledged write is there, and what was running is
// closed as interrupted, once. writer prepares a process that does WriteJournal; restart opens the store as the next
// process does and checks that the engine's own means find it sound; the last is closed by the test.
func Crash(t *testing.T, rounds int, writer func(t *testing.T) *exec.Cmd, restart func(t *testing.T) (e Engine, end func())) {
	t.Helper()
	for round := range rounds {
		seed := uint64(time.Now().UnixNano())
		lines := 20 + rand.New(rand.NewPCG(seed, 0)).IntN(400)
		acknowledged := killAfter(t, writer(t), lines)
		e, end := restart(t)
		at := time.Unix(1_900_000_000, 0).UTC()
		turns, calls, err := e.Journal.Sweep(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		if len(turns) > 1 || len(calls) > 1 {
			t.Errorf("one writer left %d turns and %d calls running", len(turns), len(calls))
		}
		checkAcknowledged(t, e, acknowledged)
		checkCosts(t, e)
		turns, calls, err = e.Journal.Sweep(t.Context(), at)
		if err != nil || len(turns)+len(calls) != 0 {
			t.Errorf("a second sweep closed %d turns and %d calls (%v)", len(turns), len(calls), err)
		}
		end()
		if t.Failed() {
			t.Fatalf("in round %d, killed after %d writes", round, lines)
		}
	}
}

// acknowledgement is one line of what the child told: what it did to which turn and call.
type acknowledgement struct{ what, turn, key string }

// killAfter runs the writer, kills it after it has told lines writes, and returns everything that it had told by then.
func killAfter(t *testing.T, cmd *exec.Cmd, lines int) []acknowledgement {
	t.Helper()
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

// checkCosts finds what each completed turn has cost, and nothing of any other.
func checkCosts(t *testing.T, e Engine) {
	t.Helper()
	turns, err := e.Turns.RecentTurns(t.Context(), "c", 1<<20)
	must(t, err)
	turns = slices.DeleteFunc(turns, func(turn store.Turn) bool { return turn.Status != store.TurnCompleted })
	totals, err := e.Ledger.UsageOf(t.Context(), store.UsageQuery{})
	must(t, err)
	var want []store.UsageTotal
	for _, model := range []string{"big", "small"} {
		if n := len(turns); n > 0 {
			want = append(want, store.UsageTotal{Model: model, Turns: n, Usage: store.Usage{Input: n}})
		}
	}
	if diff := cmp.Diff(want, totals); diff != "" {
		t.Errorf("the ledger of %d completed turns (-want +got):\n%s", len(turns), diff)
	}
}

func checkAcknowledged(t *testing.T, e Engine, told []acknowledgement) {
	t.Helper()
	closed := make(map[acknowledgement]bool)
	finished := make(map[string]bool)
	for _, a := range told {
		closed[acknowledgement{"closed", a.turn, a.key}] = closed[acknowledgement{"closed", a.turn, a.key}] || a.what == "closed"
		finished[a.turn] = finished[a.turn] || a.what == "finished"
	}
	turns, err := e.Turns.RecentTurns(t.Context(), "c", 1<<20)
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
		of, err := e.Journal.Calls(t.Context(), turn)
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
