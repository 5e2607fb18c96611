package main

import (
	"bytes"
	"path/filepath"
	"testing"
)

// The configuration that packages install has no mistake and no finding.
func TestPackagedConfiguration(t *testing.T) {
	var out, errs bytes.Buffer
	code := run([]string{"check", "config", filepath.Join("..", "..", "deploy", "package", "vitals.yml")}, &out, &errs)
	if code != exitOK {
		t.Errorf("vitals check config = %d, want 0\n%s%s", code, &out, &errs)
	}
}
