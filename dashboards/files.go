package dashboards

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/vitals-health/vitals/rules"
)

// File is a generated file.
type File struct {
	// Name is without a folder.
	Name string
	Data []byte
}

// Files generates everything: the dashboards that come with Vitals, a dashboard of own
// rules where there are any, and what Grafana needs to load them. The same rules make
// the same files, to the byte. The rule files must be free of mistakes: see rules.Parse.
func Files(own []*rules.File) []File {
	var files []File
	add := func(name string, d dashboard) { files = append(files, File{name, encode(d)}) }
	add("overview.json", overview())
	add("rule.json", rule())
	add("kuryr.json", kuryr())
	add("openstack.json", openstack())
	add("collectors.json", collectors())
	add("evaluator.json", evaluator())
	return append(files, File{"provisioning.yaml", []byte(provisioning)}, File{"kubernetes.yaml", configMaps(files)})
}

// encode writes a dashboard as people read it.
func encode(d dashboard) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(d); err != nil {
		panic("internal error: " + err.Error()) // only for types that JSON does not have
	}
	return b.Bytes()
}

// provisioning tells Grafana where the files are.
const provisioning = `# Made by "vitals generate dashboards". A provider of Grafana's: put this file into
# /etc/grafana/provisioning/dashboards/ and the dashboards into the directory below.
apiVersion: 1
providers:
  - name: vitals
    folder: Vitals
    type: file
    disableDeletion: false
    allowUiUpdates: false
    updateIntervalSeconds: 30
    options:
      path: /var/lib/grafana/dashboards/vitals
`

// configMaps holds each dashboard in a ConfigMap, with the label by which the sidecar of
// Grafana's Helm chart finds it.
func configMaps(dashboards []File) []byte {
	var b bytes.Buffer
	b.WriteString("# Made by \"vitals generate dashboards\": the dashboards for the sidecar of Grafana's Helm chart.\n")
	for _, f := range dashboards {
		name := strings.TrimSuffix(f.Name, ".json")
		var compact bytes.Buffer
		if err := json.Compact(&compact, f.Data); err != nil {
			panic("internal error: " + err.Error()) // encode made it
		}
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: vitals-dashboard-%s\n  labels:\n    grafana_dashboard: \"1\"\n  annotations:\n    grafana_folder: Vitals\ndata:\n  vitals-%s: |\n    %s\n", name, f.Name, compact.Bytes())
	}
	return b.Bytes()
}
