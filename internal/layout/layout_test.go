package layout_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "github.com/parleybot/parley"

// source is one Go file as far as these rules care.
type source struct {
	pkg     string // folder below the module, "." for its root
	name    string // from the package clause
	file    string
	test    bool
	imports []string
}

func TestImportTable(t *testing.T) {
	t.Parallel()
	sources := parseTree(t, root(t))
	if len(sources) < 20 {
		t.Fatalf("only %d Go files found: the walk is broken", len(sources))
	}
	for _, v := range violations(sources) {
		t.Error(v)
	}
}

// The rules themselves must be able to fail. Each of these files breaks exactly one.
func TestImportTableCanFail(t *testing.T) {
	t.Parallel()
	ours := func(p string) string { return module + "/" + p }
	cases := map[string]struct {
		source source
		want   string
	}{
		"upwards":           {source{pkg: "turn", imports: []string{ours("bot")}}, "turn imports bot; it may import toolloop, providers, registry, store, internal/abort"},
		"engine from core":  {source{pkg: "toolloop", imports: []string{ours("store/sqlite")}}, "toolloop imports store/sqlite; it may import providers, registry, store, internal/abort"},
		"edge to registry":  {source{pkg: "bot", imports: []string{ours("registry")}}, "bot imports registry; it may import turn, store, internal/abort, bot/delivery"},
		"tool to store":     {source{pkg: "tools/memory", imports: []string{ours("store")}}, "tools/memory imports store; it may import registry, internal/netguard"},
		"wire to wire":      {source{pkg: "providers/openai", imports: []string{ours("providers/anthropic")}}, "providers/openai imports providers/anthropic; it may import providers, providers/sse, providers/internal/wire, internal/netguard"},
		"neutral root":      {source{pkg: "store", imports: []string{"github.com/rs/zerolog"}}, "store imports github.com/rs/zerolog; of libraries it may import none"},
		"foundation":        {source{pkg: "internal/abort", imports: []string{ours("store")}}, "internal/abort imports store; it may import nothing of ours"},
		"confined library":  {source{pkg: "turn", imports: []string{"github.com/bwmarrin/discordgo"}}, "turn imports github.com/bwmarrin/discordgo; only bot may"},
		"its subpackage":    {source{pkg: "bot", imports: []string{"github.com/jackc/pgx/v5/pgxpool"}}, "bot imports github.com/jackc/pgx/v5/pgxpool; only store/postgres, store/postgres/queries, internal/pgtest may"},
		"the global logger": {source{pkg: "bot", imports: []string{"github.com/rs/zerolog/log"}}, "bot imports github.com/rs/zerolog/log; nobody may"},
		"unknown package":   {source{pkg: "internal/new"}, "internal/new has no rule in the import table"},
		"bad folder name":   {source{pkg: "tools/util"}, "tools/util: a package is named for what it provides, not util"},
		"bad package name":  {source{pkg: "tools/x", name: "helpers"}, "tools/x: a package is named for what it provides, not helpers"},
		"app from a test":   {source{pkg: "turn", test: true, imports: []string{ours("internal/app")}}, "a test imports internal/app; only internal/app, cmd/bot, scenes may"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.source.file = "x.go"
			want := []string{"x.go: " + c.want}
			if diff := cmp.Diff(want, violations([]source{c.source})); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
	fine := []source{
		{pkg: "bot", imports: []string{"context", "github.com/bwmarrin/discordgo", ours("turn"), ours("bot/delivery")}},
		{pkg: "bot", test: true, imports: []string{ours("internal/discordsim"), ours("providers/rehearsal"), "testing"}},
		{pkg: "store/sqlite", imports: []string{"database/sql", "modernc.org/sqlite/lib", ours("store"), ours("migrations")}},
		{pkg: "store/storetest", imports: []string{"testing", ours("store")}},
		{pkg: "cmd/bot", imports: []string{ours("internal/app"), ours("tools/memory")}},
	}
	if got := violations(fine); len(got) > 0 {
		t.Errorf("allowed imports are refused: %q", got)
	}
}

// violations returns one line for each broken rule.
func violations(sources []source) []string {
	var out []string
	for _, s := range sources {
		report := func(format string, args ...any) { out = append(out, s.file+": "+fmt.Sprintf(format, args...)) }
		for _, name := range []string{path.Base(s.pkg), strings.TrimSuffix(s.name, "_test")} {
			if slices.Contains(badNames, name) {
				report("%s: a package is named for what it provides, not %s", s.pkg, name)
			}
		}
		r, ok := ruleFor(s.pkg)
		if !ok {
			report("%s has no rule in the import table", s.pkg)
			continue
		}
		for _, imp := range s.imports {
			if what := r.breach(s, imp); what != "" {
				report("%s", what)
			}
		}
	}
	return out
}

// breach says how importing imp breaks the rule, or nothing.
func (r rule) breach(s source, imp string) string {
	inner, isOurs := strings.CutPrefix(imp, module+"/")
	if s.test {
		if from, ok := testsOnly[inner]; ok && isOurs && !matchesAny(from, s.pkg) {
			return fmt.Sprintf("a test imports %s; only %s may", inner, list(from, "nobody"))
		}
		return ""
	}
	if isOurs {
		if !matchesAny(r.ours, inner) {
			return fmt.Sprintf("%s imports %s; it may import %s", s.pkg, inner, list(r.ours, "nothing of ours"))
		}
		return ""
	}
	for _, c := range confined {
		if covers(c.lib, imp) && !matchesAny(c.only, s.pkg) {
			return fmt.Sprintf("%s imports %s; %s may", s.pkg, imp, list(c.only, "nobody", "only "))
		}
	}
	isStandard := !strings.Contains(strings.SplitN(imp, "/", 2)[0], ".")
	if r.libs != nil && !isStandard && !slices.ContainsFunc(r.libs, func(l string) bool { return covers(l, imp) }) {
		return fmt.Sprintf("%s imports %s; of libraries it may import %s", s.pkg, imp, list(r.libs, "none"))
	}
	return ""
}

func list(names []string, empty string, prefix ...string) string {
	if len(names) == 0 {
		return empty
	}
	return strings.Join(prefix, "") + strings.Join(names, ", ")
}

func covers(lib, imp string) bool { return imp == lib || strings.HasPrefix(imp, lib+"/") }

// ruleFor returns the rule with the fewest wildcards that matches pkg.
func ruleFor(pkg string) (rule, bool) {
	best, found := rule{}, false
	for _, r := range table {
		if matches(r.pkg, pkg) && (!found || strings.Count(r.pkg, "*") < strings.Count(best.pkg, "*")) {
			best, found = r, true
		}
	}
	return best, found
}

func matchesAny(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, pkg) })
}

func matches(pattern, pkg string) bool {
	ok, err := path.Match(pattern, pkg)
	return ok && err == nil
}

// root is the folder of go.mod.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		t.Fatalf("find the module: %v", err)
	}
	return dir
}

// parseTree reads the imports of every Go file, whatever its build constraints. It parses rather than asking go list,
// so a package that does not compile is held to the table too.
func parseTree(t *testing.T, dir string) []source {
	t.Helper()
	var out []source
	walkFiles(t, dir, func(rel, full string) {
		if !strings.HasSuffix(rel, ".go") {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), full, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		s := source{pkg: path.Dir(rel), name: f.Name.Name, file: rel, test: strings.HasSuffix(rel, "_test.go")}
		for _, spec := range f.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			s.imports = append(s.imports, imp)
		}
		out = append(out, s)
	})
	return out
}

// skipped are folders that hold no source of ours.
var skipped = map[string]bool{".git": true, ".cache": true, ".tools": true, ".ci": true, "bin": true, "data": true, "node_modules": true, "testdata": true}

// walkFiles calls visit for every file of the project, with its slash-separated path below dir.
func walkFiles(t *testing.T, dir string, visit func(rel, full string)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(full string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if full != dir && skipped[d.Name()] {
				return filepath.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(dir, full)
		if err != nil {
			return err
		}
		if d.Type().IsRegular() {
			visit(filepath.ToSlash(rel), full)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("walk the tree: %v", err)
	}
}

func TestRulesAreWellFormed(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range table {
		if seen[r.pkg] {
			t.Errorf("%s has two rules", r.pkg)
		}
		seen[r.pkg] = true
	}
	for _, r := range table {
		for _, p := range r.ours {
			known := slices.Sorted(maps.Keys(seen))
			if !strings.Contains(p, "*") && !seen[p] && !matchesAny(known, p) {
				t.Errorf("the rule of %s allows %s, which no rule describes", r.pkg, p)
			}
		}
	}
}
