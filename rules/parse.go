package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/internal/strictyaml"
	"github.com/vitals-health/vitals/internal/text"
)

// rawFile is the undecoded content of a rule file or a PrometheusRule object.
type rawFile struct {
	Groups     []rawGroup `yaml:"groups"`
	APIVersion string     `yaml:"apiVersion"`
	Kind       string     `yaml:"kind"`
	Metadata   metadata   `yaml:"metadata"`
	Spec       *rawSpec   `yaml:"spec"`
	Status     ignored    `yaml:"status"`
}

type rawSpec struct {
	Groups []rawGroup `yaml:"groups"`
}

type rawGroup struct {
	Name        string         `yaml:"name"`
	Interval    model.Duration `yaml:"interval"`
	QueryOffset model.Duration `yaml:"query_offset"`
	Limit       int            `yaml:"limit"`
	// PartialResponse is for Thanos Ruler and has no effect here.
	PartialResponse string            `yaml:"partial_response_strategy"`
	Labels          map[string]string `yaml:"labels"`
	Rules           []rawRule         `yaml:"rules"`
}

type rawRule struct {
	Record        string            `yaml:"record"`
	Alert         string            `yaml:"alert"`
	Expr          string            `yaml:"expr"`
	For           model.Duration    `yaml:"for"`
	KeepFiringFor model.Duration    `yaml:"keep_firing_for"`
	Labels        map[string]string `yaml:"labels"`
	Annotations   map[string]string `yaml:"annotations"`
}

// metadata is the metadata of a Kubernetes object. Only its name is used.
type metadata struct{ Name string }

// UnmarshalYAML accepts anything.
func (m *metadata) UnmarshalYAML(unmarshal func(any) error) error {
	var all map[string]any
	_ = unmarshal(&all) // the API server validates it
	m.Name, _ = all["name"].(string)
	return nil
}

// ignored accepts anything: the parts of a Kubernetes object that are not used.
type ignored struct{}

// UnmarshalYAML accepts anything.
func (*ignored) UnmarshalYAML(func(any) error) error { return nil }

// Parse parses a rule file with one document: see ParseAll. If there are errors, only Check
// can use the file.
func Parse(file string, data []byte, states []string) (*File, []error) {
	files, errs := ParseAll(file, data, states)
	if len(files) > 1 {
		at := files[1]
		errs = append(errs, &strictyaml.Error{File: file, Line: at.first, Col: 1, Text: "second document, expected exactly one in a file"})
	}
	return files[0], errs
}

// fileParser parses one file and collects its mistakes.
type fileParser struct {
	doc    *strictyaml.Document
	opts   Options
	groups []rawGroup
	// root is the path of the groups in the document.
	root string
	// part names the document if the file has several.
	part string
	errs []*strictyaml.Error
	// broken holds the paths of the mistakes.
	broken []string
}

// object checks the parts of a PrometheusRule object outside its groups.
func (p *fileParser) object(raw rawFile) {
	if !slices.Contains(objectVersions(), raw.APIVersion) {
		p.fail("apiVersion", "expected %q, got %q", objectVersion, clip(raw.APIVersion))
	}
	if raw.Kind != objectKind {
		p.fail("kind", "expected %q, got %q", objectKind, clip(raw.Kind))
	}
	if len(raw.Groups) > 0 {
		p.fail("groups", "expected the groups of a %s under spec", objectKind)
	}
	if raw.Spec == nil || !p.doc.Has("spec.groups") {
		p.fail("spec", "expected a spec with groups, got none")
	}
	if raw.Spec == nil {
		raw.Spec = &rawSpec{}
	}
	p.root, p.groups = "spec.groups", raw.Spec.Groups
}

func (p *fileParser) group(path string, raw rawGroup) Group {
	if raw.Name == "" && !p.doc.Broken(path+".name") {
		p.fail(path, "expected a name for the group, got none")
	}
	p.labelNames(path+".labels", raw.Labels)
	p.partialResponse(path+".partial_response_strategy", raw.PartialResponse)
	g := Group{
		Name: raw.Name, Interval: time.Duration(raw.Interval), QueryOffset: time.Duration(raw.QueryOffset),
		Limit: raw.Limit, Labels: raw.Labels,
	}
	g.Line, g.Col = p.doc.Position(path)
	if slices.ContainsFunc(raw.Rules, func(r rawRule) bool { return r.Alert != "" }) {
		p.templates(path+".labels", raw.Labels)
	}
	for i, r := range raw.Rules {
		g.Rules = append(g.Rules, p.rule(strictyaml.PathIndex(path+".rules", i), r, path, raw.Labels))
	}
	return g
}

// partialResponse checks a key of Thanos Ruler. The definition of a PrometheusRule has it,
// and Prometheus itself refuses it.
func (p *fileParser) partialResponse(path, strategy string) {
	switch {
	case p.doc.Has(path) && p.root == "groups":
		p.fail(path, "key of Thanos Ruler, which Prometheus refuses: expected it in a %s only", objectKind)
	case !slices.Contains([]string{"", "abort", "warn"}, strings.ToLower(strategy)):
		p.fail(path, "expected abort or warn, got %q", clip(strategy))
	}
}

// fail reports a mistake at a path.
func (p *fileParser) fail(path, format string, args ...any) {
	p.add(p.doc.Errorf(path, format, args...))
}

// add adds an error. It replaces the indexes of the group and the rule by their names.
func (p *fileParser) add(e *strictyaml.Error) {
	named := *e
	named.Where = within(p.part, p.where(e.Where))
	p.broken = append(p.broken, e.Where)
	p.errs = append(p.errs, &named)
}

// where replaces the indexes of a path by names.
func (p *fileParser) where(path string) string {
	i, rest, ok := index(path, p.root)
	if !ok || i >= len(p.groups) {
		return path
	}
	g := p.groups[i]
	group := label("group", g.Name, i)
	j, below, ok := index(rest, ".rules")
	if !ok || j >= len(g.Rules) {
		return group + under(rest)
	}
	return group + ", " + label("rule", cmp.Or(g.Rules[j].Alert, g.Rules[j].Record), j) + under(below)
}

// index returns the index after a prefix of a path, and the rest of the path.
func index(path, prefix string) (i int, rest string, ok bool) {
	path, ok = strings.CutPrefix(path, prefix+"[")
	number, rest, closed := strings.Cut(path, "]")
	i, err := strconv.Atoi(number)
	return i, rest, ok && closed && err == nil
}

// label names an element, or numbers it from 1 if it has no name.
func label(kind, name string, i int) string {
	if name == "" {
		return fmt.Sprintf("%s %d", kind, i+1)
	}
	return fmt.Sprintf("%s %q", kind, clip(name))
}

func under(rest string) string {
	if rest == "" {
		return ""
	}
	return ", " + strings.TrimPrefix(rest, ".")
}

func (p *fileParser) sorted() []error {
	slices.SortStableFunc(p.errs, func(a, b *strictyaml.Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	var errs []error
	for i, e := range p.errs {
		if i == 0 || *e != *p.errs[i-1] { // a mistake in a group's labels occurs in all its rules
			errs = append(errs, e)
		}
	}
	return errs
}

// clip bounds a text of the file that a message quotes.
func clip(s string) string { return text.Clip(s, 80) }
