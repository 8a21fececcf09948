package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/parleybot/parley/store/storetest"
)

// urlEnv makes the test binary a process that writes into this database until it is killed.
const urlEnv = "PARLEY_POSTGRES_TEST_URL"

func TestMain(m *testing.M) {
	url := os.Getenv(urlEnv)
	if url == "" {
		os.Exit(m.Run())
	}
	db, err := Open(context.Background(), Config{URL: url})
	if err == nil {
		err = storetest.WriteJournal(context.Background(), storetest.Engine{Turns: db, Journal: db, Ledger: db}, os.Stdout)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func TestJournalSurvivesKill(t *testing.T) {
	t.Parallel()
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
	url := database(t)
	writer := func(t *testing.T) *osexec.Cmd {
		t.Helper()
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := osexec.CommandContext(t.Context(), self)
		cmd.Env = append(os.Environ(), urlEnv+"="+url)
		return cmd
	}
	storetest.Crash(t, rounds, writer, func(t *testing.T) (storetest.Engine, func()) {
		t.Helper()
		// The server may still be at the statement that the killed process had sent.
		if err := alone(t.Context(), url); err != nil {
			t.Fatal(err)
		}
		db := open(t, url)
		return storetest.Engine{Turns: db, Journal: db, Ledger: db}, func() {
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// alone returns when nobody else is connected to the database.
func alone(ctx context.Context, url string) (err error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	for others := 1; others > 0; {
		err := conn.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity, pg_sleep(0.01)
			WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`).Scan(&others)
		if err != nil {
			return err
		}
	}
	return nil
}
