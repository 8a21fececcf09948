package registry

import "strings"

// maxExpansion bounds how many subschemas a schema has once its references are followed.
const maxExpansion = 10_000

// tame makes the schema of an MCP tool safe to enforce. References can make validation take time exponential in a few
// hundred bytes of schema (measured: 1.2 KB, one second; each further 60 bytes double it), and the validator cannot be
// interrupted. A schema whose references go in circles, leave plain local pointers or expand too far is replaced by what
// its top level says about required fields and their types; the server checks the rest itself.
func tame(doc map[string]any) map[string]any {
	x := expander{root: doc, costs: map[string]int{}}
	if cost, ok := x.cost(doc); ok && cost <= maxExpansion {
		return doc
	}
	shallow := map[string]any{"type": "object"}
	if required, ok := doc["required"]; ok {
		shallow["required"] = required
	}
	props := map[string]any{}
	listed, _ := doc["properties"].(map[string]any)
	for name, p := range listed {
		props[name] = map[string]any{}
		sub, _ := p.(map[string]any)
		if typ, ok := sub["type"]; ok {
			props[name] = map[string]any{"type": typ}
		}
	}
	shallow["properties"] = props
	return shallow
}

// expander counts subschemas with references followed. It counts values (enum, default) too rather than trust a name to
// tell them from schemas. costs remembers each reference's; -1 marks one that is being
// followed, so that meeting it again is a circle.
type expander struct {
	root  map[string]any
	costs map[string]int
}

func (x expander) cost(v any) (int, bool) {
	total := 1
	add := func(n int, ok bool) bool {
		total = min(total+n, maxExpansion+1) // saturate: the sum of a bomb overflows
		return ok
	}
	switch v := v.(type) {
	case []any:
		for _, sub := range v {
			if !add(x.cost(sub)) {
				return 0, false
			}
		}
	case map[string]any:
		for k, sub := range v {
			text, isText := sub.(string)
			switch {
			case isText && k == "$ref":
				if !add(x.follow(text)) {
					return 0, false
				}
			case isText && (k == "$dynamicRef" || k == "$recursiveRef" || k == "$id" || k == "id"):
				return 0, false // they change what a reference means
			default:
				if !add(x.cost(sub)) {
					return 0, false
				}
			}
		}
	}
	return total, true
}

func (x expander) follow(ref string) (int, bool) {
	if n, seen := x.costs[ref]; seen {
		return n, n >= 0
	}
	pointer, local := strings.CutPrefix(ref, "#/")
	if !local || strings.ContainsAny(pointer, "%~") {
		return 0, false
	}
	var target any = x.root
	for step := range strings.SplitSeq(pointer, "/") {
		node, _ := target.(map[string]any)
		if target = node[step]; target == nil {
			return 0, false
		}
	}
	x.costs[ref] = -1
	n, ok := x.cost(target)
	if ok {
		x.costs[ref] = n
	}
	return n, ok
}
