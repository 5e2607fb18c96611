package dashboards_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/dashboards"
	"github.com/vitals-health/vitals/rules"
)

// The types have the fields that the tests check, as Grafana reads them.
type (
	dashboard struct {
		file          string
		UID, Title    string
		Description   string
		Tags          []string
		SchemaVersion int
		Version       int
		ID            *int
		Editable      *bool
		GraphTooltip  int
		Refresh       string
		Time          struct{ From, To string }
		Links         []struct {
			Type                              string
			Tags                              []string
			AsDropdown, IncludeVars, KeepTime bool
		}
		Annotations struct{ List []annotation }
		Templating  struct{ List []variable }
		Panels      []panel
	}
	annotation struct {
		Name, Expr, TitleFormat, TextFormat, TagKeys string
		Enable                                       bool
		Datasource                                   source
	}
	source   struct{ Type, UID string }
	variable struct {
		Name, Label, Type, AllValue, Definition string
		Query                                   any
		Datasource                              source
		Multi, IncludeAll                       bool
		Refresh                                 int
	}
	panel struct {
		ID          int
		Type, Title string
		Description string
		GridPos     struct{ X, Y, W, H int }
		Datasource  source
		Targets     []target
		FieldConfig fieldConfig
		Options     struct {
			Legend struct{ Placement string }
			SortBy []struct {
				DisplayName string
				Desc        bool
			}
		}
		Links []struct{ URL string }
		// Collapsed and Panels are those of a heading.
		Collapsed bool
		Panels    []panel
		// row is the id of the collapsed heading to which the panel belongs, or 0.
		row             int
		Transformations []struct {
			ID      string
			Options struct {
				IndexByName  map[string]int
				RenameByName map[string]string
			}
		}
	}
	target struct {
		RefID, Expr, LegendFormat, Format string
		Instant, Range                    bool
		Datasource                        source
	}
	fieldConfig struct {
		Defaults struct {
			Unit, NoValue string
			Color         struct{ Mode string }
			Mappings      []mapping
			Thresholds    struct {
				Steps []struct {
					Color string
					Value *float64
				}
			}
		}
		Overrides []struct {
			Matcher    struct{ ID, Options string }
			Properties []struct {
				ID    string
				Value json.RawMessage
			}
		}
	}
	mapping struct {
		Type    string
		Options map[string]struct{ Text, Color string }
	}
)

// loadDashboards reads the generated dashboards.
func loadDashboards(t *testing.T) []dashboard {
	t.Helper()
	return decode(t, generate())
}

// generate returns the files for the rules of a user.
func generate(own ...*rules.File) []dashboards.File {
	of := map[string][]string{}
	for _, kind := range kinds.Names() {
		for _, m := range kinds.New(kind).Metrics("") {
			of[m.Name] = slices.Collect(maps.Keys(m.Labels))
		}
	}
	return dashboards.Files(dashboards.Options{
		Rules: own, Identity: kinds.IdentityLabels(), Labels: func(metric string) []string { return of[metric] },
	})
}

// linted returns the generated dashboards, and a dashboard for each shipped rule file and for
// a file with all kinds of rules.
func linted(t *testing.T) []dashboard {
	t.Helper()
	all := append(loadDashboards(t), ownDashboard(t, "own.yml", ownFile))
	shipped, err := fs.Glob(rules.Shipped(), "*.yml")
	if err != nil || len(shipped) < 5 {
		t.Fatalf("Glob() = %v, %v, want the shipped rule files", shipped, err)
	}
	for _, name := range shipped {
		text, err := fs.ReadFile(rules.Shipped(), name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, ownDashboard(t, name, string(text)))
	}
	return all
}

// ownDashboard returns the dashboard of a rule file.
func ownDashboard(t *testing.T, name, text string) dashboard {
	t.Helper()
	f, errs := rules.Parse(name, []byte(text), []string{"ready", "alive", "started", "gold"})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	for _, d := range decode(t, generate(f)) {
		if d.file == "rules.json" {
			d.file += " of " + name
			return d
		}
	}
	t.Fatal("no rules.json is generated")
	return dashboard{}
}

func decode(t *testing.T, files []dashboards.File) []dashboard {
	t.Helper()
	var all []dashboard
	for _, f := range files {
		if !strings.HasSuffix(f.Name, ".json") {
			continue
		}
		d := dashboard{file: f.Name}
		if err := json.NewDecoder(bytes.NewReader(f.Data)).Decode(&d); err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		// The panels of collapsed headings follow their heading.
		var flat []panel
		for _, p := range d.Panels {
			flat = append(flat, p)
			for _, inner := range p.Panels {
				inner.row = p.ID
				flat = append(flat, inner)
			}
		}
		d.Panels = flat
		all = append(all, d)
	}
	if len(all) == 0 {
		t.Fatal("no dashboard is generated")
	}
	return all
}

// The ranges that replace Grafana's variables in tests. Each is unique in an expression.
const (
	rateInterval = "3m1s"
	shownRange   = "7m1s"
	stepInterval = "1m1s"
)

var grafanaVariable = regexp.MustCompile(`\$\{?[a-zA-Z_]+`)

// expand replaces Grafana's variables in an expression, with everything chosen.
func expand(t *testing.T, expr, rule string) string {
	t.Helper()
	text := strings.NewReplacer("$__rate_interval", rateInterval, "$__range", shownRange, "$__interval", stepInterval,
		"$job", ".+", "$namespace", ".*", "$pod", ".*", "$instance", ".+", "$collector", ".+", "$dependency", ".+", "$state", ".*", "$rule", rule).Replace(expr)
	if name := grafanaVariable.FindString(text); name != "" {
		t.Errorf("%s: no value for %s", expr, name)
	}
	return text
}

// parse parses an expression after its variables were replaced.
func parse(t *testing.T, expr string) parser.Expr {
	t.Helper()
	ast, err := parser.NewParser(parser.Options{}).ParseExpr(expand(t, expr, "Down"))
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	return ast
}

// queries calls f for each query of a dashboard. For those of annotations, the panel is nil.
func (d dashboard) queries(f func(where, expr string, p *panel, q *target)) {
	for _, a := range d.Annotations.List {
		f(d.file+": annotation "+a.Name, a.Expr, nil, nil)
	}
	for i := range d.Panels {
		p := &d.Panels[i]
		for j := range p.Targets {
			f(d.file+": "+p.Title+", query "+p.Targets[j].RefID, p.Targets[j].Expr, p, &p.Targets[j])
		}
	}
}
