package memory_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/parleybot/parley/internal/testreport"
	"github.com/parleybot/parley/registry"
	"github.com/parleybot/parley/tools/memory"
)

var rows = struct {
	mu  sync.Mutex
	run map[string]bool
}{run: map[string]bool{}}

func row(t *testing.T, name string) {
	t.Helper()
	rows.mu.Lock()
	defer rows.mu.Unlock()
	rows.run[name] = true
}

func TestMain(m *testing.M) {
	code := m.Run()
	testreport.Line("rows: %d run, 0 overridden, 0 out", len(rows.run))
	os.Exit(code)
}

// fake keeps facts in memory under the rules of memory.Store. leaky hands out everything, as a broken store would.
type fake struct {
	mu    sync.Mutex
	facts []memory.Fact
	limit int
	err   error
	leaky bool
	// asked are the scopes and queries that came.
	asked []string
}

func (s *fake) Add(_ context.Context, who memory.Scope, f memory.Fact) (memory.Fact, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return memory.Fact{}, s.err
	}
	if f.ServerWide && !who.ManageGuild {
		return memory.Fact{}, fmt.Errorf("add: %w", memory.ErrForbidden)
	}
	if s.limit > 0 && len(s.facts) >= s.limit {
		return memory.Fact{}, fmt.Errorf("add: %w", memory.ErrLimit)
	}
	f.ID = int64(len(s.facts) + 1)
	s.facts = append(s.facts, f)
	return f, nil
}

func (s *fake) sees(who memory.Scope, f memory.Fact) bool {
	if f.ServerWide {
		return f.GuildID == who.GuildID
	}
	return f.MemberID == who.MemberID && f.GuildID == who.GuildID && (!f.Private || who.Private)
}

func (s *fake) find(who memory.Scope, id int64) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	for i, f := range s.facts {
		if f.ID == id && s.sees(who, f) {
			if f.ServerWide && !who.ManageGuild {
				return 0, fmt.Errorf("find %d: %w", id, memory.ErrForbidden)
			}
			return i, nil
		}
	}
	return 0, fmt.Errorf("find %d: %w", id, memory.ErrNotFound)
}

func (s *fake) Update(_ context.Context, who memory.Scope, id int64, content string) (memory.Fact, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, err := s.find(who, id)
	if err != nil {
		return memory.Fact{}, err
	}
	s.facts[i].Content = content
	return s.facts[i], nil
}

func (s *fake) Delete(_ context.Context, who memory.Scope, id int64) (memory.Fact, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, err := s.find(who, id)
	if err != nil {
		return memory.Fact{}, err
	}
	f := s.facts[i]
	s.facts = append(s.facts[:i], s.facts[i+1:]...)
	return f, nil
}

func (s *fake) Find(_ context.Context, who memory.Scope, query string, limit int) ([]memory.Fact, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, fmt.Sprintf("%+v %q %d", who, query, limit))
	if s.err != nil {
		return nil, s.err
	}
	var out []memory.Fact
	for _, f := range s.facts {
		if s.leaky || s.sees(who, f) && strings.Contains(f.Content, query) {
			out = append(out, f)
		}
	}
	return out, nil
}

func (s *fake) contents() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, f := range s.facts {
		out = append(out, f.Content)
	}
	return out
}

// inGuild and inDM are calls of the member Alice.
func inGuild() registry.ToolContext {
	return registry.ToolContext{
		TurnID: "turn-1", UserID: "100", UserName: "Alice", GuildID: "900", ChannelID: "901", Message: registry.MessageRef{ID: "555"},
	}
}

// managing is the call of a member who may manage the server.
func managing(tc registry.ToolContext) registry.ToolContext {
	tc.Flags = map[string]bool{registry.FlagManageGuild: true}
	return tc
}

func inDM() registry.ToolContext {
	tc := inGuild()
	tc.GuildID, tc.ChannelID, tc.Private = "", "902", true
	return tc
}

// call runs a tool as the loop does: resolved by name, arguments checked first.
func call(t *testing.T, s memory.Store, name string, tc registry.ToolContext, args string) registry.Result {
	t.Helper()
	r, err := registry.New(memory.Tools(s)...)
	if err != nil {
		t.Fatal(err)
	}
	tool, rejection := r.Resolve(name, registry.TurnView{}, registry.Allowlist{})
	if rejection != nil {
		t.Fatal(rejection.Reason)
	}
	checked, rejection := r.Check(tool, json.RawMessage(args), nil)
	if rejection != nil {
		t.Fatalf("%s %s: %s", name, args, rejection.Reason)
	}
	return tool.Run(t.Context(), tc, checked)
}

func data(t *testing.T, res registry.Result) string {
	t.Helper()
	if !res.Success {
		t.Fatalf("failed: %s", res.Message)
	}
	b, err := json.Marshal(res.Data)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// wantFailure holds a failure to its status, which the model must see too.
func wantFailure(t *testing.T, res registry.Result, status string, words ...string) {
	t.Helper()
	if res.Success || !strings.HasPrefix(res.Message, status+": ") || !strings.HasPrefix(res.Error, status) {
		t.Errorf("got %+v, want %s", res, status)
	}
	for _, w := range words {
		if !strings.Contains(res.Message, w) {
			t.Errorf("%q does not say %q", res.Message, w)
		}
	}
}
