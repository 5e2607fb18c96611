package dashboards_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/rules"
)

// TestDashboards checks everything that needs no evaluation of a query.
func TestDashboards(t *testing.T) {
	uids := map[string]string{}
	for _, d := range linted(t) {
		if other := uids[d.UID]; other != "" || len(d.UID) > 40 || !strings.HasPrefix(d.UID, "vitals-") {
			t.Errorf("%s: uid %q (of %q, too), want a unique one of at most 40 characters", d.file, d.UID, other)
		}
		uids[d.UID] = d.file
		checkFrame(t, d)
		checkVariables(t, d)
		checkLayout(t, d)
		checkPanels(t, d)
	}
}

// checkFrame checks the parts that all dashboards have in common.
func checkFrame(t *testing.T, d dashboard) {
	t.Helper()
	if !strings.HasPrefix(d.Title, "Vitals / ") || d.Description == "" || !slices.Equal(d.Tags, []string{"vitals"}) {
		t.Errorf("%s: title %q, description %q, tags %v, want all of them", d.file, d.Title, d.Description, d.Tags)
	}
	if d.ID != nil || d.Version != 1 || d.SchemaVersion != 37 || d.Editable == nil || *d.Editable {
		t.Errorf("%s: id %v, version %d, schema %d, want none, 1, 37, and not editable", d.file, d.ID, d.Version, d.SchemaVersion)
	}
	if d.GraphTooltip != 1 || d.Refresh != "30s" || d.Time.From != "now-1h" || d.Time.To != "now" {
		t.Errorf("%s: tooltip %d, refresh %s, time %v", d.file, d.GraphTooltip, d.Refresh, d.Time)
	}
	if len(d.Links) != 1 || !slices.Equal(d.Links[0].Tags, d.Tags) || !d.Links[0].AsDropdown || !d.Links[0].KeepTime || !d.Links[0].IncludeVars {
		t.Errorf("%s: links %+v, want a menu of the others that keeps time and variables", d.file, d.Links)
	}
}

// checkVariables checks that there are the usual variables, and that no title contains a
// variable with several values, because Grafana would replace it by All.
func checkVariables(t *testing.T, d dashboard) {
	t.Helper()
	several := []string{}
	for i, v := range d.Templating.List {
		switch {
		case i == 0:
			if v.Name != "datasource" || v.Label != "Data source" || v.Type != "datasource" || v.Query != "prometheus" {
				t.Errorf("%s: the first variable is %+v, want the data source", d.file, v)
			}
			continue
		case i < 5:
			want, all := []string{"job", "namespace", "pod", "instance"}[i-1], []string{".+", ".*", ".*", ".+"}[i-1]
			if v.Name != want || !v.Multi || v.AllValue != all {
				t.Errorf("%s: variable %+v, want %s with several values, all of them as %s", d.file, v, want, all)
			}
		}
		if v.Type != "query" || v.Datasource.UID != "${datasource}" || v.Refresh != 2 || v.Label != strings.ToUpper(v.Name[:1])+v.Name[1:] || v.Multi != v.IncludeAll {
			t.Errorf("%s: variable %+v, want a query that follows the time range", d.file, v)
		}
		if v.Multi {
			several = append(several, v.Name)
		}
	}
	for _, p := range d.Panels {
		for _, name := range several {
			if strings.Contains(p.Title, "$"+name) || strings.Contains(p.Title, "${"+name) {
				t.Errorf("%s: the title %q has a variable with several values", d.file, p.Title)
			}
		}
	}
}

// checkLayout checks that panels do not overlap, leave no gap in a line, and have unique ids.
func checkLayout(t *testing.T, d dashboard) {
	t.Helper()
	ids := map[int]bool{}
	taken := map[[3]int]string{}
	lines := map[[2]int]int{}
	for _, p := range d.Panels {
		if ids[p.ID] || p.ID <= 0 {
			t.Errorf("%s: panel %q has the id %d, want a unique one", d.file, p.Title, p.ID)
		}
		ids[p.ID] = true
		g := p.GridPos
		if g.X < 0 || g.W < 1 || g.H < 1 || g.X+g.W > 24 {
			t.Errorf("%s: panel %q is at %+v, want it within 24 columns", d.file, p.Title, g)
		}
		lines[[2]int{p.row, g.Y}] += g.W
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				if other := taken[[3]int{p.row, x, y}]; other != "" {
					t.Fatalf("%s: panels %q and %q overlap", d.file, other, p.Title)
				}
				taken[[3]int{p.row, x, y}] = p.Title
			}
		}
	}
	for y, w := range lines {
		if w != 24 {
			t.Errorf("%s: the panels of row %d at %d have %d columns, want 24", d.file, y[0], y[1], w)
		}
	}
}

// The overview, except for the rows of single instances, fits on a screen of 1080 lines, of which the bars of a browser and of Grafana
// leave 860.
func TestOverviewFitsOnOneScreen(t *testing.T) {
	const pixels, each = 860, 38
	for _, p := range loadDashboards(t)[0].Panels {
		if p.Title == "Ready by instance" || p.Title == "Alerts that fire now" {
			continue // they grow with the number of instances, and are below
		}
		if bottom := (p.GridPos.Y + p.GridPos.H) * each; bottom > pixels {
			t.Errorf("panel %q ends at %d pixels, want at most %d", p.Title, bottom, pixels)
		}
	}
}

// units returns Grafana's names of units.
func units() []string {
	return []string{"short", "none", "s", "ms", "bytes", "percentunit", "reqps", "ops", "dateTimeFromNow", "dthms", "dtdhms"}
}

func checkPanels(t *testing.T, d dashboard) {
	t.Helper()
	titles := map[string]bool{}
	for _, p := range d.Panels {
		where := d.file + ": " + p.Title
		if p.Title == "" || titles[p.Type+p.Title] {
			t.Errorf("%s: want a title that is unique in its section", where)
		}
		titles[p.Type+p.Title] = true
		if p.Type == "row" {
			titles = map[string]bool{}
			continue
		}
		if !strings.HasSuffix(p.Description, ".") || len(p.Targets) == 0 {
			t.Errorf("%s: %d queries, description %q, want sentences", where, len(p.Targets), p.Description)
		}
		if p.Datasource.UID != "${datasource}" || p.Datasource.Type != "prometheus" {
			t.Errorf("%s: data source %+v, want the chosen one", where, p.Datasource)
		}
		defaults := p.FieldConfig.Defaults
		if len(defaults.Mappings) == 0 && !slices.Contains(units(), defaults.Unit) && p.Type != "table" {
			t.Errorf("%s: unit %q, want a unit of Grafana, or words for the values", where, defaults.Unit)
		}
		if defaults.NoValue == "" {
			t.Errorf("%s: want noValue, the text without data", where)
		}
		checkTargets(t, where, p)
		checkWords(t, where, p)
		checkColumns(t, where, p)
	}
}

func checkTargets(t *testing.T, where string, p panel) {
	t.Helper()
	refs := map[string]bool{}
	for _, q := range p.Targets {
		if refs[q.RefID] || q.RefID == "" || q.Datasource.UID != "${datasource}" || q.Instant == q.Range {
			t.Errorf("%s: query %+v, want a unique id, the chosen data source, and either an instant or a range", where, q)
		}
		refs[q.RefID] = true
		if wants := p.Type == "table"; (q.Format == "table") != wants || wants && q.Range {
			t.Errorf("%s: query %s has the format %s, range %t", where, q.RefID, q.Format, q.Range)
		}
		if over := p.Type == "timeseries" || p.Type == "state-timeline"; q.Range != over {
			t.Errorf("%s: query %s over a range: %t, want %t", where, q.RefID, q.Range, over)
		}
	}
	for _, o := range p.FieldConfig.Overrides {
		if o.Matcher.ID == "byFrameRefID" && !refs[o.Matcher.Options] {
			t.Errorf("%s: an override for the query %s, which does not exist", where, o.Matcher.Options)
		}
	}
}

// Words for states are short, because a timeline clips long ones. A timeline with the colours
// of thresholds would show the thresholds instead of the words.
func checkWords(t *testing.T, where string, p panel) {
	t.Helper()
	defaults := p.FieldConfig.Defaults
	if p.Type == "state-timeline" && (len(defaults.Mappings) == 0 || defaults.Color.Mode == "thresholds") {
		t.Errorf("%s: %d mappings and the colour mode %s, want words with colours", where, len(defaults.Mappings), defaults.Color.Mode)
	}
	for _, m := range defaults.Mappings {
		for value, word := range m.Options {
			if _, err := strconv.Atoi(value); err != nil || m.Type != "value" || word.Color == "" || len(word.Text) > 8 || p.Type == "state-timeline" && len(word.Text) > 7 {
				t.Errorf("%s: %q is shown as %+v, want a number and a short word in a colour", where, value, word)
			}
		}
	}
	for i, s := range defaults.Thresholds.Steps {
		if (s.Value == nil) != (i == 0) {
			t.Errorf("%s: step %d begins at %v, want no beginning of the first one only", where, i, s.Value)
		}
	}
}

// A column has its own text for cells without a value. Otherwise Grafana would show the text
// of an empty table.
func checkColumns(t *testing.T, where string, p panel) {
	t.Helper()
	if p.Type != "table" {
		return
	}
	empty := map[string]bool{}
	for _, o := range p.FieldConfig.Overrides {
		for _, property := range o.Properties {
			empty[o.Matcher.Options] = empty[o.Matcher.Options] || o.Matcher.ID == "byName" && property.ID == "noValue"
		}
	}
	for _, tr := range p.Transformations {
		for field, title := range tr.Options.RenameByName {
			if !empty[title] {
				t.Errorf("%s: the column %s of %s has no text for an empty cell", where, title, field)
			}
		}
	}
}

// Arithmetic and comparisons between range functions have one series for each instance on both
// sides. A pod that is replaced at the same address leaves a second one in the range.
func TestRangesAreMatchedByInstance(t *testing.T) {
	found := 0
	check := func(where string, expr parser.Expr) {
		mistakes, operations := rangesByPod(expr)
		found += operations
		for _, m := range mistakes {
			t.Errorf("%s: %s: want \"sum by (job, instance, ...)\" or another aggregation without the pod on both sides", where, m)
		}
	}
	for _, d := range linted(t) {
		d.queries(func(where, expr string, _ *panel, _ *target) { check(where, parse(t, expr)) })
	}
	if found < 3 {
		t.Errorf("%d operations between ranges, want at least those of Ready share and of two panels of interfaces", found)
	}
	files, err := filepath.Glob("../rules/builtin/*.yml")
	if err != nil || len(files) < 5 {
		t.Fatalf("Glob() = %v, %v, want the shipped rule files", files, err)
	}
	for _, name := range append(files, "alerts/alerts.yml", "alerts/prometheusrule.yaml") {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		parsed, errs := rules.ParseAll(name, data, []string{"ready", "alive", "started"})
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		for _, part := range parsed {
			for _, g := range part.Groups {
				for _, r := range g.Rules {
					check(name+": "+r.Alert+r.Record, r.AST)
				}
			}
		}
	}
}

// The lint finds the expressions that failed after a rollout.
func TestRangesByPodAreFound(t *testing.T) {
	for expr, want := range map[string]int{
		`sum_over_time(a[5m]) / on (job, instance) count_over_time(b[5m])`:                                                    1,
		`sum_over_time(a[5m]) / count_over_time(b[5m])`:                                                                       1,
		`rate(a[5m]) > ignoring (error) 0.5 * rate(b[5m])`:                                                                    1,
		`(min_over_time(a[1m]) or a) + on (job, instance) (min_over_time(b[1m]) or b)`:                                        1,
		`sum by (job, instance) (rate(a[5m])) / rate(b[5m])`:                                                                  1,
		`sum by (job, instance, pod) (rate(a[5m])) / sum by (job, instance, pod) (rate(b[5m]))`:                               1,
		`sum by (instance) (rate(a[5m])) / sum by (instance) (rate(b[5m]))`:                                                   1,
		`sum without (code) (rate(a[5m])) / sum without (code) (rate(b[5m]))`:                                                 1,
		`topk by (job, instance) (1, rate(a[5m])) / topk by (job, instance) (1, rate(b[5m]))`:                                 1,
		`rate(a[5m]) / on (job, instance) b`:                                                                                  1,
		`b * ignoring (pod) max_over_time(a[5m:1m])`:                                                                          1,
		`a * on (job, instance) group_left () rate(b[5m])`:                                                                    1,
		`sum(rate(a[5m]) / on (job, instance) rate(b[5m])) > 1`:                                                               1,
		`sum by (job, instance) (sum_over_time(a[5m])) / sum by (job, instance) (count_over_time(b[5m]))`:                     0,
		`min by (job, instance, link) (min_over_time(a[1m]) or a) + min by (job, instance, link) (min_over_time(b[1m]) or b)`: 0,
		`sum by (path) (rate(a[5m])) / sum by (path) (rate(b[5m]))`:                                                           0,
		`sum(rate(a[5m])) / on () sum(rate(b[5m]))`:                                                                           0,
		`rate(a[5m]) and on (job, instance) rate(b[5m])`:                                                                      0,
		`100 * rate(a[5m]) > 2`:                                                   0,
		`rate(a[5m]) * on (job, instance) group_left () b`:                        0,
		`max_over_time(sum by (job, instance) (a)[5m:1m]) / on (job, instance) b`: 0,
		`rate(a[5m]) > b`:          0,
		`a / on (job, instance) b`: 0,
	} {
		if got, _ := rangesByPod(parse(t, expr)); len(got) != want {
			t.Errorf("rangesByPod(%s) = %q, want %d", expr, got, want)
		}
	}
}

// Links lead to one of these dashboards, and set only its variables.
func TestLinksLeadToDashboards(t *testing.T) {
	link := regexp.MustCompile(`/d/([\w-]+)\?var-(\w+)=`)
	uids := map[string][]string{}
	for _, d := range loadDashboards(t) {
		for _, v := range d.Templating.List {
			uids[d.UID] = append(uids[d.UID], v.Name)
		}
	}
	links := 0
	for _, f := range generate() {
		for _, m := range link.FindAllStringSubmatch(string(f.Data), -1) {
			links++
			if !slices.Contains(uids[m[1]], m[2]) {
				t.Errorf("%s: a link to %s sets %s, which has the variables %v", f.Name, m[1], m[2], uids[m[1]])
			}
		}
	}
	if links == 0 {
		t.Error("no dashboard has a link, want one from the table of the overview")
	}
}

// rangesByPod returns the arithmetic operations and comparisons that fail or lose series if a
// range has several pods of one instance, and the number of operations between ranges.
func rangesByPod(expr parser.Expr) (mistakes []string, operations int) {
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		b, ok := n.(*parser.BinaryExpr)
		if !ok || b.VectorMatching == nil || b.Op.IsSetOperator() {
			return nil
		}
		left, leftByPod := ranges(b.LHS)
		right, rightByPod := ranges(b.RHS)
		if left && right {
			operations++
		} else {
			m := b.VectorMatching
			keepsPod := slices.Contains(m.MatchingLabels, "pod") == m.On
			leftByPod = leftByPod && !keepsPod && m.Card != parser.CardManyToOne
			rightByPod = rightByPod && !keepsPod && m.Card != parser.CardOneToMany
		}
		if leftByPod || rightByPod {
			mistakes = append(mistakes, b.String())
		}
		return nil
	})
	return mistakes, operations
}

// ranges reports whether an expression reads a range, and whether its result can have several
// pods of one instance.
func ranges(expr parser.Expr) (found, byPod bool) {
	parser.Inspect(expr, func(n parser.Node, path []parser.Node) error {
		_, selects := n.(*parser.VectorSelector)
		if selects && slices.ContainsFunc(path, isRange) {
			found = true
			byPod = byPod || !slices.ContainsFunc(path, leavesPodOut)
		}
		return nil
	})
	return found, byPod
}

func isRange(n parser.Node) bool {
	switch n.(type) {
	case *parser.MatrixSelector, *parser.SubqueryExpr:
		return true
	}
	return false
}

// leavesPodOut reports whether a node aggregates away the labels of a target other than its job
// and instance.
func leavesPodOut(n parser.Node) bool {
	a, ok := n.(*parser.AggregateExpr)
	if !ok || a.Without || slices.Contains([]parser.ItemType{parser.TOPK, parser.BOTTOMK, parser.LIMITK, parser.LIMIT_RATIO}, a.Op) {
		return false
	}
	of := func(label string) bool { return slices.Contains(a.Grouping, label) }
	return of("job") == of("instance") && !slices.ContainsFunc([]string{"namespace", "pod", "container", "endpoint", "node", "service"}, of)
}
