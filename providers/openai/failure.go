package openai

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

// keyRejected stands in for the vendor's own words about a key: those may quote part of it.
const keyRejected = "the bot's provider key was rejected"

func (p *Provider) failure(kind providers.ErrorKind, message string, err error) *providers.Error {
	return &providers.Error{Provider: p.name, Kind: kind, Message: message, Err: err}
}

func (p *Provider) retryable(e *providers.Error) *providers.Error {
	e.Retryable = true
	return e
}

// withoutURL drops the address from a transport's error: its query may hold a key.
func withoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// refusal is the failure behind a status that isn't 200.
func (p *Provider) refusal(res *http.Response, body []byte) *providers.Error {
	said := readError(body)
	if said.message == "" && len(body) > 0 && !bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) {
		said.message = string(body)
	}
	if res.StatusCode < 400 {
		return p.failure(providers.KindProtocol, "the service answered "+strconv.Itoa(res.StatusCode)+" instead of an answer", nil)
	}
	e := p.said(said, res.StatusCode)
	e.RetryAfter = retryAfter(res.Header, time.Now())
	if res.Header.Get("X-Should-Retry") == "false" {
		e.Retryable = false
	}
	return e
}

// inStream is the failure that a chunk of a 200 stream reports, nil when it reports none.
func (p *Provider) inStream(raw json.RawMessage, begun bool) error {
	said := readErrorValue(raw)
	if said == (vendorError{}) {
		return nil
	}
	e := p.said(said, said.status)
	e.Retryable = e.Retryable && !begun
	return e
}

// said makes an error of what a vendor said.
func (p *Provider) said(v vendorError, status int) *providers.Error {
	kind := v.kind(status)
	e := p.failure(kind, p.redact(v.message), nil)
	e.Status = status
	e.Retryable = providers.RetryableStatus(status) && kind != providers.KindQuota
	if kind == providers.KindAuth {
		e.Message = keyRejected
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
		body = firstElement(raw)
	}
	var wrapped struct {
		Error   json.RawMessage `json:"error"`
		Message text            `json:"message"`
		Detail  text            `json:"detail"`
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

func firstElement(list []byte) []byte {
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
		var s text
		if len(raw) > 0 {
			_ = s.UnmarshalJSON(raw)
		}
		return vendorError{message: string(s)}
	}
	var object struct {
		Message text            `json:"message"`
		Type    text            `json:"type"`
		Status  text            `json:"status"`
		Code    json.RawMessage `json:"code"`
	}
	if json.Unmarshal(raw, &object) != nil {
		return vendorError{}
	}
	v := vendorError{message: string(object.Message)}
	code := strings.Trim(string(object.Code), `"`)
	if n, err := strconv.Atoi(code); err == nil && n >= 400 && n <= 599 {
		v.status, code = n, ""
	}
	for _, word := range []string{code, string(object.Type), string(object.Status)} {
		if word != "" && word != "null" {
			v.code += strings.ToLower(word) + " "
		}
	}
	return v
}

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
	case has("insufficient_quota", "billing", "credit"),
		status == http.StatusTooManyRequests && (strings.Contains(message, "quota") || strings.Contains(message, "billing")):
		return providers.KindQuota
	case has("context_length", "context_window", "string_above_max_length"):
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

// secretPattern finds what looks like a key: bearer tokens, vendors' prefixes, and anything long without a space.
var secretPattern = regexp.MustCompile(`(?i)bearer\s+\S+|\b(sk|pk|rk|gsk|xai|key|aiza|hf)[-_][A-Za-z0-9*._-]{4,}|AIza[A-Za-z0-9_-]{10,}|[A-Za-z0-9+/_-]{40,}=*`)

// redact makes a vendor's text fit for a log: no keys, one line, bounded.
func (p *Provider) redact(message string) string {
	if p.key != "" {
		message = strings.ReplaceAll(message, p.key, "[redacted]")
	}
	return bounded(secretPattern.ReplaceAllString(message, "[redacted]"))
}

const maxMessage = 200

// bounded cuts text to 200 characters of one line.
func bounded(text string) string {
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
