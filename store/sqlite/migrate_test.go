package sqlite

import (
	"bufio"
	"database/sql"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// server is a process that serves a data folder.
type server struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	out      *bufio.Reader
	problems strings.Builder
}

// prepare starts a process and returns when it only waits to be told.
func prepare(t *testing.T, dir string) *server {
	t.Helper()
	s := &server{cmd: child(t, "serve", dir)}
	s.cmd.Stderr = &s.problems
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.out = bufio.NewReader(out)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := s.out.ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the process says %q: %v", line, err)
	}
	return s
}

// TestStartAtOnce: of two processes that start at the same moment on an empty folder, one makes the file and serves it, and
// the other is refused by name.
func TestStartAtOnce(t *testing.T) {
	dir := t.TempDir()
	both := []*server{prepare(t, dir), prepare(t, dir)}
	for _, s := range both {
		if _, err := io.WriteString(s.in, "!"); err != nil {
			t.Fatal(err)
		}
	}
	var serving, refused *server
	for _, s := range both {
		if line, err := s.out.ReadString('\n'); err == nil && line == "open\n" {
			serving = s
		} else {
			refused = s
		}
	}
	if serving == nil || refused == nil {
		t.Fatalf("both or none serve the folder: %q, %q", both[0].problems.String(), both[1].problems.String())
	}
	says := func(s *server) string {
		if err := s.cmd.Wait(); err == nil {
			t.Error("a process that was refused says that all went well")
		}
		return s.problems.String()
	}
	if text := says(refused); !strings.Contains(text, "the data folder "+dir+" is in use by another Parley") {
		t.Errorf("refused with %q", text)
	}
	late := prepare(t, dir)
	if err := late.in.Close(); err != nil {
		t.Fatal(err)
	}
	if text, want := says(late), fmt.Sprintf("in use by another Parley (process %d)", serving.cmd.Process.Pid); !strings.Contains(text, want) {
		t.Errorf("refused with %q, want %q", text, want)
	}
	if err := serving.in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := serving.cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, serving.problems.String())
	}
	appliedOnce(t, open(t, dir))
}

// TestKilledInMigration: a process is killed at some moment while it makes the schema. The next one finds the folder free and
// a file that is whole, and makes the rest.
func TestKilledInMigration(t *testing.T) {
	killed := 0
	for range 8 {
		dir := t.TempDir()
		s := prepare(t, dir)
		if _, err := io.WriteString(s.in, "!"); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = s.out.ReadString('\n') // it has come up, or is gone
		}()
		written(filepath.Join(dir, fileName+"-wal"), rand.Int64N(150_000), ended)
		if err := s.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-ended
		if err := s.cmd.Wait(); err == nil {
			t.Error("it ended by itself")
		}
		if before := version(t, filepath.Join(dir, fileName)); before < migrationsOf(t, filepath.Join(t.TempDir(), fileName), 0) {
			killed++
		}
		db := open(t, dir)
		sound(t, db)
		appliedOnce(t, db)
	}
	t.Logf("%d were killed before they were through", killed)
	if killed == 0 {
		t.Error("no process was killed before it was through")
	}
}

// written returns when the file has that size, or when ended is closed.
func written(path string, size int64, ended <-chan struct{}) {
	for {
		select {
		case <-ended:
			return
		default:
		}
		if info, err := os.Stat(path); err == nil && info.Size() >= size {
			return
		}
	}
}

// version is the version of a file that nobody serves; 0 when it has none.
func version(t *testing.T, path string) (version int64) {
	t.Helper()
	pool, err := sql.Open("sqlite", source(path, false))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	}()
	const ask = `SELECT count(*) FROM sqlite_schema WHERE name = 'goose_db_version'`
	if err := pool.QueryRowContext(t.Context(), ask).Scan(&version); err != nil || version == 0 {
		return 0
	}
	if err := pool.QueryRowContext(t.Context(), `SELECT coalesce(max(version_id), 0) FROM goose_db_version`).Scan(&version); err != nil {
		t.Fatal(err)
	}
	return version
}

// appliedOnce fails the test unless every migration of this binary was applied, in order, and once.
func appliedOnce(t *testing.T, db *DB) {
	t.Helper()
	var applied, want []int64
	err := db.write.query(t.Context(), `SELECT version_id FROM goose_db_version WHERE version_id > 0 ORDER BY id`, nil, func(r row) error {
		var version int64
		err := r.Scan(&version)
		applied = append(applied, version)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for version := range migrationsOf(t, filepath.Join(t.TempDir(), fileName), 0) {
		want = append(want, version+1)
	}
	if !slices.Equal(applied, want) {
		t.Errorf("versions were applied as %v, want %v", applied, want)
	}
}
