package registry

import (
	"maps"
	"slices"
	"strings"
)

// Source says what put a tool on the allowlist.
type Source string

// The sources.
const (
	SourceBuiltIn    Source = "built-in"
	SourceCustom     Source = "custom"
	SourceWindow     Source = "window"
	SourceAttachment Source = "attachment"
	SourceAlways     Source = "always"
	SourceFollowUp   Source = "follow-up"
)

// Allowed is one entry of an allowlist: a tool by its canonical name, and why it is there.
type Allowed struct {
	Tool   string
	Source Source
	// Trigger is the trigger that matched, as people write it; empty for sources without one.
	Trigger string
}

// Allowlist is the list of deliberate mode. The zero value means that the mode is off and everything is allowed; a list
// made by Restrict or Registry.Allow allows what it names and nothing else, also when it is empty. It is immutable.
type Allowlist struct {
	on      bool
	entries map[string]Allowed
}

// Restrict returns the list of a turn in which the mode is on. The first entry of a tool is kept.
func Restrict(entries ...Allowed) Allowlist {
	a := Allowlist{on: true, entries: make(map[string]Allowed, len(entries))}
	for _, e := range entries {
		a.add(e)
	}
	return a
}

func (a Allowlist) add(e Allowed) {
	if _, ok := a.entries[e.Tool]; !ok {
		a.entries[e.Tool] = e
	}
}

// Active reports whether the mode is on.
func (a Allowlist) Active() bool { return a.on }

// Allows reports whether a tool, by its canonical name, may be called.
func (a Allowlist) Allows(tool string) bool {
	if !a.on {
		return true
	}
	_, ok := a.entries[tool]
	return ok
}

// Names returns the allowed tools, sorted; none when the mode is off.
func (a Allowlist) Names() []string { return slices.Sorted(maps.Keys(a.entries)) }

// Entry returns why a tool is allowed.
func (a Allowlist) Entry(tool string) (Allowed, bool) {
	e, ok := a.entries[tool]
	return e, ok
}

// AllowRequest is what the list of one turn is built from.
type AllowRequest struct {
	// Text is the triggering message.
	Text string
	// Custom are the guild's triggers by target; see Registry.Targets.
	Custom map[string][]string
	// Attachments are the kinds of media on the triggering message.
	Attachments []AttachmentKind
	// Windows are the tools whose affordance window is open.
	Windows []string
	// FollowUp are the tools that a replay inherits from the turn it continues.
	FollowUp []string
}

// Allow builds the list of a turn in which deliberate mode is on: the union of tools whose triggers match, guild
// triggers, attachments, tools that are always allowed, open windows and what a follow-up inherits. The first match of a
// tool, in this order, is the one that is told. Custom triggers that cannot be parsed and unknown names are ignored.
func (r *Registry) Allow(req AllowRequest) Allowlist {
	a := Restrict()
	msg := readMessage(req.Text, req.Attachments)
	attached := []Allowed(nil)
	for _, e := range r.sorted {
		for _, m := range e.matchers {
			if !m.matches(msg) {
				continue
			}
			if m.kind == TriggerAttachment {
				attached = append(attached, Allowed{Tool: e.tool.Name, Source: SourceAttachment, Trigger: m.label})
				continue
			}
			a.add(Allowed{Tool: e.tool.Name, Source: SourceBuiltIn, Trigger: m.label})
		}
	}
	r.allowCustom(a, req.Custom, msg)
	for _, e := range attached {
		a.add(e)
	}
	for _, e := range r.sorted {
		if e.tool.AlwaysAllowed {
			a.add(Allowed{Tool: e.tool.Name, Source: SourceAlways})
		}
	}
	r.allowNames(a, req.Windows, SourceWindow)
	r.allowNames(a, req.FollowUp, SourceFollowUp)
	return a
}

func (r *Registry) allowCustom(a Allowlist, custom map[string][]string, msg message) {
	for _, target := range slices.Sorted(maps.Keys(custom)) {
		tools := r.targeted(target)
		if len(tools) == 0 {
			continue
		}
		for _, s := range custom[target][:min(len(custom[target]), CustomTriggersPerTarget)] {
			m, err := parseCustom(s)
			if err != nil || !m.matches(msg) {
				continue
			}
			for _, name := range tools {
				a.add(Allowed{Tool: name, Source: SourceCustom, Trigger: m.label})
			}
			break
		}
	}
}

func (r *Registry) allowNames(a Allowlist, names []string, source Source) {
	for _, name := range names {
		if t, ok := r.Lookup(name); ok {
			a.add(Allowed{Tool: t.Name, Source: source})
		}
	}
}

// groups are targets of custom triggers that stand for several tools without being a category.
var groups = map[string][]string{
	"reminder": {"create_task", "update_task"},
}

// targeted returns the tools that a target of custom triggers stands for: a tool by name or alias, a group, or a
// category. An unknown target stands for none.
func (r *Registry) targeted(target string) []string {
	if t, ok := r.Lookup(target); ok {
		return []string{t.Name}
	}
	var out []string
	for _, name := range groups[target] {
		if t, ok := r.Lookup(name); ok {
			out = append(out, t.Name)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, e := range r.sorted {
		if target != "" && string(e.tool.Category) == target {
			out = append(out, e.tool.Name)
		}
	}
	return out
}

// Targets returns what custom triggers may be set for: tool names, groups of tools and categories, sorted.
func (r *Registry) Targets() []string {
	seen := map[string]bool{}
	for _, e := range r.sorted {
		seen[e.tool.Name] = true
		seen[string(e.tool.Category)] = true
	}
	for g := range groups {
		if len(r.targeted(g)) > 0 {
			seen[g] = true
		}
	}
	delete(seen, "")
	return slices.SortedFunc(maps.Keys(seen), strings.Compare)
}

// The affordance window, in turns.
const (
	DefaultContextTurns = 4
	MaxContextTurns     = 10
)

// ContextTurns returns for how many turns a tool stays offered after it was used: the guild's setting clamped to 0 to
// MaxContextTurns, DefaultContextTurns when it is not set. 0 means no window.
func ContextTurns(setting *int) int {
	if setting == nil {
		return DefaultContextTurns
	}
	return min(max(*setting, 0), MaxContextTurns)
}
