package discordspec

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parleybot/parley/internal/discordsim"
)

// Validator is a [discordsim.Validator] for one test. It is safe for concurrent use.
type Validator struct {
	desc *description

	mu       sync.Mutex
	problems []string
}

// New makes a validator that fails t at its end for every exchange that does not fit the description. Make it before
// the server, so that the server is closed when it reports. Without the description it says so and takes everything.
func New(t testing.TB) *Validator {
	t.Helper()
	desc, err := load()
	if errors.Is(err, errAbsent) {
		t.Logf("validation skipped: %v", err)
		return &Validator{}
	}
	if err != nil {
		t.Fatal(err)
	}
	v := &Validator{desc: desc}
	t.Cleanup(func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		for _, p := range v.problems {
			t.Error(p)
		}
	})
	return v
}

// Summary says how many exchanges this process has validated so far.
func Summary() string {
	desc, err := load()
	if err != nil {
		return "validated: nothing, " + err.Error()
	}
	return fmt.Sprintf("validated: %d requests, %d answers against Discord's description", desc.requests.Load(), desc.answers.Load())
}

// Validate implements [discordsim.Validator].
func (v *Validator) Validate(e discordsim.Exchange) error {
	if v.desc == nil {
		return nil
	}
	err := v.desc.validate(e)
	if err != nil {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.problems = append(v.problems, fmt.Sprintf("%s %s: %v", e.Method, e.Path, err))
	}
	return err
}

func (d *description) validate(e discordsim.Exchange) error {
	op, err := d.operation(e.Method, e.Template)
	if err != nil {
		return err
	}
	var problems []error
	// A request that was refused as malformed is not held to the description; the refusal is.
	if e.Status != http.StatusBadRequest {
		problems = append(problems, d.request(op, e))
		d.requests.Add(1)
	}
	// Failures of Discord's front are not described.
	if e.Status < 500 {
		problems = append(problems, d.response(op, e))
		d.answers.Add(1)
	}
	return errors.Join(problems...)
}

// request checks the query's names, the content type and the body.
func (d *description) request(op *operation, e discordsim.Exchange) error {
	for name := range e.Query {
		described := slices.ContainsFunc(op.Parameters, func(p parameter) bool { return p.In == "query" && p.Name == name })
		if !described {
			return fmt.Errorf("request: query parameter %q is not described", name)
		}
	}
	if op.RequestBody == nil {
		if len(e.RequestBody) > 0 {
			return errors.New("request: has a body where none is described")
		}
		return nil
	}
	if len(e.RequestBody) == 0 {
		if op.RequestBody.Required && len(e.Files) == 0 {
			return errors.New("request: has no body")
		}
		return nil
	}
	kind, _, err := mime.ParseMediaType(e.RequestType)
	if err != nil {
		return fmt.Errorf("request: content type %q: %w", e.RequestType, err)
	}
	if op.RequestBody.Content[kind] == nil {
		return fmt.Errorf("request: content type %s is not described", kind)
	}
	// The payload_json of a multipart request is what would be sent as JSON.
	at := pointer("paths", e.Template, strings.ToLower(e.Method), "requestBody", "content", "application/json", "schema")
	if err := d.check(at, e.RequestBody, amendRequest); err != nil {
		return fmt.Errorf("request: %w", err)
	}
	return nil
}

// response checks status, content type and body.
func (d *description) response(op *operation, e discordsim.Exchange) error {
	key, r, ok := d.answer(op, e.Status)
	if !ok {
		return fmt.Errorf("answer: status %d is not described", e.Status)
	}
	at := pointer("paths", e.Template, strings.ToLower(e.Method), "responses", key)
	if r.Ref != "" {
		name := r.Ref[len("#/components/responses/"):]
		at, r = pointer("components", "responses", name), d.responses[name]
	}
	if len(r.Content) == 0 {
		if len(e.ResponseBody) > 0 {
			return fmt.Errorf("answer: has a body where none is described for status %d", e.Status)
		}
		return nil
	}
	if r.Content[e.ResponseType] == nil {
		return fmt.Errorf("answer: content type %q is not described for status %d", e.ResponseType, e.Status)
	}
	if err := d.check(at+pointer("content", e.ResponseType, "schema"), e.ResponseBody, amendAnswer); err != nil {
		return fmt.Errorf("answer %d: %w", e.Status, err)
	}
	return nil
}
