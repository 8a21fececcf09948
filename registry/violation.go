package registry

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// Bounds of one explanation.
const (
	maxReasonBytes = 1000
	maxListBytes   = 200
)

// violation is one thing that is wrong with the arguments.
type violation struct {
	path []string
	text string
}

// explain words all violations for the model: what to change, sorted by place, bounded.
func (s *schema) explain(err *jsonschema.ValidationError) string {
	found := s.collect(err, nil)
	slices.SortFunc(found, func(a, b violation) int {
		return cmp.Or(comparePaths(a.path, b.path), strings.Compare(a.text, b.text))
	})
	parts := make([]string, 0, len(found))
	for _, v := range found {
		parts = append(parts, fieldName(v.path)+": "+v.text)
	}
	return joinBounded(slices.Compact(parts), "; ", maxReasonBytes)
}

// comparePaths orders by place; items of a list by number, not by digits.
func comparePaths(a, b []string) int {
	return slices.CompareFunc(a, b, func(x, y string) int {
		i, errX := strconv.Atoi(x)
		j, errY := strconv.Atoi(y)
		if errX == nil && errY == nil {
			return cmp.Compare(i, j)
		}
		return strings.Compare(x, y)
	})
}

// collect flattens the library's tree into violations of single fields.
func (s *schema) collect(err *jsonschema.ValidationError, out []violation) []violation {
	at := func(format string, args ...any) {
		out = append(out, violation{err.InstanceLocation, fmt.Sprintf(format, args...)})
	}
	switch k := err.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			out = append(out, violation{child(err.InstanceLocation, name), "required but missing"})
		}
		return out
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			out = append(out, violation{child(err.InstanceLocation, name), "not a known field" + s.known(err.InstanceLocation)})
		}
		return out
	case *kind.Type:
		text := problem(k)
		if k.Got == "null" && s.optional(err.InstanceLocation) {
			text += " (leave the field out instead)"
		}
		at("%s", text)
		return out
	case *kind.AnyOf, *kind.OneOf:
		return s.collectAlternatives(err, out)
	case *kind.Not:
		at("has a form that is not allowed")
		return out
	case *kind.Contains, *kind.MinContains, *kind.MaxContains:
		at("does not have the items it must have")
		return out
	}
	if len(err.Causes) > 0 {
		for _, cause := range err.Causes {
			out = s.collect(cause, out)
		}
		return out
	}
	at("%s", problem(err.ErrorKind))
	return out
}

// collectAlternatives words a value that fits none of several forms: what each wants, if all complain about the same
// value's type, else what is wrong with the form that fits best.
func (s *schema) collectAlternatives(err *jsonschema.ValidationError, out []violation) []violation {
	if len(err.Causes) == 0 {
		return append(out, violation{err.InstanceLocation, "fits more than one of the allowed forms"})
	}
	var wanted []string
	var got string
	var best []violation
	for i, cause := range err.Causes {
		if k, ok := cause.ErrorKind.(*kind.Type); ok && len(cause.InstanceLocation) == len(err.InstanceLocation) {
			wanted, got = append(wanted, k.Want...), k.Got
			continue
		}
		if found := s.collect(cause, nil); i == 0 || best == nil || len(found) < len(best) {
			best = found
		}
	}
	if best == nil {
		return append(out, violation{err.InstanceLocation, problem(&kind.Type{Got: got, Want: wanted})})
	}
	return append(out, best...)
}

// problem words one keyword's complaint.
func problem(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		want := make([]string, len(k.Want))
		for i, w := range k.Want {
			want[i] = article(w)
		}
		return "must be " + strings.Join(want, " or ") + ", got " + article(k.Got)
	case *kind.Enum:
		return "must be one of " + literals(k.Want)
	case *kind.Const:
		return "must be " + literals([]any{k.Want})
	case *kind.Minimum:
		return "must be >= " + decimal(k.Want)
	case *kind.Maximum:
		return "must be <= " + decimal(k.Want)
	case *kind.ExclusiveMinimum:
		return "must be > " + decimal(k.Want)
	case *kind.ExclusiveMaximum:
		return "must be < " + decimal(k.Want)
	case *kind.MultipleOf:
		return "must be a multiple of " + decimal(k.Want)
	case *kind.MinLength:
		if k.Want == 1 {
			return "must not be empty"
		}
		return fmt.Sprintf("must have at least %d characters, has %d", k.Want, k.Got)
	case *kind.MaxLength:
		return fmt.Sprintf("must have at most %d characters, has %d", k.Want, k.Got)
	case *kind.MinItems:
		return fmt.Sprintf("must have at least %s, has %d", items(k.Want), k.Got)
	case *kind.MaxItems:
		return fmt.Sprintf("must have at most %s, has %d", items(k.Want), k.Got)
	case *kind.MinProperties:
		return fmt.Sprintf("must have at least %d fields, has %d", k.Want, k.Got)
	case *kind.MaxProperties:
		return fmt.Sprintf("must have at most %d fields, has %d", k.Want, k.Got)
	case *kind.UniqueItems:
		return fmt.Sprintf("items %d and %d are equal, all must differ", k.Duplicates[0], k.Duplicates[1])
	case *kind.Pattern:
		return "must match the pattern " + printable(k.Want, maxEchoRunes)
	case *kind.Format:
		return "must be a valid " + k.Want
	case *kind.FalseSchema:
		return "not allowed"
	case *kind.Dependency:
		return dependency(k.Prop, k.Missing)
	case *kind.DependentRequired:
		return dependency(k.Prop, k.Missing)
	case *kind.PropertyNames:
		return fmt.Sprintf("%q is not an allowed field name", printable(k.Property, maxEchoRunes))
	case *kind.AdditionalItems:
		return fmt.Sprintf("has %d items too many", k.Count)
	default:
		return "does not fit the schema (" + strings.Join(k.KeywordPath(), ".") + ")"
	}
}

func dependency(prop string, missing []string) string {
	return fmt.Sprintf("with %q, %s must be given too", prop, joinBounded(missing, ", ", maxListBytes))
}

func items(n int) string {
	if n == 1 {
		return "1 item"
	}
	return strconv.Itoa(n) + " items"
}

// known lists the fields that the object at path may have, where the schema says so plainly.
func (s *schema) known(path []string) string {
	props, ok := s.node(path)["properties"].(map[string]any)
	if !ok {
		return ""
	}
	if len(props) == 0 {
		return " (there are none)"
	}
	return " (known: " + joinBounded(slices.Sorted(maps.Keys(props)), ", ", maxListBytes) + ")"
}

// optional reports whether the field at path may be left out, where the schema says so plainly.
func (s *schema) optional(path []string) bool {
	if len(path) == 0 {
		return false
	}
	parent, name := s.node(path[:len(path)-1]), path[len(path)-1]
	props, _ := parent["properties"].(map[string]any)
	if _, ok := props[name]; !ok {
		return false
	}
	required, _ := parent["required"].([]any)
	return !slices.Contains(required, any(name))
}

// node finds the part of the schema that speaks about path; nil where a plain walk doesn't lead there.
func (s *schema) node(path []string) map[string]any {
	node := s.doc
	for _, step := range path {
		props, _ := node["properties"].(map[string]any)
		next, ok := props[step].(map[string]any)
		if !ok {
			next, _ = node["items"].(map[string]any)
		}
		node = next
	}
	return node
}

// fieldName writes a place as a model would: field "items[2].name".
func fieldName(path []string) string {
	if len(path) == 0 {
		return "arguments"
	}
	var b strings.Builder
	for i, step := range path {
		if _, err := strconv.Atoi(step); err == nil && i > 0 {
			b.WriteString("[" + step + "]")
			continue
		}
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(step)
	}
	return "field " + strconv.Quote(printable(b.String(), maxEchoRunes))
}

func child(path []string, name string) []string {
	return append(slices.Clone(path), name)
}

func literals(values []any) string {
	parts := make([]string, len(values))
	for i, v := range values {
		b, err := json.Marshal(v)
		if err != nil {
			b = fmt.Append(nil, v)
		}
		parts[i] = string(b)
	}
	return joinBounded(parts, ", ", maxListBytes)
}

// decimal writes a bound without the library's fraction form.
func decimal(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func jsonType(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	default:
		return "object"
	}
}

func article(typ string) string {
	switch typ {
	case "null":
		return typ
	case "array", "integer", "object":
		return "an " + typ
	default:
		return "a " + typ
	}
}
