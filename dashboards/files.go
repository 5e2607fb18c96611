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
	dashboards := []generated{
		{name: "overview", dashboard: overview()}, {name: "rule", dashboard: rule()}, {name: "kuryr", dashboard: kuryr()}, {name: "openstack", dashboard: openstack()},
		{name: "collectors", dashboard: collectors()}, {name: "evaluator", dashboard: evaluator()},
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

// generated is a dashboard with the name of its file, and its text.
type generated struct {
	name string
	dashboard
	text []byte
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
// Grafana's Helm chart finds it. They are named after the uid, which two sets of own rules
// do not share.
func configMaps(dashboards []generated) []byte {
	var b bytes.Buffer
	b.WriteString("# Made by \"vitals generate dashboards\": the dashboards for the sidecar of Grafana's Helm chart.\n")
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
