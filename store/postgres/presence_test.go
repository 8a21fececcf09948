package postgres

import (
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/parleybot/parley/store"
)

// TestLivingProcessesAreLeftAlone: a process that starts takes over only what belongs to one that is gone.
func TestLivingProcessesAreLeftAlone(t *testing.T) {
	t.Parallel()
	url := database(t)
	ctx, at := t.Context(), time.Unix(1_900_000_000, 0).UTC()
	first := open(t, url)
	begin := func(db *DB, id string) {
		t.Helper()
		if err := db.BeginTurn(ctx, store.Turn{ID: id, ChannelID: "c", OwnerID: "ana"}); err != nil {
			t.Fatal(err)
		}
		if err := db.OpenCall(ctx, store.Call{TurnID: id, Key: "k", Tool: "write"}); err != nil {
			t.Fatal(err)
		}
		if err := db.PutWaiting(ctx, store.Waiting{MessageID: "after " + id, ChannelID: "c", OwnerID: "ana"}); err != nil {
			t.Fatal(err)
		}
	}
	begin(first, "one")
	second := open(t, url)
	begin(second, "two")
	look := func(db *DB) (found []string) {
		t.Helper()
		turns, calls, err := db.Sweep(ctx, at)
		if err != nil {
			t.Fatal(err)
		}
		waiting, err := db.AllWaiting(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if len(turns) != len(calls) {
			t.Errorf("%d turns and %d calls", len(turns), len(calls))
		}
		for _, turn := range turns {
			found = append(found, turn.ID)
		}
		for _, w := range waiting {
			found = append(found, w.MessageID)
		}
		return found
	}
	third := open(t, url)
	if found := look(third); len(found) > 0 {
		t.Errorf("took %v from processes that live", found)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	// The server lets go of a lock when it notices that the connection has ended.
	await(t, third, first.presence.number)
	if found := look(third); len(found) != 2 || found[0] != "one" || found[1] != "after one" {
		t.Errorf("found %v, want what the first process has left", found)
	}
	// What it took over is its own now, and only its.
	fourth := open(t, url)
	if found := look(fourth); len(found) > 0 {
		t.Errorf("took %v from processes that live", found)
	}
}

// TestTakenForGone: a process whose lock is lost is taken for gone by one that starts. What it was running it ends as it really
// ended, and nobody else does; what waited for it is the other's.
func TestTakenForGone(t *testing.T) {
	t.Parallel()
	url := database(t)
	ctx, at := t.Context(), time.Unix(1_900_000_000, 0).UTC()
	living, starting := open(t, url), open(t, url)
	one := store.Turn{ID: "one", ChannelID: "c", OwnerID: "ana"}
	for _, err := range []error{
		living.BeginTurn(ctx, one), living.OpenCall(ctx, store.Call{TurnID: "one", Key: "k", Tool: "write"}),
		living.PutWaiting(ctx, store.Waiting{MessageID: "two", ChannelID: "c", OwnerID: "ana"}), living.presence.leave(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	await(t, starting, living.presence.number)
	swept, _, err := starting.Sweep(ctx, at)
	if err != nil {
		t.Fatal(err)
	}
	taken, err := starting.AllWaiting(ctx)
	if err != nil || len(swept) != 1 || len(taken) != 1 {
		t.Fatalf("swept %d turns, took %d triggers: %v", len(swept), len(taken), err)
	}

	end := func(db *DB, status store.TurnStatus, result string) (store.Turn, store.Call) {
		t.Helper()
		one.Status, one.Answer = status, result
		if err := db.CloseCall(ctx, store.Call{TurnID: "one", Key: "k", Status: store.CallDone, Result: result}); err != nil {
			t.Error(err)
		}
		if err := db.FinishTurn(ctx, one, store.ModelUsage{Model: "m"}); err != nil {
			t.Error(err)
		}
		turns, err := db.RecentTurns(ctx, "c", 9)
		if err != nil || len(turns) != 1 {
			t.Fatalf("%d turns, %v", len(turns), err)
		}
		calls, err := db.Calls(ctx, "one")
		if err != nil {
			t.Fatal(err)
		}
		return turns[0], calls[0]
	}
	if turn, call := end(starting, store.TurnCompleted, "another's"); turn.Status != store.TurnInterrupted || call.Reason != store.CallReasonInterrupted {
		t.Errorf("another has ended it: %+v, %+v", turn, call)
	}
	for range 2 { // and a second time changes nothing
		if turn, call := end(living, store.TurnCompleted, "mine"); turn.Status != store.TurnCompleted || turn.Answer != "mine" ||
			call.Status != store.CallDone || call.Result != "mine" || call.Reason != "" {
			t.Errorf("its own end is lost: %+v, %+v", turn, call)
		}
	}
	if turn, call := end(living, store.TurnError, "late"); turn.Answer != "mine" || call.Result != "mine" {
		t.Errorf("ended twice: %+v, %+v", turn, call)
	}

	two := store.Turn{ID: "two's", ChannelID: "c", OwnerID: "ana", TriggerID: "two"}
	if err := living.BeginWaited(ctx, two); !errors.Is(err, store.ErrTaken) {
		t.Errorf("what waits for another: %v, want ErrTaken", err)
	}
	if err := starting.BeginWaited(ctx, two); err != nil {
		t.Error(err)
	}
}

// TestPresenceComesBack: a connection that is cut while the process lives is made again, with its lock.
func TestPresenceComesBack(t *testing.T) {
	t.Parallel()
	url := database(t)
	db, other := open(t, url), open(t, url)
	for range 2 {
		_, err := other.pool.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = $1
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`, db.presence.number)
		if err != nil {
			t.Fatal(err)
		}
		held := 0
		for deadline := time.Now().Add(20 * time.Second); held != 1; {
			if time.Now().After(deadline) {
				t.Fatal("the lock was not taken again")
			}
			if err := other.pool.QueryRow(t.Context(), `SELECT count(*) FROM pg_locks, pg_sleep(0.05)
				WHERE locktype = 'advisory' AND granted AND objid = $1
					AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`, db.presence.number).Scan(&held); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// await returns when the process of that number holds its lock no more.
func await(t *testing.T, db *DB, number int32) {
	t.Helper()
	err := pgx.BeginFunc(t.Context(), db.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), `SELECT pg_advisory_xact_lock($1, $2)`, int32(lockSpace), number)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
