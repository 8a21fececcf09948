package postgres

import (
	"bufio"
	"context"
	"errors"
	"io"
	osexec "os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/parleybot/parley/internal/pgtest"
	"github.com/parleybot/parley/store"
)

// starter is a process that opens the store when it is told to.
type starter struct {
	cmd      *osexec.Cmd
	in       io.Closer
	problems strings.Builder
}

// prepare starts a process and returns when it only waits to be told.
func prepare(t *testing.T, url string) *starter {
	t.Helper()
	s := &starter{cmd: child(t, "open", url)}
	s.cmd.Stderr = &s.problems
	in, err := s.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.in = in
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the process says %q: %v", line, err)
	}
	return s
}

// start tells it.
func (s *starter) start(t *testing.T) {
	t.Helper()
	if err := s.in.Close(); err != nil {
		t.Fatal(err)
	}
}

// comesUp waits until it has opened and closed the store.
func (s *starter) comesUp(t *testing.T) {
	t.Helper()
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("a process did not come up: %v\n%s", err, s.problems.String())
	}
}

// appliedOnce fails the test unless every migration of this binary was applied, in order, and once.
func appliedOnce(t *testing.T, url string) {
	t.Helper()
	db := open(t, url)
	applied, err := query(t.Context(), db.pool, `SELECT version_id FROM goose_db_version WHERE version_id > 0 ORDER BY id`, nil, pgx.RowTo[int64])
	if err != nil {
		t.Fatal(err)
	}
	want := []int64{}
	for version := range writeVersion(t, pgtest.Empty(t), 0) {
		want = append(want, version+1)
	}
	if !slices.Equal(applied, want) {
		t.Errorf("versions were applied as %v, want %v", applied, want)
	}
}

// TestMigrateAtOnce: of several processes of the system that start at the same moment on an empty database, one makes the
// schema, and all come up. The one is held until the others are at it too.
func TestMigrateAtOnce(t *testing.T) {
	t.Parallel()
	url := pgtest.Empty(t)
	h := newHold(t, url)
	var all []*starter
	for range 3 {
		all = append(all, prepare(t, url))
	}
	for _, s := range all {
		s.start(t)
	}
	h.until(t, held)
	h.until(t, `SELECT count(*) = 6 FROM pg_stat_activity, pg_sleep(0.01)
		WHERE datname = current_database() AND application_name = 'parley'`) // each with one to ask and one to migrate
	h.release(t)
	for _, s := range all {
		s.comesUp(t)
	}
	appliedOnce(t, url)
}

// TestKilledInMigration: a process is killed in the middle of a migration while another waits for it. What it had begun is
// undone, its lock is free, and the other does it all.
func TestKilledInMigration(t *testing.T) {
	t.Parallel()
	url := pgtest.Empty(t)
	h := newHold(t, url)
	first, second := prepare(t, url), prepare(t, url)
	first.start(t)
	h.until(t, held)
	second.start(t)
	// It has asked for the right to migrate, in vain.
	h.until(t, `SELECT EXISTS (SELECT FROM pg_stat_activity, pg_sleep(0.01)
		WHERE datname = current_database() AND state = 'idle' AND query LIKE 'SELECT pg_try_advisory_lock%')`)
	if err := first.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := first.cmd.Wait(); err == nil {
		t.Error("the first process ended by itself")
	}
	h.release(t)
	second.comesUp(t)
	appliedOnce(t, url)
}

// TestMigrationGivesWay: a backup holds a table that a migration changes. The migration does not queue before those who use
// the table, says what is in its way, and is done when the backup has ended.
func TestMigrationGivesWay(t *testing.T) {
	t.Parallel()
	url := pgtest.Empty(t)
	writeVersion(t, url, 3)
	ctx := t.Context()
	holder, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = holder.Close(context.WithoutCancel(ctx)) }() // nothing is lost with it
	backup, err := holder.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Exec(ctx, `LOCK TABLE turns IN ACCESS SHARE MODE`); err != nil {
		t.Fatal(err)
	}
	cfg := Config{URL: url, StatementTimeout: 200 * time.Millisecond, Patience: -1}
	if _, err := Migrate(ctx, cfg); !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "such as a backup or an open session; end it") {
		t.Errorf("without patience: %v", err)
	}
	waited := 0
	cfg.Patience = time.Minute
	cfg.Waiting = func(error, time.Duration) {
		if waited++; waited > 1 {
			return
		}
		user, err := pgx.Connect(ctx, url)
		if err == nil {
			_, err = user.Exec(ctx, `BEGIN; LOCK TABLE turns IN ACCESS SHARE MODE NOWAIT; COMMIT`)
			err = errors.Join(err, user.Close(ctx))
		}
		if err != nil {
			t.Errorf("the migration stands in the way of those who read: %v", err)
		}
		if err := backup.Commit(ctx); err != nil {
			t.Error(err)
		}
	}
	db, err := Open(ctx, cfg)
	if err != nil || waited == 0 {
		t.Fatalf("waited %d times: %v", waited, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	appliedOnce(t, url)
}

// hold keeps whoever migrates an empty database in the middle of the first migration, which makes the table of calls there.
type hold struct{ conn *pgx.Conn }

// held asks whether somebody is there.
const held = `SELECT EXISTS (SELECT FROM pg_locks, pg_sleep(0.01) WHERE locktype = 'advisory' AND objid = 4711 AND NOT granted
	AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`

func newHold(t *testing.T, url string) hold {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) }) // nothing is lost with it
	_, err = conn.Exec(t.Context(), `CREATE FUNCTION hold() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
			IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() WHERE object_identity = 'public.calls') THEN
				PERFORM pg_advisory_xact_lock_shared(4711);
			END IF;
		END $$;
		CREATE EVENT TRIGGER hold ON ddl_command_end EXECUTE FUNCTION hold();
		SELECT pg_advisory_lock(4711)`)
	if err != nil {
		t.Fatal(err)
	}
	return hold{conn}
}

// until asks the server again and again until it says yes.
func (h hold) until(t *testing.T, ask string) {
	t.Helper()
	for patience := time.Now().Add(time.Minute); ; {
		var yes bool
		if err := h.conn.QueryRow(t.Context(), ask).Scan(&yes); err != nil {
			t.Fatal(err)
		}
		if yes {
			return
		}
		if time.Now().After(patience) {
			t.Fatalf("the server goes on saying no to: %s", ask)
		}
	}
}

// release lets migrations through.
func (h hold) release(t *testing.T) {
	t.Helper()
	if _, err := h.conn.Exec(t.Context(), `SELECT pg_advisory_unlock(4711)`); err != nil {
		t.Fatal(err)
	}
}
