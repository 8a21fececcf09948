package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Registry holds the tools of one bot. It is immutable after New and safe for concurrent use.
type Registry struct {
	// byName finds a tool by its name and by each of its aliases.
	byName map[string]*entry
	// sorted holds every tool once, by name.
	sorted []*entry
}

// entry is a registered tool with what was prepared for it once, so that a call compiles nothing.
type entry struct {
	tool     *Tool
	schema   *schema
	matchers []matcher
}

// New registers tools. It returns all problems joined, not only the first: an operator who adds tools should fix them in
// one go.
func New(tools ...Tool) (*Registry, error) {
	r := &Registry{byName: make(map[string]*entry, len(tools))}
	var problems []error
	for i := range tools {
		t := tools[i].clone()
		e, err := prepare(t)
		if err != nil {
			problems = append(problems, err)
		}
		for _, name := range append([]string{t.Name}, t.Aliases...) {
			if other, taken := r.byName[name]; taken {
				problems = append(problems, fmt.Errorf("tool %q: the name %q is already taken by tool %q", t.Name, name, other.tool.Name))
				continue
			}
			r.byName[name] = e
		}
		r.sorted = append(r.sorted, e)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, fmt.Errorf("register tools: %w", err)
	}
	slices.SortFunc(r.sorted, func(a, b *entry) int { return strings.Compare(a.tool.Name, b.tool.Name) })
	return r, nil
}

// Validate reports everything that would keep t from being registered, joined; nil when nothing does. Names taken by
// other tools are New's to find. It is for sources such as MCP, where one bad tool must not take the others down.
func Validate(t Tool) error {
	_, err := prepare(&t)
	return err
}

// Lookup finds a tool by name or alias, in exact case.
func (r *Registry) Lookup(name string) (*Tool, bool) {
	e, ok := r.byName[name]
	if !ok {
		return nil, false
	}
	return e.tool, true
}

// Canonical returns the name of the tool that name stands for; an unknown name comes back as it is.
func (r *Registry) Canonical(name string) string {
	if t, ok := r.Lookup(name); ok {
		return t.Name
	}
	return name
}

// All returns every tool, sorted by name.
func (r *Registry) All() []*Tool {
	out := make([]*Tool, len(r.sorted))
	for i, e := range r.sorted {
		out[i] = e.tool
	}
	return out
}

// clone copies what New's caller might still change.
func (t Tool) clone() *Tool {
	t.Aliases = slices.Clone(t.Aliases)
	t.Schema = slices.Clone(t.Schema)
	t.Triggers = slices.Clone(t.Triggers)
	t.IDArguments = slices.Clone(t.IDArguments)
	return &t
}

// prepare checks one tool and compiles its schema and triggers. The entry is returned even with an error, so that New
// can go on looking for further problems.
func prepare(t *Tool) (*entry, error) {
	e := &entry{tool: t}
	var problems []error
	report := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }

	for _, name := range append([]string{t.Name}, t.Aliases...) {
		if !validName(name) {
			report("the name %q must be 1 to 64 letters, digits, _ or -", name)
		}
	}
	if strings.TrimSpace(t.Description) == "" {
		report("the description is blank")
	}
	if t.Run == nil {
		report("Run is nil")
	}
	switch t.Category {
	case "", CategoryDiscord, CategorySearch, CategoryMemory, CategoryUtility, CategoryMCP:
	default:
		report("unknown category %q", t.Category)
	}
	switch t.Approval {
	case ApproverNone, ApproverOwner, ApproverModerator:
	default:
		report("unknown approver %q", t.Approval)
	}

	var err error
	if e.schema, err = compile(t.Schema, t.Category != CategoryMCP); err != nil {
		problems = append(problems, err)
	}
	for _, name := range t.IDArguments {
		if err == nil && !e.schema.has(name) {
			report("the id argument %q is not a property of the schema", name)
		}
	}
	for _, tr := range t.Triggers {
		m, err := tr.compile()
		if err != nil {
			report("trigger %q: %w", tr.Pattern, err)
			continue
		}
		e.matchers = append(e.matchers, m)
	}
	if err := errors.Join(problems...); err != nil {
		return e, fmt.Errorf("tool %q: %w", t.Name, err)
	}
	return e, nil
}

func validName(s string) bool {
	if len(s) == 0 || len(s) > 64 {
		return false
	}
	return strings.IndexFunc(s, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-')
	}) < 0
}

// emptyObject is what absent arguments mean.
var emptyObject = json.RawMessage(`{}`)
