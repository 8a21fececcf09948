package observe

import (
	"cmp"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// redacted stands where a secret stood.
const redacted = "[redacted]"

// shortestSecret is the length below which a value is not searched for: it would turn up in ordinary words.
const shortestSecret = 6

// Redactor removes secrets from text that leaves the process: log lines, messages to Discord, requests to a model. It
// knows the process's own secrets by value, in the encodings in which they travel, and other people's by shape. It is
// immutable and safe for concurrent use.
type Redactor struct {
	values *strings.Replacer // nil when there are none
}

// NewRedactor returns a Redactor that knows the given secrets by value. Of a secret that is a URL, such as a database's,
// the password counts too.
func NewRedactor(secrets ...string) *Redactor {
	var forms []string
	for _, s := range secrets {
		forms = append(forms, encodings(s)...)
		if u, err := url.Parse(s); err == nil && u.User != nil {
			if password, ok := u.User.Password(); ok {
				forms = append(forms, encodings(password)...)
			}
		}
	}
	forms = slices.DeleteFunc(forms, func(f string) bool { return len(f) < shortestSecret })
	if len(forms) == 0 {
		return &Redactor{}
	}
	// The replacer takes the first match in this order: the longest must come first, or one secret that begins like
	// another would leave the other's tail standing.
	slices.SortFunc(forms, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	pairs := make([]string, 0, 2*len(forms))
	for _, f := range slices.Compact(forms) {
		pairs = append(pairs, f, redacted)
	}
	return &Redactor{values: strings.NewReplacer(pairs...)}
}

// encodings returns the forms in which a value can appear: as it is, inside JSON (with and without HTML escapes), and
// inside a URL.
func encodings(value string) []string {
	forms := []string{value, url.QueryEscape(value), url.PathEscape(value)}
	if quoted, err := json.Marshal(value); err == nil {
		inner := string(quoted[1 : len(quoted)-1])
		forms = append(forms, inner, strings.NewReplacer(`\u0026`, "&", `\u003c`, "<", `\u003e`, ">").Replace(inner))
	}
	return forms
}

// Clean returns text without secrets. It keeps JSON valid: what it takes out never includes a quote or a backslash.
func (r *Redactor) Clean(text string) string {
	if r.values != nil {
		text = r.values.Replace(text)
	}
	for _, s := range shapes {
		if s.mayMatch(text) {
			text = s.pattern.ReplaceAllString(text, s.replacement)
		}
	}
	return text
}

// shape is a kind of secret that can be told by its look.
type shape struct {
	// hints are cheap to search for; without one of them the pattern cannot match. Log lines pass here by the
	// thousand, and nearly all hold no hint.
	hints       []string
	pattern     *regexp.Regexp
	replacement string
}

func (s shape) mayMatch(text string) bool {
	if s.hints == nil {
		return hasTokenDots(text)
	}
	return slices.ContainsFunc(s.hints, func(h string) bool { return strings.Contains(text, h) })
}

var shapes = []shape{
	{ // a Discord bot or user token: id, time and signature
		nil,
		regexp.MustCompile(`[A-Za-z0-9_-]{18,40}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}`),
		redacted,
	},
	{ // a webhook's or an interaction's token is the last part of its path
		[]string{"webhooks/", "interactions/"},
		regexp.MustCompile(`((?:webhooks|interactions)/\d+/)[A-Za-z0-9_.%-]{16,}`),
		"${1}" + redacted,
	},
	{ // API keys with a vendor's prefix
		[]string{"sk-", "gsk_", "AIza", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "xoxb-", "xoxp-", "hf_", "AKIA"},
		regexp.MustCompile(`\b(?:sk-[A-Za-z0-9_-]{16,}|gsk_[A-Za-z0-9]{20,}|AIza[A-Za-z0-9_-]{30,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|xox[bp]-[A-Za-z0-9-]{10,}|hf_[A-Za-z0-9]{20,}|AKIA[A-Z0-9]{16})`),
		redacted,
	},
	{ // a JSON web token
		[]string{"eyJ"},
		regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`),
		redacted,
	},
	{ // an authorization value whose header's name was lost
		[]string{"earer "},
		regexp.MustCompile(`\b([Bb]earer )[A-Za-z0-9._~+/=-]{20,}`),
		"${1}" + redacted,
	},
	{ // a header dump, as text, as JSON or as Go prints a map
		[]string{"uthorization", "UTHORIZATION", "pi-key", "pi-Key", "PI-KEY", "pi_key", "PI_KEY"},
		regexp.MustCompile(`(?i)\b((?:proxy-)?authorization|(?:x-(?:goog-)?)?api[-_]key)((?:\\?")?\s*[:=]\s*[\[\\" ]*)(?:(?:bearer|basic|bot) )?[^\s"\\,\]\[]{6,}`),
		"${1}${2}" + redacted,
	},
	{ // a key in a query
		[]string{"key=", "token=", "secret=", "password=", "sig=", "signature="},
		regexp.MustCompile(`(?i)((?:[?&;]|\\u0026)(?:[a-z_-]*(?:key|token|secret)|password|sig|signature)=)[^&\s"'\\#;)]+`),
		"${1}" + redacted,
	},
	{ // a password in a URL, such as a database's
		[]string{"://"},
		regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://[^\s/:@"'\\]*:)[^\s/@"'\\]+@`),
		"${1}" + redacted + "@",
	},
}

// hasTokenDots reports whether text has two dots six characters apart, which every Discord token has.
func hasTokenDots(text string) bool {
	for from := 0; ; {
		at := strings.IndexByte(text[from:], '.')
		if at < 0 {
			return false
		}
		from += at + 1
		if from+6 < len(text) && text[from+6] == '.' {
			return true
		}
	}
}
