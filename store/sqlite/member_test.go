package sqlite

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/store/storetest"
)

// memberColumns is every column that holds a member's id. Erasing a member deletes by these; a new one belongs here and
// there.
var memberColumns = []string{
	"approvals.decider_member_id",
	"approvals.owner_member_id",
	"audit_log.actor_member_id",
	"audit_log.subject_member_id",
	"memories.author_member_id",
	"memories.member_id",
	"rates.member_id",
	"settings.member_id",
	"short_term.author_member_id",
	"turns.owner_member_id",
	"usage_ledger.member_id",
	"waiting_triggers.owner_member_id",
}

func TestMemberColumns(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir())
	var named []string
	for _, c := range columns(t, db) {
		if c.column == "member_id" || strings.HasSuffix(c.column, "_member_id") {
			named = append(named, c.String())
		}
	}
	slices.Sort(named)
	if diff := cmp.Diff(memberColumns, named); diff != "" {
		t.Errorf("columns named for a member's id (-listed +in the schema):\n%s", diff)
	}
}

// TestMemberIDsStayInTheirColumns puts a member's id wherever a record has one, and finds it in no column whose name does
// not say so. This is what holds the naming rule: a new column that breaks it fails here.
func TestMemberIDsStayInTheirColumns(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir())
	const member = "700000000000000001"
	storetest.Fill(t, keeps(db), member)
	if unseen := empty(t, db); len(unseen) > 0 {
		t.Errorf("nothing was written to %v, so nobody would see a member's id there: fill them", unseen)
	}
	if diff := cmp.Diff(memberColumns, holding(t, db, member)); diff != "" {
		t.Errorf("columns that hold a member's id (-listed +found):\n%s", diff)
	}
	if _, _, err := db.EraseMember(t.Context(), store.Erasure{MemberID: member}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.EraseFleeting(t.Context(), member, nil); err != nil {
		t.Fatal(err)
	}
	if left := holding(t, db, member); len(left) > 0 {
		t.Errorf("after erasing, the id is still in %v", left)
	}
}

// TestLateRecordsAreLeftOut holds every table that names a member to the fence around erased ones: a new one without a
// trigger of its own fails here. Settings are what the fence is made of; counters live for minutes.
func TestLateRecordsAreLeftOut(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir())
	var fenced, want []string
	err := db.read.query(t.Context(), `SELECT DISTINCT tbl_name FROM sqlite_master
		WHERE type = 'trigger' AND name LIKE '%\_erased' ESCAPE '\' AND sql LIKE '% INSERT ON %' ORDER BY 1`, nil, collectText(&fenced))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range memberColumns {
		table, _, _ := strings.Cut(c, ".")
		if table != "settings" && table != "rates" && !slices.Contains(want, table) {
			want = append(want, table)
		}
	}
	if diff := cmp.Diff(want, fenced); diff != "" {
		t.Errorf("tables that leave late records out (-those that name a member +those that do):\n%s", diff)
	}
}

// holding lists the columns in which the text is.
func holding(t *testing.T, db *DB, text string) []string {
	t.Helper()
	var holding []string
	for _, c := range columns(t, db) {
		if strings.HasPrefix(c.table, "memory_terms") {
			continue // an index: a trigger empties it with memories; TestForgottenWordsLeaveNoTrace looks at the bytes
		}
		found := false
		statement := `SELECT 1 FROM "` + c.table + `" WHERE instr(CAST("` + c.column + `" AS TEXT), ?) > 0`
		if err := db.read.query(t.Context(), statement, args{text}, func(row) error { found = true; return nil }); err != nil {
			t.Fatal(err)
		}
		if found {
			holding = append(holding, c.String())
		}
	}
	slices.Sort(holding)
	return holding
}

// empty lists the columns in which no row has any text, all of a table's when it has no row.
func empty(t *testing.T, db *DB) []string {
	t.Helper()
	var unseen []string
	for _, c := range columns(t, db) {
		if strings.HasPrefix(c.table, "memory_terms") || c.table == "goose_db_version" {
			continue
		}
		found := false
		statement := `SELECT 1 FROM "` + c.table + `" WHERE CAST("` + c.column + `" AS TEXT) <> '' LIMIT 1`
		if err := db.read.query(t.Context(), statement, nil, func(row) error { found = true; return nil }); err != nil {
			t.Fatal(err)
		}
		if !found {
			unseen = append(unseen, c.String())
		}
	}
	return unseen
}

// TestForgottenWordsLeaveNoTrace is B76: after a memory is deleted or rewritten its old words are in no file of the store.
func TestForgottenWordsLeaveNoTrace(t *testing.T) {
	t.Parallel()
	q := store.MemoryQuery{GuildID: "1", MemberID: "ana"}
	const canary = "qzxvkwj" // no word that a stemmer would change
	for name, forget := range map[string]func(ctx context.Context, db *DB, id int64) error{
		"delete": func(ctx context.Context, db *DB, id int64) error {
			_, err := db.DeleteMemory(ctx, q, id)
			return err
		},
		"update": func(ctx context.Context, db *DB, id int64) error {
			_, err := db.UpdateMemory(ctx, q, id, "says nothing now", time.Unix(0, 0))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			db := open(t, dir)
			m, err := db.AddMemory(t.Context(), store.Memory{
				Scope: store.ScopeMember, GuildID: "1", MemberID: "ana", Content: "plays the " + canary,
			}, 10)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(storedBytes(t, dir), []byte(canary)) {
				t.Fatal("the canary was not stored; the search below would prove nothing")
			}
			if err := forget(t.Context(), db, m.ID); err != nil {
				t.Fatal(err)
			}
			sound(t, db)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(storedBytes(t, dir), []byte(canary)) {
				t.Error("a forgotten word is still in the file")
			}
		})
	}
}

type column struct{ table, column string }

func (c column) String() string { return c.table + "." + c.column }

// columns lists every column of every table, those of indexes on text included.
func columns(t *testing.T, db *DB) []column {
	t.Helper()
	var all []column
	err := db.read.query(t.Context(), `SELECT t.name, c.name FROM pragma_table_list AS t, pragma_table_info(t.name) AS c
		WHERE t.schema = 'main' AND t.type <> 'view' AND t.name NOT LIKE 'sqlite_%'`, nil, func(r row) error {
		var c column
		err := r.Scan(&c.table, &c.column)
		all = append(all, c)
		return err
	})
	if err != nil || len(all) < 50 {
		t.Fatalf("%d columns, %v", len(all), err)
	}
	return all
}

func storedBytes(t *testing.T, dir string) []byte {
	t.Helper()
	var all []byte
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		content, err := os.ReadFile(dir + string(os.PathSeparator) + entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, content...)
	}
	return all
}
