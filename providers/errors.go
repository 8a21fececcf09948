package providers

import (
	"errors"
	"fmt"
	"time"
)

// ErrorKind says what went wrong with a provider, for branching and for the public text.
type ErrorKind string

// The error kinds.
const (
	KindAuth        ErrorKind = "auth"
	KindQuota       ErrorKind = "quota"
	KindRateLimit   ErrorKind = "rate_limit"
	KindOverloaded  ErrorKind = "overloaded"
	KindBadRequest  ErrorKind = "bad_request"
	KindTooLarge    ErrorKind = "too_large"
	KindTimeout     ErrorKind = "timeout"
	KindTruncated   ErrorKind = "truncated"
	KindProtocol    ErrorKind = "protocol"
	KindFiltered    ErrorKind = "filtered"
	KindNetwork     ErrorKind = "network"
	KindUnavailable ErrorKind = "unavailable"
)

// Error is a failure of a provider. Its text is for the log only; people see Kind.
type Error struct {
	Provider string
	Kind     ErrorKind
	// Status is the HTTP status, 0 when there was none.
	Status int
	// Message is the vendor's text, already free of secrets and bounded.
	Message string
	// RetryAfter is the wait the vendor asked for, 0 when it named none.
	RetryAfter time.Duration
	// Retryable is true when the same request may succeed later and nothing of the answer was passed on yet.
	Retryable bool
	Err       error
}

// Error gives provider, kind, status and the vendor's text.
func (e *Error) Error() string {
	s := e.Provider + ": " + string(e.Kind)
	if e.Status != 0 {
		s += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.Message != "" {
		s += ": " + e.Message
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap gives the underlying error.
func (e *Error) Unwrap() error { return e.Err }

// ErrNotConfigured means that no chat provider was chosen.
var ErrNotConfigured = errors.New("no chat provider configured")

// KindOf returns err's kind, or "" when err is no provider's.
func KindOf(err error) ErrorKind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return ""
}
