package config

import (
	"fmt"
	"io"
)

// Redacted is what every rendering of a [Secret] shows.
const Redacted = "[redacted]"

// Secret is a value that must never be printed. Every way of formatting or marshalling it shows [Redacted]; only
// Reveal gives the value. The zero value is "not set".
type Secret struct {
	// A pointer, because fmt calls no method on a Secret inside someone's unexported field and would print the
	// value; of a pointer it prints the address.
	value *string
}

// NewSecret returns a Secret that holds value; an empty value makes the zero Secret.
func NewSecret(value string) Secret {
	if value == "" {
		return Secret{}
	}
	return Secret{value: &value}
}

// Reveal returns the value itself, empty when not set. Call it where the value is used, never where it is shown.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// IsZero reports whether no value is set.
func (s Secret) IsZero() bool { return s.value == nil }

// Equal reports whether both hold the same value.
func (s Secret) Equal(other Secret) bool { return s.Reveal() == other.Reveal() }

// String returns [Redacted], or an empty string when nothing is set.
func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return Redacted
}

// GoString is String: %#v must not show the value either.
func (s Secret) GoString() string { return s.String() }

// Format writes String for every verb, so that no flag or verb reaches the value.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText returns String; encoding/json and loggers go through it.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText takes the value.
func (s *Secret) UnmarshalText(text []byte) error {
	*s = NewSecret(string(text))
	return nil
}
