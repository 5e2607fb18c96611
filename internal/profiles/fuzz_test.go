package profiles

import (
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors/components"
)

// FuzzWatchdogProcesses reads SONiC's list of programs with heartbeats.
func FuzzWatchdogProcesses(f *testing.F) {
	for _, text := range []string{"program:orchagent\n", "\nprogram:a\n \n\tprogram:b", "orchagent", "program:a:b", "program:a\nprogram:a\r\n", "program:\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		programs, errs := parseWatchdogProcesses("/w", text)
		lines := 0
		for line := range strings.Lines(text) {
			if strings.TrimSpace(line) != "" {
				lines++
			}
		}
		if len(programs)+len(errs) != lines {
			t.Errorf("%d programs and %d mistakes of %d lines", len(programs), len(errs), lines)
		}
		for _, err := range errs {
			if !strings.HasPrefix(err.Error(), "/w:") || !strings.Contains(err.Error(), "expected") || len(err.Error()) > 1024 {
				t.Errorf("mistake %q, want the place and what is expected", err)
			}
		}
		if problems := (&components.Config{Expect: programs}).Problems(); len(programs) > 0 && len(problems) > 0 {
			t.Errorf("programs %q: %v, want names of components, each once", programs, problems)
		}
	})
}
