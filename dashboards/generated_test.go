package dashboards_test

import (
	"strings"
	"testing"

	"github.com/vitals-health/vitals/dashboards"
	"github.com/vitals-health/vitals/dashboards/alerts"
)

// Generated distinguishes generated files from others.
func TestGenerated(t *testing.T) {
	about, err := alerts.Files(alerts.Options{Labels: func(string) []string { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range append(generate(), about...) {
		if !dashboards.Generated(f.Data) {
			t.Errorf("Generated(%s) = false, want true: %.200s", f.Name, f.Data)
		}
	}
	for name, data := range map[string]string{
		"nothing":                      "",
		"rules":                        "groups: []\n",
		"a dashboard of Grafana":       "{\n  \"annotations\": {},\n  \"uid\": \"vitals-overview\"\n}\n",
		"a file that quotes it far on": strings.Repeat("# x\n", 300) + "# made by \"vitals generate alerts\"\n",
	} {
		if dashboards.Generated([]byte(data)) {
			t.Errorf("Generated(%s) = true, want false", name)
		}
	}
}
