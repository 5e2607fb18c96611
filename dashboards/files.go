package dashboards

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/rules"
)

// File is a generated file.
type File struct {
	// Name has no folder.
	Name string
	Data []byte
}

// Options are the parts of dashboards that differ between users.
type Options struct {
	// Rules are the user's rules, which get a dashboard of their own. They must be free of
	// errors: see rules.Parse.
	Rules []*rules.File
	// Identity has the labels with the names of collectors: see kinds.IdentityLabels.
	Identity []string
	// Labels returns the labels of a metric of Vitals.
	Labels func(metric string) []string
	// Runbooks is the address of the runbook of a rule without the annotation runbook_url,
	// with NAME for the rule. DefaultRunbooks if empty.
	Runbooks string
	// Page is the address of the status page of an instance, with INSTANCE, POD and
	// NAMESPACE for its labels. DefaultPage if empty.
	Page string
}

// Files returns the dashboards of Vitals, a dashboard of the user's rules if there are any,
// and the files with which Grafana loads them. The same options yield identical files.
func Files(opts Options) []File {
	shipped := shippedRules()
	known := newRuleTexts(append(slices.Clone(shipped), opts.Rules...), linksTo{cmp.Or(opts.Page, DefaultPage), cmp.Or(opts.Runbooks, DefaultRunbooks)})
	dashboards := []generated{
		{name: "overview", dashboard: overview(known)}, {name: "rule", dashboard: rule(known)}, {name: "kuryr", dashboard: kuryr(shipped)}, {name: "openstack", dashboard: openstack()},
		{name: "host", dashboard: host()}, {name: "collectors", dashboard: collectors(opts.Identity)}, {name: "evaluator", dashboard: evaluator()},
	}
	if len(opts.Rules) > 0 {
		dashboards = append(dashboards, generated{name: "rules", dashboard: ownRules(opts.Rules, opts.Labels)})
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
data:
  %s.json: |
    %s
`
