package script

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzInterpreter reads the first line of a script.
func FuzzInterpreter(f *testing.F) {
	for _, content := range []string{"#!/bin/sh\n", "#! /usr/bin/env python3 -u", "#!", "#!\n/bin/sh", "\x7fELF", "", "#!" + strings.Repeat("a", 300)} {
		f.Add([]byte(content))
	}
	path := filepath.Join(f.TempDir(), "check")
	f.Fuzz(func(t *testing.T, content []byte) {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		got := interpreterOf(path)
		line, _, _ := bytes.Cut(content, []byte("\n"))
		if got != "" && (!bytes.HasPrefix(content, []byte("#!")) || !bytes.Contains(line, []byte(got)) || len(got) > 254 || len(strings.Fields(got)) != 1) {
			t.Errorf("interpreterOf() of %q = %q, want a word of the first 256 bytes of its first line", content, got)
		}
	})
}
