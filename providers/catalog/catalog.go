// Package catalog knows what well-known models can do and what they cost: an embedded table, dated, with the operator's
// own file above it. A model that neither knows works with careful defaults, and its price counts as unknown.
package catalog

import (
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

//go:embed models.json
var table []byte

// Thinking says how a model reasons.
type Thinking string

// The ways of reasoning.
const (
	// ThinkingNone models don't reason, or it is not known that they do: no level is sent to them.
	ThinkingNone Thinking = "none"
	// ThinkingEffort models take a level in words, ThinkingBudget models a number of tokens.
	ThinkingEffort Thinking = "effort"
	ThinkingBudget Thinking = "budget"
	// ThinkingAlways models reason whatever they are asked, and take no level.
	ThinkingAlways Thinking = "always"
)

// Model is what is known of one model. The zero value of a number means that it is not known.
type Model struct {
	// Known: the table or the operator's file names the model itself, not only a family.
	Known bool
	// ContextTokens is how much it reads and writes together, MaxOutputTokens the longest answer.
	ContextTokens   int
	MaxOutputTokens int
	// Images: it sees pictures. Tools: it calls tools. Temperature: it takes a sampling temperature.
	Images      bool
	Tools       bool
	Temperature bool
	Thinking    Thinking
	// Price is nil when it is not known. Operator: it is the operator's own.
	Price    *Price
	Operator bool
}

// TakesLevel reports whether a thinking level means something to the model.
func (m Model) TakesLevel() bool { return m.Thinking == ThinkingEffort || m.Thinking == ThinkingBudget }

// Catalog is the table with the operator's file above it. It never changes and is safe for concurrent use.
type Catalog struct {
	date     string
	operator []entry
	table    []entry
}

// New reads the embedded table and, above it, the operator's file; nil stands for none. The error joins every problem of
// that file, each with its place.
func New(operator []byte) (*Catalog, error) {
	date, known, err := parse(table)
	if err != nil {
		return nil, fmt.Errorf("the table of models in this binary: %w", err)
	}
	if date == "" {
		return nil, errors.New("the table of models in this binary has no date")
	}
	c := &Catalog{date: date, table: known}
	if operator == nil {
		return c, nil
	}
	if _, c.operator, err = parse(operator); err != nil {
		return nil, err
	}
	return c, nil
}

// Date is the day the embedded table was right, as YYYY-MM-DD.
func (c *Catalog) Date() string { return c.date }

// Model tells what is known of a vendor's model. What the operator's file says of it comes before the table, field by
// field. A vendor that is empty is a server of the operator's own: the table's prices don't hold there.
func (c *Catalog) Model(vendor, name string) Model {
	m := Model{Tools: true, Temperature: true, Thinking: ThinkingNone}
	all := views(vendor, name)
	if e, v, exact := find(c.table, all); e != nil {
		e.apply(&m)
		m.Known = exact
		if !v.priced {
			m.Price = nil
		}
	}
	for i := range all {
		all[i].own = true
	}
	if e, _, exact := find(c.operator, all); e != nil {
		e.apply(&m)
		m.Known = m.Known || exact
		m.Operator = e.price != nil
	}
	return m
}

// view is one way to look at a model's name.
type view struct {
	vendor string
	name   string
	// priced: what this vendor takes is what the table says.
	priced bool
	// routed: it is the name that the vendor behind a router has for the model.
	routed bool
	// own: the names are the operator's, who may leave the vendor out.
	own bool
}

// routed are the names by which routers call vendors of models.
var routed = map[string]string{
	"openai": "openai", "anthropic": "anthropic", "google": "gemini", "deepseek": "deepseek", "mistralai": "mistral", "x-ai": "xai",
}

// dated matches what vendors add to a model's name for one of its versions.
var dated = regexp.MustCompile(`^(.+?)[-@](?:20\d\d-?[01]\d-?[0-3]\d|latest)$`)

// views lists the ways to look at a name, the best first: as it is, without a router's suffix, as the vendor behind a
// router has it, and each of these without a version.
func views(vendor, name string) []view {
	name = strings.ToLower(strings.TrimSpace(name))
	whole := []view{{vendor: vendor, name: name, priced: vendor != ""}}
	base, suffix, _ := strings.Cut(name, ":")
	if suffix != "" {
		whole = append(whole, view{vendor: vendor, name: base}) // a variant may have another price
	}
	if of, inner, ok := strings.Cut(base, "/"); ok && vendor != "groq" {
		whole = append(whole, view{vendor: routed[of], name: inner, routed: true})
	}
	var out []view
	for _, v := range whole {
		out = append(out, v)
		if m := dated.FindStringSubmatch(v.name); m != nil {
			v.name = m[1]
			out = append(out, v)
		}
	}
	return out
}

// find gives the entry for a model: one with its very name, else the one with the longest beginning. exact tells which.
func find(entries []entry, views []view) (best *entry, by view, exact bool) {
	longest := -1
	for _, v := range views {
		for i := range entries {
			e := &entries[i]
			if !e.of(v) {
				continue
			}
			for _, name := range e.names {
				switch start, open := strings.CutSuffix(name, "*"); {
				case !open && name == v.name:
					return e, v, true
				case open && strings.HasPrefix(v.name, start) && len(start) > longest:
					best, by, longest = e, v, len(start)
				}
			}
		}
	}
	return best, by, false
}

// of reports whether an entry is about the vendor that a view looks at. A server of the operator's own may offer
// anybody's models, and what the operator says without naming a vendor holds for all.
func (e *entry) of(v view) bool {
	switch {
	case v.own:
		return e.vendor == "" || !v.routed && e.vendor == v.vendor
	case v.vendor == "":
		return !e.local()
	}
	return e.vendor == v.vendor
}

// local entries hold for whatever a kind of server offers.
func (e *entry) local() bool { return len(e.names) == 1 && e.names[0] == "*" }

// entry is what a file says of one or more names. What it leaves out is nil.
type entry struct {
	vendor          string
	names           []string
	contextTokens   *int
	maxOutputTokens *int
	images          *bool
	tools           *bool
	temperature     *bool
	thinking        *Thinking
	price           *Price
}

func (e *entry) apply(m *Model) {
	set(&m.ContextTokens, e.contextTokens)
	set(&m.MaxOutputTokens, e.maxOutputTokens)
	set(&m.Images, e.images)
	set(&m.Tools, e.tools)
	set(&m.Temperature, e.temperature)
	set(&m.Thinking, e.thinking)
	if e.price != nil {
		m.Price = e.price
	}
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}
