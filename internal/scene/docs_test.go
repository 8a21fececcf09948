package scene

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the table of steps in docs/scenes.md")

const docs = "../../docs/scenes.md"

var (
	fence = regexp.MustCompile("(?ms)^```scene\n(.*?)^```")
	table = regexp.MustCompile(`(?s)(<!-- Written by: [^\n]* -->\n).*(<!-- end -->)`)
)

// TestDocsShowEveryStep holds docs/scenes.md to the table of verbs: its list is complete, every example parses, and every
// verb and every clause has one. The examples are run by the tests in scenes/.
func TestDocsShowEveryStep(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	var list strings.Builder
	for i := range verbs {
		list.WriteString("    " + verbs[i].usage() + "\n")
	}
	want := table.ReplaceAllString(string(data), "${1}\n"+strings.ReplaceAll(list.String(), "$", "$$")+"\n${2}")
	if *update {
		if err := os.WriteFile(docs, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Errorf("the list of steps is out of date; run: go test ./internal/scene -run Docs -update\n%s", diff)
	}

	shown := map[string]bool{}
	for i, m := range fence.FindAllStringSubmatch(string(data), -1) {
		sc, err := Parse("example", m[1])
		if err != nil {
			t.Errorf("example %d: %v\n%s", i+1, err, m[1])
			continue
		}
		if sc.About == "" {
			t.Errorf("example %d does not say what it is about:\n%s", i+1, m[1])
		}
		for _, st := range sc.steps {
			shown[st.head.form] = true
			if st.verb.form.String() == "model" {
				for _, c := range st.clauses {
					shown["model "+c.form] = true
				}
			}
		}
	}
	for i := range verbs {
		v := &verbs[i]
		if !shown[v.form.String()] {
			t.Errorf("no example shows: %s", v.usage())
		}
		if v.form.String() == "model" {
			for _, c := range v.clauses {
				if !shown["model "+c.String()] {
					t.Errorf("no example shows: model %s", c)
				}
			}
		}
	}
}
