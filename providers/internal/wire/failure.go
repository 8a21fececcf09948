package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/parleybot/parley/providers"
)

// KeyRejected stands in for the vendor's own words about a key: those may quote part of it.
const KeyRejected = "the bot's provider key was rejected"

// Failure is an error of this service.
func (s *Service) Failure(kind providers.ErrorKind, message string, err error) *providers.Error {
	return &providers.Error{Provider: s.Name, Kind: kind, Message: message, Err: err}
}

// Retryable marks an error as one after which the same request may succeed.
func Retryable(e *providers.Error) *providers.Error {
	e.Retryable = true
	return e
}

// Unreachable is the failure of a request that got no answer, without the address: its query may hold a key.
func (s *Service) Unreachable(err error) *providers.Error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return Retryable(s.Failure(providers.KindNetwork, "the service could not be reached", err))
}

// Refusal is the failure behind a status that isn't 200.
func (s *Service) Refusal(res *http.Response, body []byte) *providers.Error {
	said := readError(body)
	if said.message == "" && len(body) > 0 && !bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) {
		said.message = string(body)
	}
	if res.StatusCode < 400 {
		return s.Failure(providers.KindProtocol, "the service answered "+strconv.Itoa(res.StatusCode)+" instead of an answer", nil)
	}
	e := s.said(said, res.StatusCode)
	e.RetryAfter = retryAfter(res.Header, time.Now())
	if res.Header.Get("X-Should-Retry") == "false" {
		e.Retryable = false
	}
	return e
}

// InStream is the failure that an error value inside a 200 stream reports, nil when it reports none. begun says that
// something of the answer was passed on already.
func (s *Service) InStream(raw json.RawMessage, begun bool) error {
	said := readErrorValue(raw)
	if said == (vendorError{}) {
		return nil
	}
	e := s.said(said, said.status)
	e.Retryable = e.Retryable && !begun
	return e
}

// said makes an error of what a vendor said.
func (s *Service) said(v vendorError, status int) *providers.Error {
	kind := v.kind(status)
	e := s.Failure(kind, s.redact(v.message), nil)
	e.Status = status
	e.Retryable = providers.RetryableStatus(status) && kind != providers.KindQuota
	if kind == providers.KindAuth {
		e.Message = KeyRejected
	}
	return e
}

// vendorError is an error object as vendors send it.
type vendorError struct {
	message string
	// code is the vendor's word for it, from code, type or status.
	code   string
	status int
}

// readError reads a refusal's body: an object with an error member, or a list with one such object, as Gemini sends.
func readError(body []byte) vendorError {
	if raw := bytes.TrimSpace(body); len(raw) > 0 && raw[0] == '[' {
		body = FirstElement(raw)
	}
	var wrapped struct {
		Error   json.RawMessage `json:"error"`
		Message Text            `json:"message"`
		Detail  Text            `json:"detail"`
	}
	if json.Unmarshal(body, &wrapped) != nil {
		return vendorError{}
	}
	v := readErrorValue(wrapped.Error)
	if v.message == "" {
		v.message = string(wrapped.Message + wrapped.Detail)
	}
	return v
}

// FirstElement is the first element of a JSON list, else the text itself.
func FirstElement(list []byte) []byte {
	var elements []json.RawMessage
	if json.Unmarshal(list, &elements) != nil || len(elements) == 0 {
		return list
	}
	return elements[0]
}

// readErrorValue reads an error member: an object or a string.
func readErrorValue(raw json.RawMessage) vendorError {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' {
		var s Text
		if len(raw) > 0 {
			_ = s.UnmarshalJSON(raw)
		}
		return vendorError{message: string(s)}
	}
	var object struct {
		Message Text            `json:"message"`
		Type    Text            `json:"type"`
		Status  Text            `json:"status"`
		Code    json.RawMessage `json:"code"`
		Details struct {
			Code Text `json:"error_code"`
		} `json:"details"`
	}
	if json.Unmarshal(raw, &object) != nil {
		return vendorError{}
	}
	v := vendorError{message: string(object.Message)}
	code := strings.Trim(string(object.Code), `"`)
	if n, err := strconv.Atoi(code); err == nil && n >= 400 && n <= 599 {
		v.status, code = n, ""
	}
	for _, word := range []string{code, string(object.Type), string(object.Status), string(object.Details.Code)} {
		if word != "" && word != "null" {
			v.code += strings.ToLower(word) + " "
		}
	}
	if v.status == 0 {
		v.status = statusOfType[string(object.Type)]
	}
	return v
}

// statusOfType is the status that an error inside a 200 stream would have had.
var statusOfType = map[string]int{
	"invalid_request_error": http.StatusBadRequest, "authentication_error": http.StatusUnauthorized,
	"billing_error": http.StatusPaymentRequired, "permission_error": http.StatusForbidden, "not_found_error": http.StatusNotFound,
	"request_too_large": http.StatusRequestEntityTooLarge, "rate_limit_error": http.StatusTooManyRequests,
	"api_error": http.StatusInternalServerError, "timeout_error": http.StatusGatewayTimeout, "overloaded_error": statusOverloaded,
}

// statusOverloaded has no name in net/http.
const statusOverloaded = 529

// kind decides what went wrong: by the vendor's word where it is more exact than the status.
func (v vendorError) kind(status int) providers.ErrorKind {
	message := strings.ToLower(v.message)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(v.code, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("insufficient_quota", "billing", "credit", "spend_limit"), strings.Contains(message, "credit balance"),
		status == http.StatusTooManyRequests && (strings.Contains(message, "quota") || strings.Contains(message, "billing")):
		return providers.KindQuota
	case has("context_length", "context_window", "string_above_max_length"), saysTooLong(message):
		return providers.KindTooLarge
	case has("content_filter", "content_policy"):
		return providers.KindFiltered
	case status != 0:
		return providers.KindOfStatus(status)
	case has("invalid_api_key", "authentication", "permission"):
		return providers.KindAuth
	case has("rate_limit", "resource_exhausted"):
		return providers.KindRateLimit
	case has("overloaded", "unavailable"):
		return providers.KindOverloaded
	case has("timeout"):
		return providers.KindTimeout
	case has("invalid_request"):
		return providers.KindBadRequest
	}
	return providers.KindUnavailable
}

// saysTooLong recognises a conversation that is too long where a vendor has no word for it.
func saysTooLong(message string) bool {
	for _, words := range []string{"prompt is too long", "exceed context limit", "maximum context length"} {
		if strings.Contains(message, words) {
			return true
		}
	}
	return false
}

// secretPattern finds what looks like a key: bearer tokens, vendors' prefixes, and anything long without a space.
var secretPattern = regexp.MustCompile(`(?i)bearer\s+\S+|\b(sk|pk|rk|gsk|xai|key|aiza|hf)[-_][A-Za-z0-9*._-]{4,}|AIza[A-Za-z0-9_-]{10,}|[A-Za-z0-9+/_-]{40,}=*`)

// redact makes a vendor's text fit for a log: no keys, one line, bounded.
func (s *Service) redact(message string) string {
	if s.Key != "" {
		message = strings.ReplaceAll(message, s.Key, "[redacted]")
	}
	return Bounded(secretPattern.ReplaceAllString(message, "[redacted]"))
}

const maxMessage = 200

// Bounded cuts text to 200 characters of one line.
func Bounded(text string) string {
	text = strings.ToValidUTF8(text, "")
	runes := 0
	var b strings.Builder
	for _, r := range text {
		if runes++; runes > maxMessage {
			break
		}
		if unicode.IsControl(r) {
			r = ' '
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}

// retryAfter reads how long the vendor asks to wait; 0 when it doesn't.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return boundedWait(ms / 1000)
	}
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds > 0 {
		return boundedWait(seconds)
	}
	if at, err := http.ParseTime(value); err == nil && at.After(now) {
		return boundedWait(at.Sub(now).Seconds())
	}
	return 0
}

// boundedWait keeps absurd numbers from overflowing a duration.
func boundedWait(seconds float64) time.Duration {
	return time.Duration(min(seconds, (24*time.Hour).Seconds()) * float64(time.Second))
}
