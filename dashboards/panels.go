package dashboards

import "strings"

// matchers is the placeholder for the chosen jobs and instances in the expressions of this
// package, as in up{$vitals}.
const matchers = "$vitals"

// chosen has the matchers of every selector of a dashboard. The namespace and the pod match
// their absence as well, because only Kubernetes has them.
const chosen = `job=~"$job",namespace=~"$namespace",pod=~"$pod",instance=~"$instance"`

// ofVitals ends an expression of metrics that other programs export as well.
const ofVitals = ` and on (job, instance) vitals_evaluation_timestamp_seconds{$vitals}`

// knownTargets selects the targets of Vitals, by a scrape within the last day. Without it, the
// choice of all jobs would include every job of Prometheus. The day does not depend on the
// shown range, or a short range would forget an instance that is down.
const knownTargets = ` and on (job, instance) last_over_time(vitals_evaluation_timestamp_seconds{$vitals}[1d])`

// within is how a query reads a selector: last, least or most.
type within func(selector string) string

// last reads the last value.
func last(selector string) string { return selector }

// least reads the least value within each step of a graph, so that a short failure is drawn.
// Where a step has no scrape, it is the last value.
func least(selector string) string {
	return "(min_over_time(" + selector + "[$__interval]) or " + selector + ")"
}

// most is least for the greatest value.
func most(selector string) string {
	return "(max_over_time(" + selector + "[$__interval]) or " + selector + ")"
}

// down returns a query for the instances that are not scraped, with the value 0.
func down(read within) string {
	return "(" + read("up{$vitals}") + " == 0" + knownTargets + ")"
}

// verdict returns a query that yields for each instance 0 if the state fails, 1 if the
// instance is not scraped and the state is unknown, and 2 if it passes. The least is the
// worst. The labels of an instance that is not scraped differ: aggregate them.
func verdict(state string, read within) string {
	return "2 * " + read(`vitals_state{state="`+state+`",$vitals}`) + " or 1 + " + down(read)
}

// status returns a query for the status of rules as a number: 0 ok, 1 pending, 2 unknown,
// 3 failing, in the order of the evaluator. The greatest is the worst. The labels are
// further matchers, and can be empty.
func status(labels string, read within) string {
	labels = strings.TrimPrefix(labels+",", ",") + matchers
	of := func(status string) string { return read(`vitals_rule_status{status="` + status + `",` + labels + `}`) }
	return "3 * " + of("failing") + " or 2 * " + of("unknown") + " or " + of("pending")
}

// who returns a query with the label who: the pod, or the instance outside Kubernetes.
func who(expr string) string {
	return `label_replace(label_replace(` + expr + `, "who", "$1", "instance", "(.+)"), "who", "$1", "pod", "(.+)")`
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

// limit returns a query for a threshold, which is drawn as a dashed line.
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

// limitLine returns the properties of a dashed line in the colour of text, which no other
// series has. It is a series and not a threshold of Grafana, because the axis adapts only to
// series, and the legend names only them.
func limitLine() []property {
	return []property{
		{"color", color{"fixed", "text"}},
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

// named shows the legends of a panel of numbers instead of the numbers, which colour them.
func (p panel) named() panel {
	if options, ok := p.Options.(map[string]any); ok {
		options["textMode"] = "name"
	}
	return p
}

// timeline returns a panel that shows states over time, a row for each series.
func timeline(title, about string, d display, targets ...target) panel {
	p := newPanel("state-timeline", title, about, d.field(map[string]any{"fillOpacity": 80, "lineWidth": 0}), targets)
	p.MaxDataPoints = 300
	p.Options = map[string]any{
		"alignValue": "left", "mergeValues": true, "perPage": 20, "rowHeight": 0.9, "showValue": "auto",
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
		"legend":  legend(columns),
		"tooltip": map[string]any{"mode": "multi", "sort": "desc"},
	}
	return p
}

// besideFrom is the width in columns from which a graph has room for a legend beside it.
const besideFrom = 12

// legend returns the legend of a graph of a width.
func legend(width int) map[string]any {
	if width < besideFrom {
		return map[string]any{"calcs": []string{"lastNotNull"}, "displayMode": "list", "placement": "bottom", "showLegend": true}
	}
	return map[string]any{"calcs": []string{"lastNotNull", "max"}, "displayMode": "table", "placement": "right", "showLegend": true}
}

// fit adapts a graph to its width.
func (p panel) fit(width int) panel {
	if p.below {
		width = 0
	}
	if options, ok := p.Options.(map[string]any); ok && p.Type == "timeseries" {
		options["legend"] = legend(width)
	}
	return p
}

// legendBelow keeps the legend below the graph at any width.
func (p panel) legendBelow() panel {
	p.below = true
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
	// hidden columns are only for links.
	hidden bool
}

// properties returns the presentation of the column. Without noValue, an empty cell would
// show the text of an empty table.
func (c column) properties() []property {
	list := []property{{"noValue", "-"}}
	if c.display != nil {
		list = append(list, c.display.properties()...)
		if len(c.display.states) > 0 || len(c.display.steps) > 2 {
			// The names of the option up to Grafana 9, and since.
			list = append(list, property{"custom.displayMode", "color-background"}, property{"custom.cellOptions", map[string]any{"type": "color-background"}})
		}
	}
	if len(c.links) > 0 {
		list = append(list, property{"links", c.links})
	}
	if c.hidden {
		// The names of the option up to Grafana 11, and since.
		list = append(list, property{"custom.hidden", true}, property{"custom.hideFrom", map[string]any{"viz": true}})
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

// newestFirst sorts a table by a column of times.
func (p panel) newestFirst(title string) panel {
	if options, ok := p.Options.(map[string]any); ok {
		options["sortBy"] = []any{map[string]any{"displayName": title, "desc": true}}
	}
	return p
}
