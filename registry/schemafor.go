package registry

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// Constraint narrows one property of a schema made by SchemaFor.
type Constraint func(root *jsonschema.Schema) error

// SchemaFor returns the argument schema of a tool whose arguments are a T, a struct. Fields are required unless marked
// omitempty or omitzero; a jsonschema tag is the field's description. The result is the plain subset that every model
// vendor takes: no type lists, no $schema, no additionalProperties: false (Check refuses unknown fields anyway). It
// panics when T has no schema or a constraint names no field of it, which is a mistake in the program.
func SchemaFor[T any](constraints ...Constraint) json.RawMessage {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		panic(fmt.Sprintf("registry: schema: %v", err))
	}
	for _, c := range constraints {
		if err := c(s); err != nil {
			panic(fmt.Sprintf("registry: schema of %T: %v", *new(T), err))
		}
	}
	plain(s)
	raw, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("registry: schema of %T: %v", *new(T), err))
	}
	return raw
}

// Enum allows only some values of a string field.
func Enum(field string, values ...string) Constraint {
	return onField(field, func(s *jsonschema.Schema) {
		for _, v := range values {
			s.Enum = append(s.Enum, v)
		}
	})
}

// Range bounds a number field; both ends are allowed.
func Range(field string, low, high float64) Constraint {
	return onField(field, func(s *jsonschema.Schema) { s.Minimum, s.Maximum = &low, &high })
}

// Length bounds the characters of a string field; 0 means no bound.
func Length(field string, low, high int) Constraint {
	return onField(field, func(s *jsonschema.Schema) {
		if low > 0 {
			s.MinLength = &low
		}
		if high > 0 {
			s.MaxLength = &high
		}
	})
}

func onField(name string, change func(*jsonschema.Schema)) Constraint {
	return func(root *jsonschema.Schema) error {
		s, ok := root.Properties[name]
		if !ok {
			return fmt.Errorf("no field %q", name)
		}
		change(s)
		return nil
	}
}

// plain removes what the generator adds for Go's sake: nil slices and pointers as null, closed structs.
func plain(s *jsonschema.Schema) {
	if len(s.Types) > 0 {
		types := slices.DeleteFunc(s.Types, func(t string) bool { return t == "null" })
		s.Types = types
		if len(types) == 1 {
			s.Type, s.Types = types[0], nil
		}
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Not != nil {
		s.AdditionalProperties = nil // the generator's form of false
	}
	for _, p := range s.Properties {
		plain(p)
	}
	if s.Items != nil {
		plain(s.Items)
	}
	if s.AdditionalProperties != nil {
		plain(s.AdditionalProperties)
	}
}
