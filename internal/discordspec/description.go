package discordspec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// errAbsent says that the description is not on this machine.
var errAbsent = errors.New("no description of Discord's API (discord/openapi.json in a folder beside the checkout)")

// description is Discord's OpenAPI document. An OpenAPI 3.1 schema is a JSON schema, so its schemas are compiled in place,
// by JSON pointer into the document, each once.
type description struct {
	paths     map[string]map[string]json.RawMessage
	responses map[string]response

	mu         sync.Mutex // guards what follows
	compiler   *jsonschema.Compiler
	schemas    map[string]*jsonschema.Schema
	operations map[string]*operation

	requests, answers atomic.Int64
}

// operation is one method of one path.
type operation struct {
	Parameters  []parameter         `json:"parameters"`
	RequestBody *body               `json:"requestBody"`
	Responses   map[string]response `json:"responses"`
}

type parameter struct {
	Name string `json:"name"`
	In   string `json:"in"`
}

type body struct {
	Required bool                       `json:"required"`
	Content  map[string]json.RawMessage `json:"content"`
}

type response struct {
	Ref     string                     `json:"$ref"`
	Content map[string]json.RawMessage `json:"content"`
}

const documentURL = "discord.json"

// load reads the description once per process.
var load = sync.OnceValues(func() (*description, error) {
	data, err := read()
	if err != nil {
		return nil, err
	}
	var doc struct {
		Paths      map[string]map[string]json.RawMessage `json:"paths"`
		Components struct {
			Responses map[string]response `json:"responses"`
		} `json:"components"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("reading Discord's API description: %w", err)
	}
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("reading Discord's API description: %w", err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	compiler.UseLoader(jsonschema.SchemeURLLoader{}) // The document refers to nothing outside itself.
	if err := compiler.AddResource(documentURL, whole); err != nil {
		return nil, fmt.Errorf("reading Discord's API description: %w", err)
	}
	return &description{
		paths: doc.Paths, responses: doc.Components.Responses, compiler: compiler,
		schemas: map[string]*jsonschema.Schema{}, operations: map[string]*operation{},
	}, nil
})

// read finds the description beside the repository, walking up from the test's directory.
func read() ([]byte, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("finding Discord's API description: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			found, err := filepath.Glob(filepath.Join(filepath.Dir(dir), "*", "discord", "openapi.json"))
			if err != nil || len(found) == 0 {
				return nil, errAbsent
			}
			return os.ReadFile(found[0])
		}
		up := filepath.Dir(dir)
		if up == dir {
			return nil, errAbsent
		}
		dir = up
	}
}

// operation finds a method of a path.
func (d *description) operation(method, template string) (*operation, error) {
	name := method + " " + template
	d.mu.Lock()
	defer d.mu.Unlock()
	if op := d.operations[name]; op != nil {
		return op, nil
	}
	raw, ok := d.paths[template][strings.ToLower(method)]
	if !ok {
		return nil, fmt.Errorf("%s is not in the description", name)
	}
	op := &operation{}
	if err := json.Unmarshal(raw, op); err != nil {
		return nil, fmt.Errorf("reading %s of the description: %w", name, err)
	}
	d.operations[name] = op
	return op, nil
}

// schema compiles the schema at a JSON pointer, once.
func (d *description) schema(pointer string) (*jsonschema.Schema, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.schemas[pointer]; s != nil {
		return s, nil
	}
	s, err := d.compiler.Compile(documentURL + "#" + pointer)
	if err != nil {
		return nil, fmt.Errorf("compiling the schema at %s: %w", pointer, err)
	}
	d.schemas[pointer] = s
	return s, nil
}

// check holds a JSON text to the schema at a pointer. A schema's compiled form is safe for concurrent use.
func (d *description) check(pointer string, text []byte, amend func(any)) error {
	s, err := d.schema(pointer)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("no JSON: %w", err)
	}
	amend(value)
	return s.Validate(value)
}

// pointer joins steps to a JSON pointer.
func pointer(steps ...string) string {
	var b strings.Builder
	for _, s := range steps {
		b.WriteByte('/')
		b.WriteString(strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(s))
	}
	return b.String()
}

// answer finds what is described for a status: itself, or its class.
func (d *description) answer(op *operation, status int) (key string, r response, ok bool) {
	code := strconv.Itoa(status)
	for _, key := range []string{code, code[:1] + "XX"} {
		if r, ok := op.Responses[key]; ok {
			return key, r, true
		}
	}
	return "", response{}, false
}
