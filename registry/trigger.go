package registry

// TriggerKind says how a trigger of deliberate mode matches.
type TriggerKind string

// The trigger kinds.
const (
	// TriggerLiteral matches words or phrases, case-insensitively.
	TriggerLiteral TriggerKind = "literal"
	// TriggerStem matches a word's start ("remind*").
	TriggerStem TriggerKind = "stem"
	// TriggerAlways matches every message, also an empty one ("^").
	TriggerAlways TriggerKind = "always"
	// TriggerRegexp matches a regular expression (RE2, case-insensitive).
	TriggerRegexp TriggerKind = "regexp"
)

// Trigger exposes a tool in deliberate mode when a message matches it.
type Trigger struct {
	Kind    TriggerKind
	Pattern string
}

// Words returns literal and stem triggers for plain words: a trailing '*' makes a stem.
func Words(words ...string) []Trigger {
	out := make([]Trigger, len(words))
	for i, w := range words {
		if n := len(w); n > 1 && w[n-1] == '*' {
			out[i] = Trigger{Kind: TriggerStem, Pattern: w[:n-1]}
			continue
		}
		out[i] = Trigger{Kind: TriggerLiteral, Pattern: w}
	}
	return out
}
