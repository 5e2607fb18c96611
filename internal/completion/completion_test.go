package completion_test

import (
	"strings"
	"testing"

	"github.com/vitals-health/vitals/internal/completion"
)

// Each script runs the program without evaluating its output. The end-to-end tests run the
// scripts in their shells.
func TestScript(t *testing.T) {
	for _, shell := range completion.Shells() {
		script := completion.Script(shell)
		if !strings.Contains(script, " --completion-bash ") || !strings.HasSuffix(script, "\n") {
			t.Errorf("Script(%q) = %q, want one that runs vitals --completion-bash", shell, script)
		}
		for _, word := range []string{"eval ", "compgen -W"} { // the latter expands what it gets
			if strings.Contains(script, word) {
				t.Errorf("the script for %s has %q, want none: names are data", shell, word)
			}
		}
	}
	if got := completion.Script("csh"); got != "" {
		t.Errorf("Script(csh) = %q, want none", got)
	}
}
