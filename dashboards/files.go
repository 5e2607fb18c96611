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
	// Name has no folder.
	Name string
	Data []byte
}

// Files returns the dashboards of Vitals, a dashboard of the user's rules if there are any,
// and the files with which Grafana loads them. The labels hold the names of collectors: see
// kinds.IdentityLabels. The same arguments yield identical files. The rule files must be free
// of errors: see rules.Parse.
func Files(own []*rules.File, labels []string) []File {
	dashboards := []generated{
		{name: "overview", dashboard: overview()}, {name: "rule", dashboard: rule()}, {name: "kuryr", dashboard: kuryr()}, {name: "openstack", dashboard: openstack()},
		{name: "collectors", dashboard: collectors(labels)}, {name: "evaluator", dashboard: evaluator()},
	}
	if len(own) > 0 {
		dashboards = append(dashboards, generated{name: "rules", dashboard: ownRules(own)})
	}
	var files []File
	for i, d := range dashboards {
		dashboards[i].text = encode(d.dashboard)
		files = append(files, File{d.name + ".json", dashboards[i].text})
	}
	return append(files, File{"provisioning.yaml", []byte(provisioning)}, File{"kubernetes.yaml", configMaps(dashboards)})
}

// generated is a dashboard with the name and the text of its file.
type generated struct {
	name string
	dashboard
	text []byte
}

// encode returns a dashboard as indented JSON.
func encode(d dashboard) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(d); err != nil {
		panic("internal error: " + err.Error()) // only for types that JSON cannot represent
	}
	return b.Bytes()
}

// provisioning is the configuration with which Grafana finds the files.
const provisioning = `# Made by "vitals generate dashboards". A dashboard provider for Grafana: copy this file to
# /etc/grafana/provisioning/dashboards/, and the dashboards to the directory below.
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

// configMaps returns a ConfigMap for each dashboard, with the label by which the sidecar of
// Grafana's Helm chart finds it. The names contain the uid, which is different for different
// sets of rules.
func configMaps(dashboards []generated) []byte {
	var b bytes.Buffer
	b.WriteString("# Made by \"vitals generate dashboards\": dashboards for the sidecar of Grafana's Helm chart.\n")
	for _, d := range dashboards {
		var compact bytes.Buffer
		if err := json.Compact(&compact, d.text); err != nil {
			panic("internal error: " + err.Error()) // encode made the text
		}
		fmt.Fprintf(&b, configMap, strings.TrimPrefix(d.UID, "vitals-"), d.UID, compact.Bytes())
	}
	return b.Bytes()
}

const configMap = `---
apiVersion: v1
kind: ConfigMap
metadata:
  name: vitals-dashboard-%s
  labels:
    grafana_dashboard: "1"
  annotations:
    grafana_folder: Vitals
data:
  %s.json: |
    %s
`
