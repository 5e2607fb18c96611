package collectors

import (
	"fmt"
	"io"
	"log/slog"
)

// hiddenSecret is shown in place of a secret.
const hiddenSecret = "<secret>"

// Secret is a string that never shows itself: printing, logging or marshalling
// it in any format gives "<secret>", or nothing while it is empty. Only Value
// returns it. It decodes like an ordinary string.
//
// Package fmt calls no methods on what it reaches through an unexported field, so
// a Secret in such a field has to lie behind a pointer.
type Secret string

// Value returns the secret itself.
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

// Format writes what String returns for every verb, also for those that do not
// fit a string and would print the value in an error note.
func (s Secret) Format(f fmt.State, verb rune) {
	text := s.String()
	if verb == 'q' || verb == 'v' && f.Flag('#') {
		text = s.GoString()
	}
	_, _ = io.WriteString(f, text)
}

// MarshalText returns what String returns; encoding/json uses it too.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalYAML returns what String returns.
func (s Secret) MarshalYAML() (any, error) { return s.String(), nil }

// LogValue returns what String returns, for log/slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
