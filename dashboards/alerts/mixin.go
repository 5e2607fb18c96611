package alerts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/dashboards"
)

const mixinHead = `// Vitals' dashboards and alerts as a mixin, made by "vitals generate alerts".
// vitalsSelector matches the series of every Vitals.
`

// mixin makes mixin.libsonnet.
func (s *set) mixin() ([]byte, error) {
	var b strings.Builder
	b.WriteString(mixinHead)
	fmt.Fprintf(&b, "{\n  _config+:: {\n    vitalsSelector: %s,\n  },\n\n", jsonnetString(s.Selector))
	b.WriteString("  grafanaDashboards+:: {\n")
	for _, name := range mixinDashboards() {
		fmt.Fprintf(&b, "    %s: import %s,\n", jsonnetString("vitals-"+name), jsonnetString(name))
	}
	b.WriteString("  },\n\n  prometheusAlerts+:: {\n    groups+: std.parseYaml(\n")
	fmt.Fprintf(&b, "      std.strReplace(importstr 'alerts.yml', %s, $._config.vitalsSelector)\n    ).groups,\n  },\n}\n", jsonnetString(s.Selector))
	return []byte(b.String()), nil
}

// mixinDashboards are the dashboards that come with Vitals, by the names of their files.
func mixinDashboards() []string {
	var names []string
	for _, f := range dashboards.Files(nil) {
		if strings.HasSuffix(f.Name, ".json") {
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	return names
}

// jsonnetString is a string in Jsonnet, as its formatter writes it.
func jsonnetString(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}
