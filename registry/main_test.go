package registry_test

import (
	"context"
	"encoding/json"
	"os"
	"sync"
	"testing"

	"github.com/parleybot/parley/internal/testreport"
	"github.com/parleybot/parley/registry"
)

// rows are the scenario rows (spec/rows.md) that ran here.
var rows = struct {
	mu         sync.Mutex
	run        map[string]bool
	overridden map[string]bool
}{run: map[string]bool{}, overridden: map[string]bool{}}

// outRows are rows of this package's part of the table that do not hold: media kinds and self-diagnosis.
var outRows = []string{"TL149", "TL155"}

func row(t *testing.T, names ...string) {
	t.Helper()
	rows.mu.Lock()
	defer rows.mu.Unlock()
	for _, n := range names {
		rows.run[n] = true
	}
}

func overridden(t *testing.T, name string) {
	t.Helper()
	row(t, name)
	rows.mu.Lock()
	defer rows.mu.Unlock()
	rows.overridden[name] = true
}

func TestMain(m *testing.M) {
	code := m.Run()
	testreport.Line("rows: %d run, %d overridden, %d out", len(rows.run), len(rows.overridden), len(outRows))
	os.Exit(code)
}

const anyArguments = `{"type":"object","properties":{"query":{"type":"string"}}}`

// tool is a fixture that can be registered; change adjusts it.
func tool(name string, change ...func(*registry.Tool)) registry.Tool {
	t := registry.Tool{
		Name: name, Description: "a fixture", Schema: json.RawMessage(anyArguments),
		Run: func(context.Context, registry.ToolContext, json.RawMessage) registry.Result { return registry.OK(nil) },
	}
	for _, c := range change {
		c(&t)
	}
	return t
}

func triggers(words ...string) func(*registry.Tool) {
	return func(t *registry.Tool) { t.Triggers = append(t.Triggers, registry.Words(words...)...) }
}

func newRegistry(t testing.TB, tools ...registry.Tool) *registry.Registry {
	t.Helper()
	r, err := registry.New(tools...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
