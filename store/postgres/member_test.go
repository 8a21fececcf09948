package postgres

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/parleybot/parley/store"
	"github.com/parleybot/parley/store/postgres/queries"
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
	"settings.member_id",
	"short_term.author_member_id",
	"turns.owner_member_id",
	"usage_ledger.member_id",
	"waiting_triggers.owner_member_id",
}

// TestMemberIDsStayInTheirColumns puts a member's id wherever a record has one, and finds it in no column whose name does
// not say so; after erasing it is in none. This is what holds the naming rule: a new column that breaks it fails here.
func TestMemberIDsStayInTheirColumns(t *testing.T) {
	t.Parallel()
	db := open(t, database(t))
	const member = "700000000000000001"
	storetest.Fill(t, keeps(db), member)
	var named []string
	for _, c := range columns(t, db) {
		if c.name == "member_id" || strings.HasSuffix(c.name, "_member_id") {
			named = append(named, c.table+"."+c.name)
		}
	}
	if diff := cmp.Diff(memberColumns, named); diff != "" {
		t.Errorf("columns named for a member's id (-listed +in the schema):\n%s", diff)
	}
	if unseen := empty(t, db); len(unseen) > 0 {
		t.Errorf("nothing was written to %v, so nobody would see a member's id there: fill them", unseen)
	}
	if diff := cmp.Diff(memberColumns, holding(t, db, member)); diff != "" {
		t.Errorf("columns that hold a member's id (-listed +found):\n%s", diff)
	}
	if _, _, err := db.EraseMember(t.Context(), store.Erasure{MemberID: member}); err != nil {
		t.Fatal(err)
	}
	if left := holding(t, db, member); len(left) > 0 {
		t.Errorf("after erasing, the id is still in %v", left)
	}
	for _, table := range []string{"calls", "memory_terms"} { // what hangs from those rows
		if n := count(t, db, table); n > 0 {
			t.Errorf("%d rows are left in %s", n, table)
		}
	}
}

// TestLateRecordsAreLeftOut holds every table that names a member to the fence around erased ones: a new one without a
// trigger of its own fails here. Settings are what the fence is made of.
func TestLateRecordsAreLeftOut(t *testing.T) {
	t.Parallel()
	db := open(t, database(t))
	fenced, err := query(t.Context(), db.pool, `SELECT DISTINCT tgrelid::regclass::text FROM pg_trigger
		WHERE tgname LIKE '%\_erased' AND tgtype & 4 <> 0 ORDER BY 1`, nil, pgx.RowTo[string]) // 4: on insert
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, c := range memberColumns {
		if table, _, _ := strings.Cut(c, "."); table != "settings" && !slices.Contains(want, table) {
			want = append(want, table)
		}
	}
	if diff := cmp.Diff(want, fenced); diff != "" {
		t.Errorf("tables that leave late records out (-those that name a member +those that do):\n%s", diff)
	}
}

// TestEraseWaitsForOlderWriters begins to write a turn in a transaction that has not seen the erasure, and ends it after.
func TestEraseWaitsForOlderWriters(t *testing.T) {
	t.Parallel()
	db := open(t, database(t))
	ctx := t.Context()
	erased := make(chan error, 1)
	err := db.transact(ctx, pgx.TxOptions{}, func(ask *queries.Queries, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `INSERT INTO audit_log (guild_id, channel_id, actor_member_id, subject_member_id, action, detail, at)
			VALUES ('1', '', 'ana', '', 'killed', '', now())`); err != nil {
			return err
		}
		go func() {
			_, _, err := db.EraseMember(ctx, store.Erasure{MemberID: "ana", Before: "9000000000000000000"})
			erased <- err
		}()
		fenced := 0 // how often the fence was seen: the erasure waits, and would have ended long since otherwise
		for tries := 0; fenced < 300; tries++ {
			set, err := db.SettingsOf(ctx, store.SettingMember, "ana")
			switch {
			case err != nil:
				return err
			case len(erased) > 0:
				return errors.New("the erasure did not wait")
			case len(set) > 0:
				fenced++
			case tries > 20_000:
				return errors.New("the erasure has not begun")
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-erased; err != nil {
		t.Fatal(err)
	}
	if left := holding(t, db, "ana"); !slices.Equal(left, []string{"settings.member_id"}) {
		t.Errorf("the member is still in %v", left)
	}
}

// TestEraseOfABusyStore: somebody holds a transaction open that writes, for longer than the erasure may take. It says so, and
// asked again it is done.
func TestEraseOfABusyStore(t *testing.T) {
	t.Parallel()
	db := open(t, database(t))
	erasure := store.Erasure{MemberID: "ana", Before: "9000000000000000000"}
	err := db.transact(t.Context(), pgx.TxOptions{}, func(_ *queries.Queries, tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), `INSERT INTO settings (guild_id, channel_id, member_id, name, value) VALUES ('', '', 'ana', 'x', 'y')`); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if _, _, err := db.EraseMember(ctx, erasure); !errors.Is(err, store.ErrBusy) {
			t.Errorf("while another writes: %v, want ErrBusy", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if erased, _, err := db.EraseMember(t.Context(), erasure); err != nil || erased[store.KindSettings] != 1 {
		t.Errorf("erased %v, %v", erased, err)
	}
}

// TestFenceFindsItsTables is a dump that is restored into tables which have their triggers: it names them with their schema, in
// a session that searches none.
func TestFenceFindsItsTables(t *testing.T) {
	t.Parallel()
	db := open(t, database(t))
	ctx := t.Context()
	if _, _, err := db.EraseMember(ctx, store.Erasure{MemberID: "ana", Before: "9000000000000000000"}); err != nil {
		t.Fatal(err)
	}
	err := db.transact(ctx, pgx.TxOptions{}, func(_ *queries.Queries, tx pgx.Tx) error {
		for _, do := range []string{
			`SET LOCAL search_path = ''`,
			`INSERT INTO public.audit_log (guild_id, channel_id, actor_member_id, subject_member_id, action, detail, at)
				VALUES ('1', '', 'ana', 'eric', 'killed', 'ana did', now())`,
			`INSERT INTO public.short_term (channel_id, category, guild_id, author_member_id, turn_id, content, updated_at)
				VALUES ('c', 'plot', '1', 'ana', 't', 'ana again', now())`,
		} {
			if _, err := tx.Exec(ctx, do); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if left := holding(t, db, "ana"); !slices.Equal(left, []string{"settings.member_id"}) || count(t, db, "audit_log") != 1 {
		t.Errorf("the member is in %v, and %d acts are there", left, count(t, db, "audit_log"))
	}
}

type column struct{ table, name string }

// columns lists every column of every table.
func columns(t *testing.T, db *DB) []column {
	t.Helper()
	all, err := query(t.Context(), db.pool, `SELECT table_name, column_name FROM information_schema.columns
		WHERE table_schema = 'public' ORDER BY table_name, column_name`, nil, func(row pgx.CollectableRow) (c column, err error) {
		err = row.Scan(&c.table, &c.name)
		return c, err
	})
	if err != nil || len(all) < 50 {
		t.Fatalf("%d columns, %v", len(all), err)
	}
	return all
}

// holding lists the columns in which the text is.
func holding(t *testing.T, db *DB, text string) []string {
	t.Helper()
	var found []string
	for _, c := range columns(t, db) {
		if c.table == "memory_terms" {
			continue // an index: it goes with memories, which is looked at where this is used
		}
		in := pgx.Identifier{c.table}.Sanitize()
		rows, err := query(t.Context(), db.pool, `SELECT true FROM `+in+` WHERE strpos(`+pgx.Identifier{c.name}.Sanitize()+`::text, @text) > 0`,
			args{"text": text}, pgx.RowTo[bool])
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) > 0 && !slices.Contains(found, c.table+"."+c.name) {
			found = append(found, c.table+"."+c.name)
		}
	}
	return found
}

// empty lists the columns in which no row has any text, all of a table's when it has no row.
func empty(t *testing.T, db *DB) []string {
	t.Helper()
	var unseen []string
	for _, c := range columns(t, db) {
		if c.table == "memory_terms" || c.table == "goose_db_version" {
			continue
		}
		rows, err := query(t.Context(), db.pool, `SELECT true FROM `+pgx.Identifier{c.table}.Sanitize()+
			` WHERE `+pgx.Identifier{c.name}.Sanitize()+`::text <> '' LIMIT 1`, nil, pgx.RowTo[bool])
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) == 0 {
			unseen = append(unseen, c.table+"."+c.name)
		}
	}
	return unseen
}

func count(t *testing.T, db *DB, table string) int {
	t.Helper()
	n, err := query(t.Context(), db.pool, `SELECT count(*) FROM `+pgx.Identifier{table}.Sanitize(), nil, pgx.RowTo[int])
	if err != nil {
		t.Fatal(err)
	}
	return n[0]
}
