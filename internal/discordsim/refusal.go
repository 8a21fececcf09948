package discordsim

import (
	"errors"
	"fmt"
	"net/http"
)

// Refusal is why Discord does not do something, in Discord's words.
type Refusal struct {
	// Status is the HTTP status.
	Status int
	// Code is Discord's number for the reason; 0 for none.
	Code    int
	Message string
	// Problems are what is wrong with the single fields of an Invalid Form Body.
	Problems []Problem
}

// Problem is what is wrong with one field, at a path such as embeds.0.title.
type Problem struct {
	Path, Code, Message string
}

// RefusalOf finds Discord's refusal in an error of a [Person]. ok is false when there is none: then the client would not
// have let the person try.
func RefusalOf(err error) (r Refusal, ok bool) {
	e, ok := errors.AsType[*apiError](err)
	if !ok {
		return Refusal{}, false
	}
	r = Refusal{Status: e.status, Code: e.code, Message: e.message}
	for _, p := range e.form {
		r.Problems = append(r.Problems, Problem{Path: p.path, Code: p.code, Message: p.message})
	}
	return r, true
}

// refused says that Discord refuses what a person does.
func (p *Person) refused(does string, why *apiError) error {
	kind := ErrNotAllowed
	if why.status == http.StatusNotFound {
		kind = errNoSuch
	}
	return fmt.Errorf("%s %s: %w: %w", p.Name, does, kind, why)
}

// malformed is refused for an Invalid Form Body with one problem.
func (p *Person) malformed(does, path, code, message string) error {
	return p.refused(does, &apiError{
		status: http.StatusBadRequest, code: codeInvalidForm, message: "Invalid Form Body", form: []formProblem{{path, code, message}},
	})
}
