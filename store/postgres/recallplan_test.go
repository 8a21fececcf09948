package postgres

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/parleybot/parley/store"
)

// mostRead bounds the rows that one step of a plan may read, whatever a guild remembers: the newest hits of a few words.
const mostRead = 8 * maxHits

// read finds how many rows a step has read of a table, or dropped again.
var (
	rowsRead    = regexp.MustCompile(` on memor\S+.* rows=(\d+) loops=(\d+)`)
	rowsDropped = regexp.MustCompile(`Rows Removed by (?:Filter|Index Recheck): (\d+)`)
)

// TestRecallPlan: whatever is searched among 10,000 memories of one guild, the plan reads a few rows of them by indexes,
// both while the server knows nothing of the tables and when it has looked at them. Run with -v it shows the plans.
func TestRecallPlan(t *testing.T) {
	t.Parallel()
	db := open(t, database(t))
	ctx := t.Context()
	_, err := db.pool.Exec(ctx, `
		WITH told AS (
			INSERT INTO memories (scope, guild_id, member_id, author_member_id, content, private, turn_id, message_id, created_at, updated_at)
			SELECT 'guild', CASE WHEN n % 2 = 0 THEN '1' ELSE (n % 500)::text END, '', 'ana', 'fact number ' || n, false, '', '', now(), now()
			FROM generate_series(1, 20000) AS n RETURNING id, guild_id, content)
		INSERT INTO memory_terms (place, term, memory_id)
		SELECT DISTINCT 'g' || guild_id, word, id FROM told, unnest(string_to_array(content, ' ')) AS word`)
	if err != nil {
		t.Fatal(err)
	}
	for _, known := range []bool{false, true} {
		if known {
			if _, err := db.pool.Exec(ctx, `ANALYZE`); err != nil {
				t.Fatal(err)
			}
		}
		for name, q := range map[string]store.MemoryQuery{
			"rare words":        {Text: "who knows of 4242 or 7000"},
			"usual words":       {Text: "which fact has the number"},
			"misspelt words":    {Text: "any fcat with a nubmer"},
			"unspaced script":   {Text: "猫"},
			"nothing":           {},
			"other guilds' too": {Text: "fact 4242", OtherGuilds: true},
		} {
			q.GuildID, q.MemberID, q.Limit = "1", "ana", 20
			text, values, err := db.recall(ctx, q)
			if err != nil {
				t.Fatal(err)
			}
			plan := explain(t, db, text, values)
			t.Logf("%s, tables analysed: %t\n%s", name, known, plan)
			most := 0
			for _, step := range rowsRead.FindAllStringSubmatch(plan, -1) {
				most = max(most, number(step[1])*number(step[2]))
			}
			for _, step := range rowsDropped.FindAllStringSubmatch(plan, -1) {
				most = max(most, number(step[1]))
			}
			if most == 0 || most > mostRead || strings.Contains(plan, "Seq Scan") {
				t.Errorf("%s, tables analysed: %t: one step reads %d rows\n%s", name, known, most, plan)
			}
		}
	}
}

func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		panic(err) // the pattern takes digits alone
	}
	return n
}

// explain runs a statement as it is run for a turn, with a plan that fits all values, and returns that plan.
func explain(t *testing.T, db *DB, text string, values args) (plan string) {
	t.Helper()
	ctx := t.Context()
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	text, positions, err := bind(values).RewriteQuery(ctx, conn.Conn(), text, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(ctx, "PREPARE recall AS "+text); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if _, err := conn.Exec(ctx, "DEALLOCATE recall"); err != nil {
			t.Error(err)
		}
	}()
	var list []string
	for i := range positions {
		list = append(list, fmt.Sprintf("$%d", i+1))
	}
	rows, err := conn.Query(ctx, "EXPLAIN (ANALYZE, COSTS OFF) EXECUTE recall ("+strings.Join(list, ", ")+")",
		append([]any{pgx.QueryExecModeSimpleProtocol}, positions...)...)
	if err != nil {
		t.Fatal(err)
	}
	return collect(t, rows)
}

func collect(t *testing.T, rows pgx.Rows) (plan string) {
	t.Helper()
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}
