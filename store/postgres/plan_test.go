package postgres

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
)

// readsAll names the statements that read all of a table, and why that is little.
var readsAll = map[string]string{
	"goneProcesses":  "at most a queue's length of triggers wait in a channel",
	"takeWaiting":    "as above",
	"eraseSettings":  "what was set by hand; for an erase",
	"eraseShortTerm": "a channel has a few categories, for a day",
}

// indexed finds the use of an index and what is looked for in it.
var indexed = regexp.MustCompile(`(?:using|Bitmap Index Scan on) (\w+).*\n(?:\s*Index Cond: (.*))?`)

// TestStatementsHaveIndexes: with reading a table from end to end forbidden, the plan of each statement that is generated
// finds an index for every table, and looks in it by what it is sorted by.
func TestStatementsHaveIndexes(t *testing.T) {
	t.Parallel()
	db := open(t, database(t))
	conn, err := db.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	if _, err := conn.Exec(t.Context(), "SET enable_seqscan = off"); err != nil {
		t.Fatal(err)
	}
	statements := generated(t)
	if len(statements) < 20 {
		t.Fatalf("only %d statements were found", len(statements))
	}
	for name, text := range statements {
		plan := genericPlan(t, conn, text)
		whole := strings.Contains(plan, "Seq Scan")
		for _, use := range indexed.FindAllStringSubmatch(plan, -1) {
			if first, partial := sorted(t, conn, use[1]); !strings.Contains(use[2], "("+first) && !partial {
				whole = true
			}
		}
		if whole != (readsAll[name] != "") {
			t.Errorf("%s: reads a table whole: %t\n%s", name, whole, plan)
		}
	}
}

// sorted returns the column that an index is sorted by first, and whether it holds a part of its table only.
func sorted(t *testing.T, conn *pgxpool.Conn, index string) (first string, partial bool) {
	t.Helper()
	err := conn.QueryRow(t.Context(), `SELECT pg_get_indexdef(indexrelid, 1, true), indpred IS NOT NULL FROM pg_index WHERE indexrelid = $1::regclass`,
		index).Scan(&first, &partial)
	if err != nil {
		t.Fatal(err)
	}
	return first, partial
}

// generated are the texts of the generated statements by name.
func generated(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("queries", "*.sql.go"))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			constant, ok := n.(*ast.ValueSpec)
			if !ok || len(constant.Values) != 1 {
				return true
			}
			if literal, ok := constant.Values[0].(*ast.BasicLit); ok && literal.Kind == token.STRING {
				text, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatal(err)
				}
				texts[constant.Names[0].Name] = text
			}
			return true
		})
	}
	return texts
}

// genericPlan is the plan of a statement that fits all values; it is made and not carried out.
func genericPlan(t *testing.T, conn *pgxpool.Conn, text string) string {
	t.Helper()
	if _, err := conn.Exec(t.Context(), "PREPARE one AS "+text); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var nothing []string
	for n := 1; strings.Contains(text, fmt.Sprintf("$%d", n)); n++ {
		nothing = append(nothing, "NULL")
	}
	execute := "EXPLAIN (COSTS OFF) EXECUTE one"
	if len(nothing) > 0 {
		execute += " (" + strings.Join(nothing, ", ") + ")"
	}
	rows, err := conn.Query(t.Context(), execute)
	if err != nil {
		t.Fatal(err)
	}
	plan := collect(t, rows)
	if _, err := conn.Exec(t.Context(), "DEALLOCATE one"); err != nil {
		t.Fatal(err)
	}
	return plan
}
