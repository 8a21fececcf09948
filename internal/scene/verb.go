package scene

import (
	"context"
	"strings"
)

// verb is one kind of step. The table below is the whole language: the parser, error messages and docs/scenes.md use it.
type verb struct {
	form    pattern
	clauses []pattern
	// setting: the step sets the stage and happens before the bot starts.
	setting bool
	// newChannel: the step makes the channel it names.
	newChannel  bool
	needsClause bool
	// check looks at names beyond those in slots; mark notes what concerns the scene as a whole.
	check func(*cast, *step) error
	mark  func(*Scene) error
	// do performs the step; nil when mark said it all.
	do func(*stage, context.Context, *step) error
}

// usage is the verb with everything it takes.
func (v *verb) usage() string {
	var b strings.Builder
	b.WriteString(v.form.String())
	for _, c := range v.clauses {
		b.WriteString(" [" + c.String() + "]")
	}
	return b.String()
}

func forms(list ...string) []pattern {
	out := make([]pattern, len(list))
	for i, f := range list {
		out[i] = form(f)
	}
	return out
}

// The clauses that several verbs share.
var (
	placeClauses   = []string{"in CHANNEL", "in DM with PERSON", "in DM"}
	contentClauses = []string{"containing TEXT", "matching TEXT", "TEXT"}
)

func with(lists ...any) []pattern {
	var all []string
	for _, l := range lists {
		switch l := l.(type) {
		case string:
			all = append(all, l)
		case []string:
			all = append(all, l...)
		}
	}
	return forms(all...)
}

// verbs is every verb, in the order in which they are tried: the more literal ones first.
var verbs = concat(settingVerbs(), botVerbs(), faultVerbs(), modelVerbs(), seeVerbs(), expectVerbs(), neverVerbs(), peopleVerbs())

func concat(lists ...[]verb) (all []verb) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}
