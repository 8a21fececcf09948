package layout_test

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
)

// machinePaths are places that exist only where the project is developed. A product that names one works nowhere else.
var machinePaths = regexp.MustCompile(`/work/(main|shared|steering)\b|\.\./shared|/farm/|[.]library\b|before-stop|DEVELOPERS[.]md|/tmp/(brief|bash_jobs)|/root/(go|\.cache)`)

func TestProductNamesNoMachinePaths(t *testing.T) {
	t.Parallel()
	dir := root(t)
	checked := 0
	walkFiles(t, dir, func(rel, full string) {
		if strings.HasSuffix(rel, "_test.go") {
			return
		}
		content, err := os.ReadFile(full)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.IndexByte(content[:min(len(content), 8000)], 0) >= 0 {
			return // binary
		}
		checked++
		for i, line := range strings.Split(string(content), "\n") {
			if found := machinePaths.FindString(line); found != "" {
				t.Errorf("%s:%d names %s", rel, i+1, found)
			}
		}
	})
	if checked < 20 {
		t.Errorf("only %d files were read: the walk is broken", checked)
	}
}

func TestMachinePathsCanBeFound(t *testing.T) {
	t.Parallel()
	for _, line := range []string{`"/work/` + `main/data"`, `# see ../` + `shared/x`, `/root/` + `go/pkg`} {
		if !machinePaths.MatchString(line) {
			t.Errorf("%q is not found", line)
		}
	}
	for _, line := range []string{"/home/me/work/maintenance", "a shared mutex", "the library"} {
		if found := machinePaths.FindString(line); found != "" {
			t.Errorf("%q is taken for a machine path: %s", line, found)
		}
	}
}
