package dashboards

import (
	"regexp"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors/kinds"
)

// The panel of failures shows the failure metrics of every kind. Those of watches have a
// panel of their own.
func TestFailuresOfEveryKindAreShown(t *testing.T) {
	shown := regexp.MustCompile("^(" + failures + ")$")
	for _, kind := range kinds.Names() {
		for _, m := range kinds.New(kind).Metrics("") {
			if !strings.HasSuffix(m.Name, "_failure") || m.Name == "vitals_kubernetes_watch_failure" {
				continue
			}
			if !shown.MatchString(m.Name) {
				t.Errorf("%s: %s does not match %s", kind, m.Name, failures)
			}
			if m.Identity == "" {
				t.Errorf("%s: %s has no label with the collector's name", kind, m.Name)
			}
		}
	}
}
