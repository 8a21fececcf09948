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

// The test binary is another process when taskEnv names what to do, on the database of urlEnv.
const (
	taskEnv = "PARLEY_POSTGRES_TEST_TASK"
	urlEnv  = "PARLEY_POSTGRES_TEST_URL"
)

func TestMain(m *testing.M) {
	url := os.Getenv(urlEnv)
	var err error
	switch os.Getenv(taskEnv) {
	case "":
		os.Exit(m.Run())
	case "journal": // until it is killed
		var db *DB
		if db, err = Open(context.Background(), Config{URL: url}); err == nil {
			err = storetest.WriteJournal(context.Background(), storetest.Engine{Turns: db, Journal: db}, os.Stdout)
		}
	case "open": // when told to
		fmt.Println("ready")
		_, _ = os.Stdin.Read(make([]byte, 1)) // whatever it says, it is time
		var db *DB
		if db, err = Open(context.Background(), Config{URL: url}); err == nil {
			err = db.Close()
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child prepares the test binary as another process on a database.
func child(t *testing.T, task, url string) *osexec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := osexec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), taskEnv+"="+task, urlEnv+"="+url)
	return cmd
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
	writer := func(t *testing.T) *osexec.Cmd { t.Helper(); return child(t, "journal", url) }
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
