package postgres

import (
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
