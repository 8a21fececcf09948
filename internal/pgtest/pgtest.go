// Package pgtest gives each test a PostgreSQL database of its own, on the server that runs beside the tests. A database is
// cloned from a template, which is prepared once per state of the schema and kept between runs, and dropped after the
// test. Without a server the tests that need one are skipped, saying so; with REQUIRE_SERVICES=1 they fail.
package pgtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"hash/fnv"
	"io/fs"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/parleybot/parley/internal/testreport"
)

const (
	// prefix begins the name of every database that this package makes.
	prefix = "parley_test_"
	// stale is the age after which a test's database was left behind by a run that was killed.
	stale = time.Hour
)

// Addr is where the server is expected: POSTGRES_ADDR or the usual port of this machine.
func Addr() string {
	if addr := os.Getenv("POSTGRES_ADDR"); addr != "" {
		return addr
	}
	return net.JoinHostPort("127.0.0.1", "5432")
}

// URL is the connection string of a database of the server.
func URL(database string) string { return urlAt(Addr(), database) }

func urlAt(addr, database string) string {
	at := url.URL{Scheme: "postgres", User: url.User("postgres"), Host: addr, Path: "/" + database, RawQuery: "sslmode=disable"}
	return at.String()
}

// Database gives the test a database of its own and returns its URL. prepare makes the schema of the migrations in an empty
// one; it runs once for each state of them.
func Database(t testing.TB, migrations fs.FS, prepare func(ctx context.Context, url string) error) string {
	t.Helper()
	admin := connect(t)
	defer func() { _ = admin.Close(context.WithoutCancel(t.Context())) }() // nothing is lost with it
	template := fmt.Sprintf("%stemplate_%016x", prefix, state(t, migrations))
	ensure(t, admin, template, prepare)
	name := fmt.Sprintf("%s%d_%s", prefix, time.Now().Unix(), strings.ToLower(rand.Text()[:10]))
	run(t, admin, "CREATE DATABASE "+name+" TEMPLATE "+template)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 2*time.Minute) // dropping writes a checkpoint, which a busy disk holds up
		defer cancel()
		admin, err := pgx.Connect(ctx, URL("postgres")) // anew: a test may have many databases, and the server few connections
		if err != nil {
			t.Errorf("connect to drop the test's database: %v", err)
			return
		}
		defer func() { _ = admin.Close(ctx) }() // nothing is lost with it
		if _, err := admin.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
			t.Errorf("drop the test's database: %v", err)
		}
	})
	return URL(name)
}

// Empty gives the test an empty database of its own.
func Empty(t testing.TB) string {
	t.Helper()
	return Database(t, nil, func(context.Context, string) error { return nil })
}

// state is a number that changes when a migration does.
func state(t testing.TB, migrations fs.FS) uint64 {
	t.Helper()
	sum := fnv.New64a()
	if migrations == nil {
		return sum.Sum64()
	}
	err := fs.WalkDir(migrations, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(migrations, path)
		_, _ = sum.Write(content) // a hash takes everything
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum.Sum64()
}

// connect returns a connection that the caller closes.
func connect(t testing.TB) *pgx.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, URL("postgres"))
	if err != nil {
		testreport.Away(t, "PostgreSQL", Addr(), "POSTGRES_ADDR", err)
	}
	return conn
}

// ensure makes the template unless it is there. Test binaries run beside each other, so the server's lock decides who
// does. It also drops what killed runs have left.
func ensure(t testing.TB, admin *pgx.Conn, template string, prepare func(ctx context.Context, url string) error) {
	t.Helper()
	run(t, admin, "SELECT pg_advisory_lock(hashtext('"+prefix+"'))")
	defer run(t, admin, "SELECT pg_advisory_unlock(hashtext('"+prefix+"'))")
	names, err := databases(t.Context(), admin)
	if err != nil {
		t.Fatal(err)
	}
	ready := false
	for _, name := range names {
		ready = ready || name == template
		made, _, _ := strings.Cut(strings.TrimPrefix(name, prefix), "_")
		if at, err := strconv.ParseInt(made, 10, 64); err == nil && time.Since(time.Unix(at, 0)) > stale {
			run(t, admin, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
		}
	}
	if ready {
		return
	}
	building := template + "_building"
	run(t, admin, "DROP DATABASE IF EXISTS "+building+" WITH (FORCE)")
	run(t, admin, "CREATE DATABASE "+building+" TEMPLATE template0")
	if err := prepare(t.Context(), URL(building)); err != nil {
		t.Fatalf("prepare the template %s: %v", template, err)
	}
	run(t, admin, "ALTER DATABASE "+building+" RENAME TO "+template)
}

func databases(ctx context.Context, admin *pgx.Conn) ([]string, error) {
	rows, err := admin.Query(ctx, "SELECT datname FROM pg_database WHERE starts_with(datname, $1)", prefix)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

func run(t testing.TB, admin *pgx.Conn, text string) {
	t.Helper()
	if _, err := admin.Exec(context.WithoutCancel(t.Context()), text); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}
