package registry

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hbollon/go-edlib"
)

// RejectionKind says why a call was not dispatched.
type RejectionKind string

// The rejection kinds.
const (
	UnknownTool         RejectionKind = "unknown_tool"
	ProviderUnsupported RejectionKind = "provider_unsupported"
	TurnUnavailable     RejectionKind = "turn_unavailable"
	InvalidArguments    RejectionKind = "invalid_arguments"
)

// Rejection is a refusal before dispatch.
type Rejection struct {
	Kind RejectionKind
	// Reason is for the model: what is wrong and what it may do instead.
	Reason string
	// Warn: log at warn instead of error, since nothing is broken on our side.
	Warn bool
}

// Bounds of what is told to the model about names.
const (
	maxEchoRunes  = 100
	maxNamesBytes = 600
)

// Resolve finds the tool that a call names and applies the two gates: what the provider supports and what the turn
// allows now. allow only decides which names an unknown name is answered with; whether the list lets the call through
// is asked before, with Allows, because a blocked call gets another kind of answer.
func (r *Registry) Resolve(name string, view TurnView, allow Allowlist) (*Tool, *Rejection) {
	e, ok := r.byName[name]
	if !ok {
		return nil, &Rejection{Kind: UnknownTool, Reason: r.unknown(name, view, allow)}
	}
	if !e.supports(view.Provider) {
		return nil, &Rejection{Kind: ProviderUnsupported, Reason: fmt.Sprintf("%s is not available for provider %s", e.tool.Name, view.Provider)}
	}
	if !e.openIn(view) {
		return nil, &Rejection{
			Kind: TurnUnavailable, Warn: true,
			Reason: e.tool.Name + " is not available for the current turn, do not retry it this turn",
		}
	}
	return e.tool, nil
}

// Offer returns the tools that the model is told of in this turn, sorted by name.
func (r *Registry) Offer(view TurnView, allow Allowlist) []*Tool {
	var out []*Tool
	for _, e := range r.sorted {
		if e.usable(view, allow) {
			out = append(out, e.tool)
		}
	}
	return out
}

func (e *entry) usable(view TurnView, allow Allowlist) bool {
	return allow.Allows(e.tool.Name) && e.supports(view.Provider) && e.openIn(view)
}

func (e *entry) supports(provider string) bool {
	return e.tool.Provider == nil || e.tool.Provider(provider)
}

func (e *entry) openIn(view TurnView) bool {
	if view.Disabled[e.tool.Name] {
		return false
	}
	if on, set := view.Switches[e.tool.Name]; set && !on {
		return false
	}
	return e.tool.Turn == nil || e.tool.Turn(view)
}

// unknown words the answer to a name that no tool has. Only tools that are usable now are named: a model that is told of
// another one would call it next.
func (r *Registry) unknown(name string, view TurnView, allow Allowlist) string {
	usable := r.Offer(view, allow)
	var b strings.Builder
	b.WriteString("unknown tool: ")
	b.WriteString(printable(name, maxEchoRunes))
	if near := closest(name, usable); near != "" {
		fmt.Fprintf(&b, "; did you mean %q?", near)
	}
	if len(usable) == 0 {
		b.WriteString("; no tool is available in this turn")
		return b.String()
	}
	names := make([]string, len(usable))
	for i, t := range usable {
		names[i] = t.Name
	}
	b.WriteString("; available tools: ")
	b.WriteString(joinBounded(names, ", ", maxNamesBytes))
	return b.String()
}

// closest returns the tool whose name or alias is nearest to name, "" when none is within a third of name's length. Case
// is ignored, so a name in the wrong case is always close.
func closest(name string, tools []*Tool) string {
	want := strings.ToLower(name)
	length := utf8.RuneCountInString(want)
	if length > maxEchoRunes {
		return "" // nothing that long is a slip of a name; and the distance takes time by the square
	}
	best, bestDistance := "", length/3+1
	for _, t := range tools {
		for _, candidate := range append([]string{t.Name}, t.Aliases...) {
			if d := edlib.OSADamerauLevenshteinDistance(want, strings.ToLower(candidate)); d < bestDistance {
				best, bestDistance = t.Name, d
			}
		}
	}
	return best
}

// printable makes text from a model fit to be echoed: one line, no control characters, at most limit runes.
func printable(s string, limit int) string {
	var b strings.Builder
	n := 0
	for _, c := range strings.ToValidUTF8(s, "\uFFFD") {
		if n == limit {
			b.WriteString("…")
			break
		}
		if !unicode.IsPrint(c) {
			c = '\uFFFD'
		}
		b.WriteRune(c)
		n++
	}
	return b.String()
}

// joinBounded joins parts and stops before limit bytes, saying how many it left out. The first part is always there.
func joinBounded(parts []string, sep string, limit int) string {
	var b strings.Builder
	for i, p := range parts {
		if i > 0 {
			if b.Len()+len(sep)+len(p) > limit {
				fmt.Fprintf(&b, "%sand %d more", sep, len(parts)-i)
				break
			}
			b.WriteString(sep)
		}
		b.WriteString(p)
	}
	return b.String()
}
