package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parleybot/parley/store"
)

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		// prepare makes the trouble in dir and returns the data folder.
		prepare func(t *testing.T, dir string) string
		// says are parts of the error: the path and the remedy.
		says        []string
		unavailable bool
	}{
		{
			name:    "no folder named",
			prepare: func(*testing.T, string) string { return "" },
			says:    []string{"no data folder"},
		},
		{
			name: "a folder that cannot be made",
			prepare: func(t *testing.T, dir string) string {
				write(t, filepath.Join(dir, "file"), nil)
				return filepath.Join(dir, "file", "data")
			},
			says: []string{"make the data folder", filepath.Join("file", "data"), "DATA_DIR"},
		},
		{
			name: "a file that is not a database",
			prepare: func(t *testing.T, dir string) string {
				write(t, filepath.Join(dir, fileName), bytes.Repeat([]byte("not a database. "), 1000))
				return dir
			},
			says:        []string{fileName, "is not a SQLite database", "move it away"},
			unavailable: true,
		},
		{
			name: "a damaged database",
			prepare: func(t *testing.T, dir string) string {
				db := open(t, dir)
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
				content, err := os.ReadFile(db.path)
				if err != nil {
					t.Fatal(err)
				}
				for i := 100; i < len(content); i++ { // the header stays
					content[i] ^= 0x5a
				}
				write(t, db.path, content)
				return dir
			},
			says:        []string{fileName, "is damaged", "restore a backup"},
			unavailable: true,
		},
		{
			name: "a folder in the file's place",
			prepare: func(t *testing.T, dir string) string {
				if err := os.Mkdir(filepath.Join(dir, fileName), 0o700); err != nil {
					t.Fatal(err)
				}
				return dir
			},
			says: []string{fileName, "is a directory"},
		},
		{
			name: "a newer schema",
			prepare: func(t *testing.T, dir string) string {
				db := open(t, dir)
				_, err := db.write.one(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9000, 1)`)
				if err := errors.Join(err, db.Close()); err != nil {
					t.Fatal(err)
				}
				return dir
			},
			says: []string{fileName, "version 9000", "up to version", "newer Parley"},
		},
		{
			name: "a folder in use",
			prepare: func(t *testing.T, dir string) string {
				open(t, dir)
				return dir
			},
			says:        []string{"in use by another Parley (process ", "DATA_DIR"},
			unavailable: true,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := test.prepare(t, t.TempDir())
			// Twice: what the first attempt leaves behind must not change the answer.
			for range 2 {
				db, err := Open(t.Context(), Config{Dir: dir})
				if err == nil {
					t.Fatal("opened", db.Close())
				}
				for _, part := range test.says {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("the error does not say %q:\n%v", part, err)
					}
				}
				if errors.Is(err, store.ErrUnavailable) != test.unavailable {
					t.Errorf("ErrUnavailable is %t: %v", !test.unavailable, err)
				}
			}
		})
	}
}

// TestRefusedFileIsUntouched: refusing must not repair, replace or empty what is there.
func TestRefusedFileIsUntouched(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), fileName)
	content := bytes.Repeat([]byte("precious, but not a database. "), 1000)
	write(t, path, content)
	if db, err := Open(t.Context(), Config{Dir: filepath.Dir(path)}); err == nil {
		t.Fatal("opened", db.Close())
	}
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(content, after) {
		t.Error("the refused file was changed")
	}
}

func TestOpenMakesFolderForOwnerAlone(t *testing.T) {
	t.Parallel()
	// Signs that mean something in a URI are part of the name.
	dir := filepath.Join(t.TempDir(), "a?b#c%20d e", "data")
	db := open(t, dir)
	if _, err := db.Claim(t.Context(), store.Claim{ID: "m", TTL: time.Minute}, time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{
		"": 0o700, fileName: 0o600, fileName + "-wal": 0o600, fileName + "-shm": 0o600, lockName: 0o600,
	} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%q has mode %o, want %o", name, got, want)
		}
	}
}

func TestCloseLeavesOneFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := open(t, dir)
	if _, err := db.Claim(t.Context(), store.Claim{ID: "m", TTL: time.Minute}, time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(db.path + "-wal"); err == nil && info.Size() > 0 {
		t.Errorf("%d bytes are left in the log", info.Size())
	}
	ctx := t.Context()
	_, findErr := db.FindMemories(ctx, store.MemoryQuery{GuildID: "1", MemberID: "ana"})
	_, claimErr := db.Claim(ctx, store.Claim{ID: "m", TTL: time.Minute}, time.Unix(0, 0))
	_, consumeErr := db.ConsumeWindows(ctx, "c", "t", time.Unix(0, 0))
	for _, err := range []error{findErr, claimErr, consumeErr, db.Ping(ctx)} {
		if !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("after Close: %v, want ErrUnavailable", err)
		}
	}
	if db = open(t, dir); db.Ping(ctx) != nil {
		t.Error("the folder was not given free")
	}
}

func TestDiskFull(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir())
	ctx := t.Context()
	begin := func(id string, size int) error {
		return db.BeginTurn(ctx, store.Turn{ID: id, ChannelID: "c", OwnerID: "ana", Prompt: strings.Repeat("x", size)})
	}
	if err := begin("before", 10); err != nil {
		t.Fatal(err)
	}
	// SQLite answers SQLITE_FULL at this size as it does when the disk has no room.
	if err := db.write.query(ctx, `PRAGMA max_page_count = 1`, nil, noRow); err != nil {
		t.Fatal(err)
	}
	err := begin("too much", 1<<20)
	if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), db.path) || !strings.Contains(err.Error(), "disk is full") {
		t.Errorf("a single statement: %v", err)
	}
	for i := range 10_000 { // fill what is left, inside a transaction
		if err = db.RetainWindow(ctx, strings.Repeat("c", 500+i), "a", 1, time.Unix(0, 0)); err != nil {
			break
		}
	}
	if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "disk is full") {
		t.Errorf("a transaction: %v", err)
	}
	if err := db.write.query(ctx, `PRAGMA max_page_count = 1000000`, nil, noRow); err != nil {
		t.Fatal(err)
	}
	if err := begin("after", 1<<20); err != nil {
		t.Errorf("with room again: %v", err)
	}
	sound(t, db)
	turns, _, err := db.Sweep(ctx, time.Unix(1, 0))
	if err != nil || len(turns) != 2 {
		t.Errorf("%d turns (%v), want those before and after", len(turns), err)
	}
}

// TestContextEndsTheWait: a caller whose context ends does not wait for the writer any more, and its write is not done.
func TestContextEndsTheWait(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir())
	cause := errors.New("killed")
	ctx, cancel := context.WithCancelCause(t.Context())
	answered := make(chan error, 1)
	err := db.write.transact(t.Context(), func(context.Context) error {
		go func() { answered <- db.BeginTurn(ctx, store.Turn{ID: "t"}) }()
		cancel(cause)
		if err := <-answered; !errors.Is(err, cause) {
			t.Errorf("the waiting write answered %v, want its context's cause", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.BeginTurn(t.Context(), store.Turn{ID: "t"}); err != nil {
		t.Errorf("the cancelled write was done: %v", err)
	}
}

// TestPanicUndoes: a panic inside a transaction neither commits it nor keeps the writer.
func TestPanicUndoes(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir())
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = db.write.transact(t.Context(), func(ctx context.Context) error {
			if _, err := db.write.exec(ctx, `INSERT INTO claims (id, expires_at) VALUES ('m', 1)`, nil); err != nil {
				t.Error(err)
			}
			panic("boom")
		})
	}()
	if claimed, err := db.Claim(t.Context(), store.Claim{ID: "m", TTL: time.Minute}, time.Unix(0, 0)); err != nil || !claimed.Ours {
		t.Errorf("claim after the panic: %+v, %v", claimed, err)
	}
}

// TestOpenAtVersionZero: a database with goose's table and nothing else is brought up.
func TestOpenAtVersionZero(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pool, err := sql.Open("sqlite", source(filepath.Join(dir, fileName), false))
	if err != nil {
		t.Fatal(err)
	}
	_, err = pool.ExecContext(t.Context(), `CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL, is_applied INTEGER NOT NULL, tstamp TIMESTAMP DEFAULT (datetime('now')));
		INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1)`)
	if err := errors.Join(err, pool.Close()); err != nil {
		t.Fatal(err)
	}
	db := open(t, dir)
	if _, err := db.Claim(t.Context(), store.Claim{ID: "m", TTL: time.Minute}, time.Unix(0, 0)); err != nil {
		t.Error(err)
	}
}

func TestMissingTimesAreNow(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	db, err := Open(t.Context(), Config{Dir: t.TempDir(), Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // a test of its content, not of Close
	ctx := t.Context()
	if err := errors.Join(
		db.BeginTurn(ctx, store.Turn{ID: "t", ChannelID: "c"}),
		db.OpenCall(ctx, store.Call{TurnID: "t", Key: "k"}),
		db.CloseCall(ctx, store.Call{TurnID: "t", Key: "k", Status: store.CallDone}),
		db.FinishTurn(ctx, store.Turn{ID: "t", Status: store.TurnCompleted}),
		db.PutWaiting(ctx, store.Waiting{MessageID: "m"}),
	); err != nil {
		t.Fatal(err)
	}
	memory, err := db.AddMemory(ctx, store.Memory{Scope: store.ScopeGuild, GuildID: "1", Content: "x"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	turns, _ := db.RecentTurns(ctx, "c", 1)
	calls, _ := db.Calls(ctx, "t")
	waiting, _ := db.AllWaiting(ctx)
	if len(turns) != 1 || len(calls) != 1 || len(waiting) != 1 {
		t.Fatalf("%d turns, %d calls, %d waiting; want one of each", len(turns), len(calls), len(waiting))
	}
	for i, got := range []time.Time{
		turns[0].StartedAt, turns[0].FinishedAt, calls[0].StartedAt, calls[0].FinishedAt, waiting[0].QueuedAt,
		memory.CreatedAt, memory.UpdatedAt,
	} {
		if !got.Equal(now) {
			t.Errorf("time %d is %v, want %v", i, got, now)
		}
	}
}

// sound asks SQLite itself whether file, index of words and references are whole.
func sound(t *testing.T, db *DB) {
	t.Helper()
	var answers []string
	err := db.write.query(t.Context(), `PRAGMA integrity_check`, nil, func(r row) error {
		var answer string
		err := r.Scan(&answer)
		answers = append(answers, answer)
		return err
	})
	if err != nil || len(answers) != 1 || answers[0] != "ok" {
		t.Errorf("integrity check: %q, %v", answers, err)
	}
	if _, err := db.write.exec(t.Context(), `INSERT INTO memory_terms (memory_terms) VALUES ('integrity-check')`, nil); err != nil {
		t.Errorf("integrity check of the index: %v", err)
	}
	orphans := 0
	if err := db.write.query(t.Context(), `PRAGMA foreign_key_check`, nil, func(row) error { orphans++; return nil }); err != nil || orphans > 0 {
		t.Errorf("foreign key check: %d orphans, %v", orphans, err)
	}
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
