package discordsim

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// apiError is an answer that says no, in Discord's words.
type apiError struct {
	status  int
	code    int
	message string
	form    []formProblem
}

// formProblem is one entry of an Invalid Form Body, at a path such as embeds.0.title.
type formProblem struct {
	path, code, message string
}

func (e *apiError) Error() string { return strconv.Itoa(e.code) + " " + e.message }

// codeInvalidForm is Discord's code of a body that breaks rules of its own.
const codeInvalidForm = 50035

// Discord's refusals.
var (
	errUnauthorized      = &apiError{status: http.StatusUnauthorized, message: "401: Unauthorized"}
	errNotFound          = &apiError{status: http.StatusNotFound, message: "404: Not Found"}
	errUnknownChannel    = &apiError{status: http.StatusNotFound, code: 10003, message: "Unknown Channel"}
	errUnknownGuild      = &apiError{status: http.StatusNotFound, code: 10004, message: "Unknown Guild"}
	errUnknownMember     = &apiError{status: http.StatusNotFound, code: 10007, message: "Unknown Member"}
	errUnknownMessage    = &apiError{status: http.StatusNotFound, code: 10008, message: "Unknown Message"}
	errUnknownUser       = &apiError{status: http.StatusNotFound, code: 10013, message: "Unknown User"}
	errUnknownEmoji      = &apiError{status: http.StatusBadRequest, code: 10014, message: "Unknown Emoji"}
	errUnknownWebhook    = &apiError{status: http.StatusNotFound, code: 10015, message: "Unknown Webhook"}
	errUnknownInteract   = &apiError{status: http.StatusNotFound, code: 10062, message: "Unknown interaction"}
	errUnknownCommand    = &apiError{status: http.StatusNotFound, code: 10063, message: "Unknown application command"}
	errInvalidJSON       = &apiError{status: http.StatusBadRequest, code: 50109, message: "The request body contains invalid JSON."}
	errTooLarge          = &apiError{status: http.StatusRequestEntityTooLarge, code: 40005, message: "Request entity too large"}
	errDMAction          = &apiError{status: http.StatusForbidden, code: 50003, message: "Cannot execute action on a DM channel"}
	errWrongChannelType  = &apiError{status: http.StatusBadRequest, code: 50024, message: "Cannot execute action on this channel type"}
	errTooManyReactions  = &apiError{status: http.StatusBadRequest, code: 30010, message: "Maximum number of reactions reached (20)"}
	errAcknowledged      = &apiError{status: http.StatusBadRequest, code: 40060, message: "Interaction has already been acknowledged."}
	errMissingAccess     = &apiError{status: http.StatusForbidden, code: 50001, message: "Missing Access"}
	errNotYours          = &apiError{status: http.StatusForbidden, code: 50005, message: "Cannot edit a message authored by another user"}
	errEmptyMessage      = &apiError{status: http.StatusBadRequest, code: 50006, message: "Cannot send an empty message"}
	errCannotSendToUser  = &apiError{status: http.StatusForbidden, code: 50007, message: "Cannot send messages to this user"}
	errMissingPermission = &apiError{status: http.StatusForbidden, code: 50013, message: "Missing Permissions"}
	errWebhookToken      = &apiError{status: http.StatusUnauthorized, code: 50027, message: "Invalid Webhook Token"}
	errArchived          = &apiError{status: http.StatusBadRequest, code: 50083, message: "Thread is archived"}
	errReplyNoHistory    = &apiError{status: http.StatusBadRequest, code: 160002, message: "Cannot reply without permission to read message history"}
	errThreadExists      = &apiError{status: http.StatusBadRequest, code: 160004, message: "A thread has already been created for this message"}
)

// form collects what is wrong with a body.
type form struct{ problems []formProblem }

func (f *form) add(path, code, message string) {
	f.problems = append(f.problems, formProblem{path, code, message})
}

func (f *form) tooLong(path string, limit int) {
	f.add(path, "BASE_TYPE_MAX_LENGTH", fmt.Sprintf("Must be %d or fewer in length.", limit))
}

func (f *form) badLength(path string, least, most int) {
	f.add(path, "BASE_TYPE_BAD_LENGTH", fmt.Sprintf("Must be between %d and %d in length.", least, most))
}

func (f *form) required(path string) {
	f.add(path, "BASE_TYPE_REQUIRED", "This field is required")
}

func (f *form) err() error {
	if len(f.problems) == 0 {
		return nil
	}
	return &apiError{status: http.StatusBadRequest, code: codeInvalidForm, message: "Invalid Form Body", form: f.problems}
}

// invalid is an Invalid Form Body with one problem.
func invalid(path, code, message string) error {
	f := &form{}
	f.add(path, code, message)
	return f.err()
}

// under moves a form's problems one level down, where the form stood in the whole body.
func under(step string, err error) error {
	e, ok := errors.AsType[*apiError](err)
	if !ok || len(e.form) == 0 {
		return err
	}
	moved := *e
	moved.form = slices.Clone(e.form)
	for i := range moved.form {
		moved.form[i].path = step + "." + moved.form[i].path
	}
	return &moved
}

// body is the JSON of the answer.
func (e *apiError) body() any {
	out := map[string]any{"message": e.message, "code": e.code}
	if len(e.form) > 0 {
		tree := map[string]any{}
		for _, p := range e.form {
			nest(tree, strings.Split(p.path, "."), p)
		}
		out["errors"] = tree
	}
	return out
}

func nest(at map[string]any, path []string, p formProblem) {
	if path[0] == "" {
		path = path[1:]
	}
	for _, step := range path {
		next, ok := at[step].(map[string]any)
		if !ok {
			next = map[string]any{}
			at[step] = next
		}
		at = next
	}
	list, _ := at["_errors"].([]map[string]string)
	at["_errors"] = append(list, map[string]string{"code": p.code, "message": p.message})
}
