package collectors

import (
	"fmt"
	"io"
	"log/slog"
)

// hiddenSecret is shown in place of a secret.
const hiddenSecret = "<secret>"

// Secret is a string whose value is never printed: package fmt, loggers and encoders write
// "<secret>" for it, or nothing if it is empty. Only Value returns it. It is decoded like an
// ordinary string.
//
// Package fmt calls no methods of values that it reaches through an unexported field. A
// Secret in such a field must be behind a pointer.
type Secret string

// Value returns the secret.
func (s Secret) Value() string { return string(s) }

// String returns "<secret>", or "" for an empty Secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hiddenSecret
}

// GoString returns what String returns, for the verb %#v.
func (s Secret) GoString() string { return fmt.Sprintf("%q", s.String()) }

// Format writes what String returns for every verb. For a verb that does not apply to strings,
// package fmt would print the value in its error text.
func (s Secret) Format(f fmt.State, verb rune) {
	text := s.String()
	if verb == 'q' || verb == 'v' && f.Flag('#') {
		text = s.GoString()
	}
	_, _ = io.WriteString(f, text)
}

// MarshalText returns what String returns. Package encoding/json calls it, too.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalYAML returns what String returns.
func (s Secret) MarshalYAML() (any, error) { return s.String(), nil }

// LogValue returns what String returns, for log/slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
