package firstrules

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/strictyaml"
)

// placeholder stands for the name of the collector in a template. In the names of alerts it
// stands for that name in camel case.
const placeholder = "NAME"

// shared is the template for every kind that exports the metrics of its rules.
const shared = "dependency"

// template is a file with the first rules for a collector of a kind.
type template struct {
	Rules []rule `yaml:"rules"`
}

// rule is a rule for one collector.
type rule struct {
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	For         model.Duration    `yaml:"for"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
	// Test holds for each series of the unit test a value with which the rule is ok, and
	// one with which it fails, separated by a space.
	Test map[string]string `yaml:"test"`
}

// labelled finds the label that has the name of a collector.
var labelled = regexp.MustCompile(`(\w+)="` + placeholder + `"`)

// subject is a collector, or its targets.
type subject struct {
	name string
	// targets is a regular expression for the names of several targets; empty for one.
	targets string
	// example is the name in the unit test.
	example string
}

// subjectOf returns the subject of a collector. Targets that are found later have names that begin
// with that of the collector, unless their file names them.
func subjectOf(collector string, kind collectors.Kind) subject {
	s := subject{name: collector, example: collector}
	several, ok := kind.(collectors.Several)
	if !ok {
		return s
	}
	names, ok := several.TargetNames(collector)
	if !ok {
		return s
	}
	var all []string
	for _, target := range names {
		all = append(all, strings.ReplaceAll(regexp.QuoteMeta(target.Name), `\`, `\\`))
	}
	s.example = collector + "-target"
	if len(names) > 0 {
		s.example = names[0].Name
	}
	s.targets = strings.Join(append(all, collector+"-.+"), "|")
	return s
}

// readTemplate returns the rules of a template. A kind may have none of its own.
func readTemplate(kind string) ([]rule, error) {
	files := collectors.FirstRules()
	names, err := fs.Glob(files, "*/"+kind+".rules.yml")
	if err != nil || len(names) == 0 {
		return nil, err
	}
	data, err := fs.ReadFile(files, names[0])
	if err != nil {
		return nil, err
	}
	var t template
	_, mistakes := strictyaml.Decode(names[0], data, &t)
	errs := make([]error, 0, len(mistakes))
	for _, m := range mistakes {
		errs = append(errs, m)
	}
	for _, r := range t.Rules {
		if len(r.Test) == 0 {
			errs = append(errs, fmt.Errorf("%s: the rule %s has no test", names[0], r.Alert))
		}
	}
	return t.Rules, errors.Join(errs...)
}

// templateOf returns the rules for collectors of a kind: the shared ones, and those of the kind,
// which may replace them. Rules of one alert are adjacent; the last that applies counts.
func templateOf(kind string) ([]rule, error) {
	all, err := readTemplate(shared)
	if err != nil {
		return nil, err
	}
	own, err := readTemplate(kind)
	return append(all, own...), err
}

// filled returns the rule for a collector, with the name of the alert in camel case. A rule for
// several targets selects all of them, and its texts name the one of the alert.
func (r rule) filled(s subject, camel string) rule {
	expr, fill := r.Expr, func(text string) string { return strings.ReplaceAll(text, placeholder, s.name) }
	if s.targets != "" {
		label := labelled.FindStringSubmatch(expr)
		expr = labelled.ReplaceAllString(expr, `$1=~"`+strings.ReplaceAll(s.targets, "$", "$$")+`"`)
		if label != nil {
			fill = func(text string) string { return strings.ReplaceAll(text, placeholder, "{{ $labels."+label[1]+" }}") }
		}
	}
	made := rule{
		Alert: strings.ReplaceAll(r.Alert, placeholder, camel), Expr: strings.ReplaceAll(expr, placeholder, s.name), For: r.For,
		Labels: r.Labels, Annotations: map[string]string{}, Test: map[string]string{},
	}
	for name, text := range r.Annotations {
		if name == "depends_on" {
			made.Annotations[name] = strings.ReplaceAll(text, placeholder, camel)
			continue
		}
		made.Annotations[name] = fill(text)
	}
	for series, values := range r.Test {
		made.Test[strings.ReplaceAll(series, placeholder, s.example)] = values
	}
	return made
}

// camel returns a name of a collector as the beginning of the name of an alert: KeystoneApi for
// keystone-api.
func camel(name string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return strings.ContainsRune("-_.", r) }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	if text := b.String(); text[0] > '9' {
		return text
	}
	return "Collector" + b.String()
}
