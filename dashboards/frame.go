package dashboards

// tag is the tag by which the menu of each dashboard finds the others.
const tag = "vitals"

// newDashboard returns a dashboard with the parts that all have in common. The variables
// come after those for the data source and the targets.
func newDashboard(uid, title, about string, variables []variable, sections ...section) dashboard {
	return dashboard{
		UID: uid, Title: title, Description: about, Tags: []string{tag},
		SchemaVersion: 37, Version: 1, GraphTooltip: 1, Refresh: "30s", Time: timeRange{"now-1h", "now"}, Timezone: "browser",
		Links: []dashboardLink{{
			Type: "dashboards", Title: "Vitals", Tags: []string{tag}, AsDropdown: true, IncludeVars: true, KeepTime: true,
			Icon: "external link", Tooltip: "The other dashboards of Vitals, for the same time and choice",
		}},
		Annotations: list[annotation]{annotations()},
		Templating: list[variable]{append([]variable{
			datasourceVariable(),
			choice("job", "Job", `vitals_state`),
			orAbsent(choice("namespace", "Namespace", `vitals_state{job=~"$job"}`)),
			orAbsent(choice("pod", "Pod", `vitals_state{job=~"$job",namespace=~"$namespace"}`)),
			choice("instance", "Instance", `vitals_state{job=~"$job",namespace=~"$namespace",pod=~"$pod"}`),
		}, variables...)},
		Panels: layout(sections),
	}
}

// annotations returns the marks of alerts and restarts on all panels. They are off: the regions
// of many alerts cover what a panel shows. An annotation can show only labels.
func annotations() []annotation {
	mark := func(name, color, expr, title, text, tags string) annotation {
		t := query(expr, "")
		return annotation{
			Name: name, Datasource: datasource(), Enable: false, Expr: t.Expr, Step: "30s",
			IconColor: color, TitleFormat: title, TextFormat: text, TagKeys: tags,
		}
	}
	return []annotation{
		mark("Firing alerts", red, `max by (alertname, state, severity) (ALERTS{alertstate="firing",state=~".+",alertname!~"Vitals.*",$vitals})`, "{{alertname}}", "{{state}}", "state,severity"),
		mark("Restarts", "blue", `max by (who) (`+who(`changes(process_start_time_seconds{component="",$vitals}[30s]) > 0`+ofVitals)+`)`, "Vitals started", "{{who}}", "who"),
	}
}

func datasourceVariable() variable {
	return variable{
		Name: "datasource", Label: "Data source", Type: "datasource", Query: "prometheus", Refresh: 1,
		Options: []string{}, Current: current{false, "default", "default"},
	}
}

// choice returns a variable for some or all values of a label.
func choice(label, title, metric string) variable {
	v := pick(label, title, metric)
	v.Multi, v.IncludeAll, v.AllValue = true, true, ".+"
	v.Current = current{true, []string{"All"}, []string{"$__all"}}
	return v
}

// orAbsent makes all values of a variable match targets without the label, too.
func orAbsent(v variable) variable {
	v.AllValue = ".*"
	return v
}

// pick returns a variable for one value of a label.
func pick(label, title, metric string) variable {
	ds := datasource()
	definition := "label_values(" + metric + ", " + label + ")"
	return variable{
		Name: label, Label: title, Type: "query", Datasource: &ds, Definition: definition,
		Query: map[string]string{"query": definition, "refId": label}, Refresh: 2, Sort: 1, Options: []string{},
	}
}
