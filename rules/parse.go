package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/internal/strictyaml"
)

// rawFile is a file as it is written: a rule file, or a PrometheusRule object.
type rawFile struct {
	Groups     []rawGroup `yaml:"groups"`
	APIVersion string     `yaml:"apiVersion"`
	Kind       string     `yaml:"kind"`
	Metadata   ignored    `yaml:"metadata"`
	Spec       *rawSpec   `yaml:"spec"`
	Status     ignored    `yaml:"status"`
}

type rawSpec struct {
	Groups []rawGroup `yaml:"groups"`
}

type rawGroup struct {
	Name        string            `yaml:"name"`
	Interval    model.Duration    `yaml:"interval"`
	QueryOffset model.Duration    `yaml:"query_offset"`
	Limit       int               `yaml:"limit"`
	Labels      map[string]string `yaml:"labels"`
	Rules       []rawRule         `yaml:"rules"`
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

// ignored accepts anything: the parts of a Kubernetes object that are not ours.
type ignored struct{}

// UnmarshalYAML accepts anything.
func (*ignored) UnmarshalYAML(func(any) error) error { return nil }

// Parse reads a rule file. states are the names that the label state may have. It
// returns the mistakes in the order of the file; each of them is a
// *strictyaml.Error and names the group and the rule. The file is never nil: with
// mistakes it holds what could be read, and is good for Check only, to which
// everything is left that concerns several rules.
func Parse(file string, data []byte, states []string) (*File, []error) {
	var raw rawFile
	doc, mistakes := strictyaml.Decode(file, data, &raw)
	p := &fileParser{
		doc: doc, states: states, promql: parser.NewParser(parser.Options{}),
		groups: raw.Groups, root: "groups",
	}
	if slices.ContainsFunc([]string{"apiVersion", "kind", "metadata", "spec", "status"}, doc.Has) {
		p.object(raw)
	}
	for _, m := range mistakes {
		p.add(m)
	}
	result := &File{Name: file, doc: doc}
	seen := map[string]bool{}
	for i, g := range p.groups {
		path := strictyaml.PathIndex(p.root, i)
		if seen[g.Name] {
			p.fail(path+".name", "duplicate group name, expected it once in a file")
		}
		seen[g.Name] = true
		result.Groups = append(result.Groups, p.group(path, g))
	}
	return result, p.sorted()
}

// fileParser parses one file and gathers its mistakes.
type fileParser struct {
	doc    *strictyaml.Document
	states []string
	promql parser.Parser
	groups []rawGroup
	// root is the path of the groups in the document.
	root string
	errs []*strictyaml.Error
}

// object checks what surrounds the groups in a PrometheusRule object.
func (p *fileParser) object(raw rawFile) {
	const version, kind = "monitoring.coreos.com/v1", "PrometheusRule"
	if raw.APIVersion != version {
		p.fail("apiVersion", "expected %q, got %q", version, clip(raw.APIVersion))
	}
	if raw.Kind != kind {
		p.fail("kind", "expected %q, got %q", kind, clip(raw.Kind))
	}
	if len(raw.Groups) > 0 {
		p.fail("groups", "expected the groups of a %s under spec", kind)
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

// fail reports a mistake at a path.
func (p *fileParser) fail(path, format string, args ...any) {
	p.add(p.doc.Errorf(path, format, args...))
}

// add takes an error over and names its group and rule instead of their indexes.
func (p *fileParser) add(e *strictyaml.Error) {
	named := *e
	named.Where = p.where(e.Where)
	p.errs = append(p.errs, &named)
}

func (p *fileParser) where(path string) string {
	for i, g := range p.groups {
		groupPath := strictyaml.PathIndex(p.root, i)
		rest, ok := strings.CutPrefix(path, groupPath)
		if !ok {
			continue
		}
		group := label("group", g.Name, i)
		for j, r := range g.Rules {
			if rest, ok := strings.CutPrefix(path, strictyaml.PathIndex(groupPath+".rules", j)); ok {
				return group + ", " + label("rule", cmp.Or(r.Alert, r.Record), j) + under(rest)
			}
		}
		return group + under(rest)
	}
	return path
}

// label names a thing, or counts it from 1 if it has no name.
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
		if i == 0 || *e != *p.errs[i-1] { // a mistake in a group's labels shows in all its rules
			errs = append(errs, e)
		}
	}
	return errs
}

// clip keeps a text of the file short in a message.
func clip(s string) string {
	const limit = 80
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "..."
}
