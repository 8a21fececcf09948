package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Check resolves opaque ids in t's IDArguments, also inside arrays of strings, and then holds the arguments to t's
// schema. The arguments come back byte for byte as they were, except for the ids that were replaced; absent arguments
// and null become {}. All violations are told at once. ids is called once for every id argument and reports false for
// one it doesn't know, which then passes through as it is: the caller may log that. ids may be nil.
func (r *Registry) Check(t *Tool, args json.RawMessage, ids func(opaque string) (string, bool)) (json.RawMessage, *Rejection) {
	e, ok := r.byName[t.Name]
	if !ok {
		return nil, &Rejection{Kind: UnknownTool, Reason: "unknown tool: " + t.Name}
	}
	if trimmed := bytes.TrimSpace(args); len(trimmed) == 0 || string(trimmed) == "null" {
		args = emptyObject
	}
	v, rejection := decodeObject(args)
	if rejection != nil {
		return nil, rejection
	}
	if len(e.tool.IDArguments) > 0 && ids != nil {
		resolved, err := resolveIDs(args, e.tool.IDArguments, ids)
		if err != nil {
			return nil, notAnObject(err)
		}
		args = resolved
		if v, rejection = decodeObject(args); rejection != nil {
			return nil, rejection
		}
	}
	if path, ok := unusableNumber(v, nil); ok {
		return nil, invalid(fieldName(path) + ": the number is out of range")
	}
	if err := e.schema.compiled.Validate(v); err != nil {
		verr, ok := errors.AsType[*jsonschema.ValidationError](err)
		if !ok {
			return nil, invalid(printable(err.Error(), maxEchoRunes))
		}
		return nil, invalid(e.schema.explain(verr))
	}
	return args, nil
}

func invalid(reason string) *Rejection {
	return &Rejection{Kind: InvalidArguments, Reason: reason, Warn: true}
}

func notAnObject(err error) *Rejection {
	what := printable(err.Error(), maxEchoRunes)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		what = "the text ends too early"
	}
	return invalid("the arguments are not one JSON object: " + what)
}

func decodeObject(args json.RawMessage) (map[string]any, *Rejection) {
	v, err := decode(args)
	if err != nil {
		return nil, notAnObject(err)
	}
	obj, ok := v.(map[string]any)
	if !ok {
		return nil, invalid("the arguments must be one JSON object, not " + article(jsonType(v)))
	}
	return obj, nil
}

// decode reads exactly one JSON value and keeps the digits of numbers.
func decode(raw json.RawMessage) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more text follows the value")
	}
	return v, nil
}

// Bounds of numbers. The schema library turns numbers into fractions: an exponent in the millions costs it seconds or,
// past its own bound, a nil pointer. No argument of a tool is that large.
const (
	maxNumberBytes = 1000
	maxExponent    = 400
)

// unusableNumber finds a number outside the bounds and says where.
func unusableNumber(v any, path []string) ([]string, bool) {
	switch v := v.(type) {
	case json.Number:
		if len(v) > maxNumberBytes {
			return path, true
		}
		if i := strings.IndexAny(string(v), "eE"); i >= 0 {
			exp, err := strconv.Atoi(string(v)[i+1:])
			return path, err != nil || exp > maxExponent || exp < -maxExponent
		}
	case map[string]any:
		for k, sub := range v {
			if p, bad := unusableNumber(sub, append(path, k)); bad {
				return p, true
			}
		}
	case []any:
		for i, sub := range v {
			if p, bad := unusableNumber(sub, append(path, strconv.Itoa(i))); bad {
				return p, true
			}
		}
	}
	return nil, false
}

// resolveIDs replaces opaque ids in the named top-level arguments and leaves every other byte alone. args is one JSON
// object.
func resolveIDs(args json.RawMessage, names []string, ids func(string) (string, bool)) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(args))
	if _, err := dec.Token(); err != nil { // the opening brace
		return nil, err
	}
	var out []byte
	copied := 0 // bytes of args that are in out
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, err
		}
		name, _ := key.(string)
		if !slices.Contains(names, name) {
			continue
		}
		if replaced, ok := replaceID(raw, ids); ok {
			end := int(dec.InputOffset())
			out = append(out, args[copied:end-len(raw)]...)
			out = append(out, replaced...)
			copied = end
		}
	}
	if copied == 0 {
		return args, nil
	}
	return append(out, args[copied:]...), nil
}

// replaceID resolves one argument: a string or an array in which strings are resolved. It reports whether anything
// changed.
func replaceID(raw json.RawMessage, ids func(string) (string, bool)) (json.RawMessage, bool) {
	var one string
	if json.Unmarshal(raw, &one) == nil && raw[0] == '"' {
		id, ok := ids(one)
		if !ok || id == one {
			return nil, false
		}
		return marshalString(id), true
	}
	var many []json.RawMessage
	if json.Unmarshal(raw, &many) != nil {
		return nil, false
	}
	changed := false
	parts := make([][]byte, len(many))
	for i, m := range many {
		parts[i] = m
		if len(m) == 0 || m[0] != '"' {
			continue
		}
		if replaced, ok := replaceID(m, ids); ok {
			parts[i], changed = replaced, true
		}
	}
	if !changed {
		return nil, false
	}
	return slices.Concat([]byte("["), bytes.Join(parts, []byte(",")), []byte("]")), true
}

func marshalString(s string) json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("marshal a string: %v", err)) // cannot happen: every Go string has a JSON form
	}
	return b
}
