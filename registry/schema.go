package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxSchemaBytes bounds a schema: it is sent to the model with every request, and MCP servers are not trusted.
const maxSchemaBytes = 64 << 10

// schema is a compiled argument schema and the document it was made from.
type schema struct {
	compiled *jsonschema.Schema
	doc      map[string]any
}

// compile reads raw, which must be a schema of type object. strict adds, wherever the schema lists properties and is
// silent about others, that there are no others: a misspelt optional argument should be a message to the model, not a
// default it did not ask for. Schemas of strangers (not strict) keep their word about unknown fields and are tamed.
// The schema that is sent stays as it was written.
func compile(raw json.RawMessage, strict bool) (*schema, error) {
	if len(raw) == 0 {
		return nil, errors.New("the schema is missing")
	}
	if len(raw) > maxSchemaBytes {
		return nil, fmt.Errorf("the schema has %d bytes, more than %d", len(raw), maxSchemaBytes)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("the schema is not JSON: %w", err)
	}
	doc, ok := v.(map[string]any)
	if !ok || doc["type"] != "object" {
		return nil, errors.New(`the schema must be an object schema ("type": "object")`)
	}
	if strict {
		if _, ok := doc["properties"]; !ok {
			doc["properties"] = map[string]any{}
		}
		closeObjects(doc)
	} else {
		doc = tame(doc)
	}
	// One compiler per tool, so that a hostile schema cannot refer into another tool's.
	c := jsonschema.NewCompiler()
	c.UseLoader(refuse{})
	const url = "tool:///arguments.json"
	if err := c.AddResource(url, doc); err != nil {
		return nil, fmt.Errorf("the schema cannot be used: %w", err)
	}
	compiled, err := c.Compile(url)
	if err != nil {
		return nil, fmt.Errorf("the schema does not compile: %w", err)
	}
	return &schema{compiled: compiled, doc: doc}, nil
}

// has reports whether the schema lists a top-level property.
func (s *schema) has(name string) bool {
	props, _ := s.doc["properties"].(map[string]any)
	_, ok := props[name]
	return ok
}

// openings are the keywords by which a schema says something about properties it does not list; where one stands, the
// author's word is kept.
var openings = []string{
	"additionalProperties", "patternProperties", "unevaluatedProperties", "$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if",
}

func closeObjects(node map[string]any) {
	if props, ok := node["properties"].(map[string]any); ok {
		for _, p := range props {
			if sub, ok := p.(map[string]any); ok {
				closeObjects(sub)
			}
		}
		open := false
		for _, k := range openings {
			_, set := node[k]
			open = open || set
		}
		if !open {
			node["additionalProperties"] = false
		}
	}
	if items, ok := node["items"].(map[string]any); ok {
		closeObjects(items)
	}
}

// refuse is the loader of every schema: the library's own reads files.
type refuse struct{}

// Load implements jsonschema.URLLoader.
func (refuse) Load(url string) (any, error) {
	return nil, fmt.Errorf("schemas may not refer to other documents (%s)", url)
}
