package toolloop_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/parleybot/parley/internal/testreport"
)

// The scenario rows that spec/rows.md gives to the tool loop, and how many of them expect something else than the tables
// say. Rows that are out are not in wantRows.
var (
	overriddenRows = []string{
		"TL007", "TL010", "TL020", "TL042", "TL047", "TL062",
		"CD008", "CD010", "CD014", "CD018", "CD019", "CD020", "CD024", "CD025", "CD026",
	}
	outRows = []string{"TL030", "TL031", "TL032", "TL033", "TL050", "TL051", "TL052", "TL053", "TL067"}
)

func wantRows() []string {
	var rows []string
	span := func(table string, from, to int) {
		for n := from; n <= to; n++ {
			if name := fmt.Sprintf("%s%03d", table, n); !slices.Contains(outRows, name) {
				rows = append(rows, name)
			}
		}
	}
	span("TL", 1, 69)
	span("TL", 71, 71)
	span("TL", 160, 164)
	span("CD", 1, 37)
	span("CD", 51, 54)
	span("CD", 59, 59)
	return rows
}

var ran = struct {
	sync.Mutex
	rows map[string]bool
}{rows: map[string]bool{}}

// row runs a scenario row as a subtest that carries its number, in virtual time. Several rows may share one scenario:
// "TL004 TL009".
func row(t *testing.T, numbers, what string, scenario func(t *testing.T)) {
	t.Helper()
	t.Run(numbers+" "+what, func(t *testing.T) {
		t.Parallel()
		ran.Lock()
		for n := range strings.FieldsSeq(numbers) {
			if !slices.Contains(wantRows(), n) {
				t.Errorf("%s is no row of the tool loop", n)
			}
			ran.rows[n] = true
		}
		ran.Unlock()
		synctest.Test(t, scenario)
	})
}

// check runs a scenario that is no row of the tables, in virtual time.
func check(t *testing.T, what string, scenario func(t *testing.T)) {
	t.Helper()
	t.Run(what, func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, scenario)
	})
}

// TestMain prints the count of rows and refuses a full run that left one out.
func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	overridden, missing := 0, []string(nil)
	for _, n := range wantRows() {
		switch {
		case !ran.rows[n]:
			missing = append(missing, n)
		case slices.Contains(overriddenRows, n):
			overridden++
		}
	}
	testreport.Line("rows: %d run, %d overridden, %d out", len(ran.rows), overridden, len(outRows))
	if whole := flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.skip").Value.String() == ""; code == 0 && whole {
		if len(missing) > 0 {
			fmt.Println("rows without a test:", strings.Join(missing, " "))
			code = 1
		}
		if err := goleak.Find(); err != nil {
			fmt.Println(err)
			code = 1
		}
	}
	os.Exit(code)
}
