package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/internal/config"
)

// What a script gets in its environment is not expanded and never shown.
func TestScriptEnvironmentIsNotShown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vitals.yml")
	writeFile(t, path, "collectors: [{name: c, script: {command: [/c], environment: {DB: s3cr3t-word, LANG: C}}}]\n")
	l, errs := config.LoadFile(path)
	if len(errs) > 0 {
		t.Fatalf("loadFile() = %v, want no mistakes", errs)
	}
	if got := l.Config.Collectors[0].Script.Environment["DB"].Value(); got != "s3cr3t-word" {
		t.Errorf("the script gets %q, want the value of the file", got)
	}
	if text := string(l.Redacted); strings.Contains(text, "s3cr3t-word") || !strings.Contains(text, "/c") {
		t.Errorf("the configuration is shown as %s, want it without the environment's values", text)
	}
}
