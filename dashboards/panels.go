package dashboards

import "strings"

// matchers is the placeholder for the chosen jobs and instances in the expressions of this
// package, as in up{$vitals}.
const matchers = "$vitals"

// chosen has the matchers of every selector of a dashboard.
const chosen = `job=~"$job",instance=~"$instance"`

// scraped selects up of the targets of Vitals: those with a scrape within the shown range.
// Without this restriction, the choice of all jobs would include every job of Prometheus.
const scraped = `up{$vitals} and on (job, instance) last_over_time(vitals_evaluation_timestamp_seconds{$vitals}[$__range])`

// ofVitals ends an expression of metrics that other programs export as well.
const ofVitals = ` and on (job, instance) vitals_evaluation_timestamp_seconds{$vitals}`

// verdict returns a query that yields for each instance 0 if the state fails, 1 if the
// instance is not scraped and the state is unknown, and 2 if it passes. The least is the
// worst.
func verdict(state string) string {
	return `2 * vitals_state{state="` + state + `",$vitals}` +
		` or on (job, instance) 1 + (up{$vitals} == 0 and on (job, instance) last_over_time(vitals_evaluation_timestamp_seconds{$vitals}[$__range]))`
}

// status returns a query for the status of rules as a number: 0 ok, 1 pending, 2 unknown,
// 3 failing, in the order of the evaluator. The greatest is the worst. The labels are
// further matchers, and can be empty.
func status(labels string) string {
	labels = strings.TrimPrefix(labels+",", ",") + matchers
	return `3 * vitals_rule_status{status="failing",` + labels + `} or 2 * vitals_rule_status{status="unknown",` + labels +
		`} or vitals_rule_status{status="pending",` + labels + `}`
}

// datasource returns the data source that is chosen at the top of the dashboard.
func datasource() source { return source{Type: "prometheus", UID: "${datasource}"} }

func query(expr, legend string) target {
	return target{
		Datasource: datasource(), EditorMode: "code", Expr: strings.ReplaceAll(expr, matchers, chosen),
		LegendFormat: legend, Format: "time_series",
	}
}

// over returns a query over the time range.
func over(expr, legend string) target {
	t := query(expr, legend)
	t.Range = true
	return t
}

// now returns a query at the end of the time range.
func now(expr, legend string) target {
	t := query(expr, legend)
	t.Instant = true
	return t
}

// limit returns a query for a threshold, which is drawn as a dashed red line.
func limit(expr, legend string) target {
	t := over(expr, legend)
	t.limit = true
	return t
}

// shown returns the query with its own display.
func (t target) shown(d display) target {
	t.display = &d
	return t
}

// newPanel returns a panel of queries; about describes what it means and what to do.
func newPanel(kind, title, about string, f field, targets []target) panel {
	ds := datasource()
	p := panel{
		Type: kind, Title: title, Description: about, Datasource: &ds, Targets: targets,
		FieldConfig: &fieldConfig{Defaults: f, Overrides: []override{}},
	}
	for i := range p.Targets {
		t := &p.Targets[i]
		t.RefID = string(rune('A' + i))
		if t.limit {
			p.override("byFrameRefID", t.RefID, limitLine()...)
		}
		if t.display != nil {
			p.override("byFrameRefID", t.RefID, t.display.properties()...)
		}
	}
	return p
}

func (p *panel) override(by, what string, properties ...property) {
	p.FieldConfig.Overrides = append(p.FieldConfig.Overrides, override{matcher{by, what}, properties})
}

// wide sets the width in columns.
func (p panel) wide(columns int) panel {
	p.GridPos.W = columns
	return p
}

// limitLine returns the properties of a dashed red line. It is a series and not a threshold
// of Grafana, because the axis adapts only to series.
func limitLine() []property {
	return []property{
		{"color", color{"fixed", red}},
		{"custom.lineStyle", map[string]any{"fill": "dash", "dash": []int{8, 8}}},
		{"custom.lineWidth", 2},
		{"custom.fillOpacity", 0},
		{"custom.stacking", map[string]any{"mode": "none", "group": "limit"}},
	}
}

// stat returns a panel that shows current values in large letters.
func stat(title, about string, d display, targets ...target) panel {
	p := newPanel("stat", title, about, d.field(nil), targets)
	p.Options = map[string]any{
		"colorMode": "background", "graphMode": "none", "justifyMode": "auto", "orientation": "auto", "textMode": "auto",
		"reduceOptions": map[string]any{"calcs": []string{"lastNotNull"}, "fields": "", "values": false},
	}
	return p
}

// timeline returns a panel that shows states over time, a row for each series.
func timeline(title, about string, d display, targets ...target) panel {
	p := newPanel("state-timeline", title, about, d.field(map[string]any{"fillOpacity": 80, "lineWidth": 0}), targets)
	p.MaxDataPoints = 300
	p.Options = map[string]any{
		"alignValue": "left", "mergeValues": true, "rowHeight": 0.9, "showValue": "auto",
		"legend":  map[string]any{"calcs": []string{}, "displayMode": "list", "placement": "bottom", "showLegend": false},
		"tooltip": map[string]any{"mode": "single", "sort": "none"},
	}
	return p
}

// graph returns a panel that shows numbers over time.
func graph(title, about string, d display, targets ...target) panel {
	stacking, fill := "none", 5
	if d.stacked {
		stacking, fill = "normal", 40
	}
	f := d.field(map[string]any{
		"drawStyle": "line", "lineInterpolation": "linear", "lineWidth": 1, "fillOpacity": fill, "showPoints": "never",
		"spanNulls": false, "axisPlacement": "auto", "stacking": map[string]any{"mode": stacking, "group": "A"},
	})
	f.Color = color{Mode: "palette-classic"}
	p := newPanel("timeseries", title, about, f, targets)
	p.Options = map[string]any{
		"legend":  map[string]any{"calcs": []string{"lastNotNull", "max"}, "displayMode": "table", "placement": "right", "showLegend": true},
		"tooltip": map[string]any{"mode": "multi", "sort": "desc"},
	}
	return p
}

// firstValue is the field with the values of the first of several queries. That query has
// a result whenever one of them has.
const firstValue = "Value #A"

// column is a column of a table.
type column struct {
	// field is a label, or "Value #A" for the values of query A; "Value" if there is only
	// one query.
	field, title string
	display      *display
	links        []dataLink
}

// properties returns the presentation of the column. Without noValue, an empty cell would
// show the text of an empty table.
func (c column) properties() []property {
	list := []property{{"noValue", "-"}}
	if c.display != nil {
		list = append(list, c.display.properties()...)
		if len(c.display.states) > 0 {
			// The names of the option up to Grafana 9, and since.
			list = append(list, property{"custom.displayMode", "color-background"}, property{"custom.cellOptions", map[string]any{"type": "color-background"}})
		}
	}
	if len(c.links) > 0 {
		list = append(list, property{"links", c.links})
	}
	return list
}

// table returns a panel with current values, one line for each set of labels. All queries
// must return the labels of the columns. Values without a column are hidden; empty is the
// text of a table without lines.
func table(title, about, empty string, columns []column, targets ...target) panel {
	for i := range targets {
		targets[i].Format = "table"
	}
	d := display{empty: empty}
	p := newPanel("table", title, about, d.field(map[string]any{"align": "auto", "filterable": true}), targets)
	p.FieldConfig.Defaults.Color = color{Mode: "thresholds"}
	names, order, hidden := map[string]string{}, map[string]int{}, map[string]bool{"Time": true}
	for _, t := range p.Targets {
		hidden["Value #"+t.RefID] = len(targets) > 1
	}
	for i, c := range columns {
		names[c.field], order[c.field] = c.title, i
		delete(hidden, c.field)
		if c.field == firstValue { // its name if no other query has a result
			names["Value"], order["Value"] = c.title, i
		}
		p.override("byName", c.title, c.properties()...)
	}
	p.Transformations = []transformation{
		{"merge", map[string]any{}},
		{"organize", map[string]any{"excludeByName": hidden, "indexByName": order, "renameByName": names}},
	}
	p.Options = map[string]any{"showHeader": true, "footer": map[string]any{"show": false, "reducer": []string{}}, "sortBy": []any{}}
	return p
}
