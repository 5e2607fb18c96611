package dashboards_test

import (
	"strings"
	"testing"

	"github.com/vitals-health/vitals/dashboards"
	"github.com/vitals-health/vitals/dashboards/alerts"
)

// Everything that is generated can be told from what is not.
func TestGenerated(t *testing.T) {
	about, err := alerts.Files(alerts.Options{Labels: func(string) []string { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range append(dashboards.Files(nil), about...) {
		if !dashboards.Generated(f.Data) {
			t.Errorf("%s does not say that it is generated: %.200s", f.Name, f.Data)
		}
	}
	for name, data := range map[string]string{
		"nothing":                      "",
		"rules":                        "groups: []\n",
		"a dashboard of Grafana":       "{\n  \"annotations\": {},\n  \"uid\": \"vitals-overview\"\n}\n",
		"a file that quotes it far on": strings.Repeat("# x\n", 300) + "# made by \"vitals generate alerts\"\n",
	} {
		if dashboards.Generated([]byte(data)) {
			t.Errorf("%s is taken for generated", name)
		}
	}
}
