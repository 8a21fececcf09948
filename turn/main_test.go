package turn_test

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

// The scenario rows that spec/rows.md gives to turns, and how many of them expect something else than the tables say.
// Rows that are out are not in wantRows.
var (
	overriddenRows = []string{"TL084", "TL088", "TL089", "TL119", "TL121", "TL133", "CD038", "CD046"}
	outRows        = []string{
		"TL081", "TL082", "TL083", "TL090", "TL091", "TL092", "TL095", "TL096", "TL097", "TL100", "TL101", "TL102", "TL103", "TL112",
		"TL115", "TL128", "TL149", "TL155",
	}
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
	for _, s := range [][2]int{
		{70, 70},
		{72, 80},
		{84, 89},
		{93, 94},
		{98, 99},
		{105, 111},
		{113, 114},
		{116, 116},
		{119, 119},
		{121, 127},
		{129, 133},
		{144, 144},
		{146, 148},
		{150, 154},
		{156, 159},
	} {
		span("TL", s[0], s[1])
	}
	span("CD", 38, 50)
	span("CD", 55, 58)
	span("CD", 102, 103)
	return rows
}

var ran = struct {
	sync.Mutex
	rows map[string]bool
}{rows: map[string]bool{}}

// row runs a scenario row as a subtest that carries its number, in virtual time. Several rows may share one scenario:
// "TL072 TL073".
func row(t *testing.T, numbers, what string, scenario func(t *testing.T)) {
	t.Helper()
	t.Run(numbers+" "+what, func(t *testing.T) {
		t.Parallel()
		ran.Lock()
		for n := range strings.FieldsSeq(numbers) {
			switch {
			case strings.HasPrefix(n, "B"), strings.HasPrefix(n, "X"): // a field case
			case !slices.Contains(wantRows(), n):
				t.Errorf("%s is no row of turns", n)
			default:
				ran.rows[n] = true
			}
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
