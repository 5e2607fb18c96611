package main

import (
	"io"

	"github.com/vitals-health/vitals/internal/redact"
	"github.com/vitals-health/vitals/internal/text"
)

// shown writes texts without secrets and without invisible characters. A secret that is split
// between two writes is not found: write whole lines.
type shown struct {
	to      io.Writer
	secrets *redact.List
}

// Write returns the length of p if all of what it becomes was written.
func (w *shown) Write(p []byte) (int, error) {
	n, err := io.WriteString(w.to, text.Visible(w.secrets.Text(string(p))))
	if err != nil {
		return min(n, len(p)), err
	}
	return len(p), nil
}
