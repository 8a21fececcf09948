package bot

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/parleybot/parley/bot/delivery"
)

// Discord's error codes that mean something to us.
const (
	codeUnknownChannel     = 10003
	codeUnknownMessage     = 10008
	codeUnknownWebhook     = 10015
	codeUnknownInteraction = 10062
	codeAlreadyAnswered    = 40060
	codeMissingAccess      = 50001
	codeMissingPermission  = 50013
	codeInvalidToken       = 50027
)

// errTokenExpired says that an interaction can no longer be answered through its token.
var errTokenExpired = errors.New("the interaction can no longer be answered")

// APIError is a request that Discord refused for good.
type APIError struct {
	// Route is method and path template; it holds no ids and no tokens.
	Route  string
	Status int
	// Code and Message are Discord's; Code is 0 when it gave none.
	Code    int
	Message string
}

// Error names the route, the status and Discord's own words.
func (e *APIError) Error() string {
	if e.Code == 0 {
		return fmt.Sprintf("%s: discord answered %d %s", e.Route, e.Status, http.StatusText(e.Status))
	}
	return fmt.Sprintf("%s: discord answered %d, code %d: %s", e.Route, e.Status, e.Code, e.Message)
}

// Unwrap is the sentinel that callers branch on, nil when the error is none of those.
func (e *APIError) Unwrap() error {
	switch e.Code {
	case codeUnknownChannel:
		return delivery.ErrUnknownChannel
	case codeUnknownMessage:
		return delivery.ErrUnknownMessage
	case codeMissingAccess, codeMissingPermission:
		return delivery.ErrForbidden
	case codeUnknownInteraction, codeUnknownWebhook, codeInvalidToken:
		return errTokenExpired
	}
	if e.Status == http.StatusForbidden {
		return delivery.ErrForbidden
	}
	return nil
}

// newAPIError reads a refusal; body may be anything, since proxies answer too.
func newAPIError(r route, status int, body []byte) *APIError {
	var said struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	_ = json.Unmarshal(body, &said) // no JSON: no code, and the status still tells
	return &APIError{Route: r.key(), Status: status, Code: said.Code, Message: clip(said.Message, 200)}
}
