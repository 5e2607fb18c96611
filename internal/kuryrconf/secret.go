package kuryrconf

import (
	"fmt"
	"log/slog"
)

// hidden is the output of a Secret.
const hidden = "<secret>"

// Secret is a value that prints, logs and marshals as <secret>. Convert it to a string to
// use it.
type Secret string

// Format implements fmt.Formatter for every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(hidden)) }

// MarshalText implements encoding.TextMarshaler, for JSON and YAML too.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// LogValue implements slog.LogValuer.
func (Secret) LogValue() slog.Value { return slog.StringValue(hidden) }
