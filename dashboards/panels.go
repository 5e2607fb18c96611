package dashboards

import "strings"

// matchers stands for the choice of jobs and instances in the expressions of this
// package, as in up{$vitals}.
const matchers = "$vitals"

// chosen is what every selector of a dashboard has.
const chosen = `job=~"$job",instance=~"$instance"`

// scraped selects up for targets of Vitals alone, those that were scraped within the
// shown range before the moment. All jobs are those of all of Prometheus.
const scraped = `up{$vitals} and on (job, instance) last_over_time(vitals_evaluation_timestamp_seconds{$vitals}[$__range])`

// ofVitals ends an expression of metrics that other programs export as well.
const ofVitals = ` and on (job, instance) vitals_evaluation_timestamp_seconds{$vitals}`

// verdict yields for each instance 0 where the state fails, 1 where the instance is not
// scraped and so nothing is known, and 2 where the state passes. The least is the worst.
func verdict(state string) string {
	return `2 * vitals_state{state="` + state + `",$vitals}` +
		` or on (job, instance) 1 + (up{$vitals} == 0 and on (job, instance) last_over_time(vitals_evaluation_timestamp_seconds{$vitals}[$__range]))`
}

// status turns the state set of rules into a number: 0 ok, 1 pending, 2 unknown,
// 3 failing, as the evaluator orders them. The greatest is the worst. The labels are
// further matchers, or nothing.
func status(labels string) string {
	labels = strings.TrimPrefix(labels+",", ",") + matchers
	return `3 * vitals_rule_status{status="failing",` + labels + `} or 2 * vitals_rule_status{status="unknown",` + labels +
		`} or vitals_rule_status{status="pending",` + labels + `}`
}

// datasource is the one that is chosen at the top of the dashboard.
func datasource() source { return source{Type: "prometheus", UID: "${datasource}"} }

func query(expr, legend string) target {
	return target{
		Datasource: datasource(), EditorMode: "code", Expr: strings.ReplaceAll(expr, matchers, chosen),
		LegendFormat: legend, Format: "time_series",
	}
}

// over asks for all of the time range.
func over(expr, legend string) target {
	t := query(expr, legend)
	t.Range = true
	return t
}

// now asks for the end of the time range.
func now(expr, legend string) target {
	t := query(expr, legend)
	t.Instant = true
	return t
}

// limit asks for what a value is held against: a dashed red line.
func limit(expr, legend string) target {
	t := over(expr, legend)
	t.limit = true
	return t
}

// shown is the query with a display of its own.
func (t target) shown(d display) target {
	t.display = &d
	return t
}

// newPanel puts queries together; about says what the panel means and what to do.
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

// limitLine is a dashed red line. It is a series and no threshold of Grafana's, because
// the axis reaches to series only.
func limitLine() []property {
	return []property{
		{"color", color{"fixed", red}},
		{"custom.lineStyle", map[string]any{"fill": "dash", "dash": []int{8, 8}}},
		{"custom.lineWidth", 2},
		{"custom.fillOpacity", 0},
		{"custom.stacking", map[string]any{"mode": "none", "group": "limit"}},
	}
}

// stat shows values of now in large letters.
func stat(title, about string, d display, targets ...target) panel {
	p := newPanel("stat", title, about, d.field(nil), targets)
	p.Options = map[string]any{
		"colorMode": "background", "graphMode": "none", "justifyMode": "auto", "orientation": "auto", "textMode": "auto",
		"reduceOptions": map[string]any{"calcs": []string{"lastNotNull"}, "fields": "", "values": false},
	}
	return p
}

// timeline shows states over time, a row for each series.
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

// graph shows numbers over time.
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

// firstValue is the name of the values of the first of several queries, which has an
// answer whenever one of them has.
const firstValue = "Value #A"

// column is a column of a table.
type column struct {
	// field is a label, or "Value #A" for the values of query A; "Value" where there is
	// only one query.
	field, title string
	display      *display
	links        []dataLink
}

// properties are how the column is shown. An empty cell would otherwise show what the
// table says without a line.
func (c column) properties() []property {
	list := []property{{"noValue", "-"}}
	if c.display != nil {
		list = append(list, c.display.properties()...)
		if len(c.display.states) > 0 {
			// The name of it up to Grafana 9, and since.
			list = append(list, property{"custom.displayMode", "color-background"}, property{"custom.cellOptions", map[string]any{"type": "color-background"}})
		}
	}
	if len(c.links) > 0 {
		list = append(list, property{"links", c.links})
	}
	return list
}

// table shows what there is now, a line for each set of labels. The labels of all
// queries are those of the columns, and values without a column are not shown; empty is what it says without a line.
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
		if c.field == firstValue { // its name where no other query has an answer
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
