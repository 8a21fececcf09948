package config_test

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleybot/parley/internal/config"
)

var update = flag.Bool("update", false, "write docs/configuration.md and .env.example from the struct")

const docsHead = `# Configuration

<!-- Written from internal/config by: go test ./internal/config -update -->

Everything is told by environment variables; there is no configuration file. A variable that is unset or blank means its
default. One that is set and can't be read is refused by name, all such problems at once, and the bot does not start. A
number below its minimum is raised to it with a warning. A value that still holds an unexpanded ` + "`$NAME` or `${NAME}`" + ` is
refused. Names ending in ` + "`_MS`" + ` are milliseconds.

The bot does not read ` + "`.env`" + ` by itself, so the environment is always what counts. To use a file:
` + "`cp .env.example .env`" + `, fill it in, then ` + "`set -a; . ./.env; set +a; make run`" + `.

`

const exampleHead = `# What Parley reads from its environment, with the defaults. Written from internal/config by:
#   go test ./internal/config -update
# The bot does not read this file by itself. Copy it to .env, uncomment what you need (in
# single quotes where a value holds a dollar sign or a space), then:
#   set -a; . ./.env; set +a; make run
`

func example() string {
	var b strings.Builder
	b.WriteString(exampleHead)
	for _, v := range config.Variables() {
		b.WriteString("\n# " + v.Help + "\n")
		if len(v.OneOf) > 0 {
			b.WriteString("# One of: " + strings.Join(v.OneOf, ", ") + "\n")
		}
		b.WriteString("#" + v.Name + "=" + v.Default + "\n")
	}
	return b.String()
}

func TestDocsAreInSync(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	for path, want := range map[string]string{
		filepath.Join(root, "docs", "configuration.md"): docsHead + config.Table(),
		filepath.Join(root, ".env.example"):             example(),
	} {
		if *update {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s is not what the struct says; run go test ./internal/config -update\n%s", path, diff)
		}
	}
}

// The tags are data that nothing else checks: each variable needs a unique name, a unique field (the parser reports
// errors by field), a meaning, and numbers where numbers belong.
func TestTags(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, v := range config.Variables() {
		if v.Name == "" || names[v.Name] {
			t.Errorf("variable %q has no name or one that is taken", v.Name)
		}
		names[v.Name] = true
		if v.Help == "" || strings.Contains(v.Help, "|") {
			t.Errorf("%s: help is missing or would break the table: %q", v.Name, v.Help)
		}
		if v.Min == "" {
			continue
		}
		least, err := strconv.Atoi(v.Min)
		if err != nil {
			t.Errorf("%s: min is not a number: %v", v.Name, err)
		}
		if preset, err := strconv.Atoi(v.Default); err != nil || preset < least {
			t.Errorf("%s: default %q is no number of at least %d", v.Name, v.Default, least)
		}
	}
	if len(names) < 20 {
		t.Errorf("only %d variables found; does the walk over the struct still work?", len(names))
	}
}
