package discovery

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/targets"
)

// Plan is how a kind checks one of several targets.
type Plan struct {
	// Key is the key of the one target, such as url. Set is whether the configuration has it, or
	// another one in its place.
	Key string
	Set bool
	// Label has the names of targets: dependency or component.
	Label string
	// Example is an address with which the options are checked and described before a target is
	// known. It is one of those that have the most metrics.
	Example string
	// Portless is whether an address has no port.
	Portless bool
	// One returns the configuration for one target. Its Several is empty.
	One func(address string) collectors.Kind
}

// Targets are the targets of one collector. A kind calls its methods in those of collectors.Kind.
type Targets struct {
	several *Several
	plan    Plan
}

// Of returns the targets of a collector, nil if it has only one.
func (s *Several) Of(plan Plan) *Targets {
	if s.Targets == nil && s.Discovery == nil && s.Concurrency == 0 {
		return nil
	}
	return &Targets{s, plan}
}

// Problems returns the mistakes of the targets, and those of the options once.
func (t *Targets) Problems() []collectors.Problem {
	s := t.several
	problems := s.problems()
	add := func(path, format string, args ...any) {
		problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf(format, args...)})
	}
	if len(s.Targets) == 0 && s.Discovery == nil {
		add("", "expected targets or discovery")
	}
	if d := s.Discovery; d != nil && d.Kubernetes != nil {
		if k := d.Kubernetes; !t.plan.hasURL() && (k.Scheme != "" || k.Path != "") {
			add("discovery.kubernetes", "scheme and path: expected none, because %s is not a URL", t.plan.Key)
		}
		if t.plan.Portless && d.Kubernetes.Port != "" {
			add("discovery.kubernetes.port", "port: expected none, because %s has none", t.plan.Key)
		}
	}
	if t.plan.Set {
		add(t.plan.Key, "%s beside several targets: expected one of them", t.plan.Key)
	}
	for i, e := range s.Targets {
		path := fmt.Sprintf("targets[%d]", i)
		if e.Name != "" {
			problems = append(problems, collectors.NameProblem(path+".name", e.Name)...)
		}
		if e.Address == "" {
			add(path, "no address: expected one, in the form of %s", t.plan.Key)
			continue
		}
		for _, p := range t.plan.One(e.Address).Problems() {
			if p.Path == t.plan.Key {
				add(path, "%s", p.Text)
			} else if !slices.ContainsFunc(problems, func(known collectors.Problem) bool { return known.Path == p.Path }) {
				problems = append(problems, p)
			}
		}
	}
	if len(s.Targets) == 0 {
		problems = append(problems, t.plan.One(t.plan.Example).Problems()...)
	}
	return problems
}

// External reports whether a target may be outside of this host. One that is found later may be.
func (t *Targets) External() bool {
	return t.several.Discovery != nil || slices.ContainsFunc(t.several.Targets, func(e Entry) bool { return t.plan.One(e.Address).External() })
}

// Names returns the names of the listed targets, as collectors.Several does.
func (t *Targets) Names(collector string) (names []collectors.TargetName, ok bool) {
	if t == nil {
		return nil, false
	}
	for i, target := range t.several.listed(collector) {
		path := fmt.Sprintf("targets[%d]", i)
		if t.several.Targets[i].Name != "" {
			path += ".name"
		}
		names = append(names, collectors.TargetName{Path: path, Name: target.Name})
	}
	return names, true
}

// Metrics returns what the collector with this name can export. Targets that are found later may
// have any name.
func (t *Targets) Metrics(collector string) []collectors.Metric {
	var all []collectors.Metric
	merge := func(name, address string) {
		for _, m := range t.plan.One(address).Metrics(cmp.Or(name, collector)) {
			if name == "" {
				m.Labels[t.plan.Label] = nil
			}
			i := slices.IndexFunc(all, func(known collectors.Metric) bool { return known.Name == m.Name })
			if i < 0 {
				all = append(all, m)
				continue
			}
			known := &all[i]
			known.Vanishes = known.Vanishes || m.Vanishes
			if values := known.Labels[t.plan.Label]; values != nil {
				known.Labels[t.plan.Label] = append(values, m.Labels[t.plan.Label]...)
			}
		}
	}
	if t.several.Discovery != nil { // first: the names are open then
		merge("", t.plan.Example)
	}
	for _, target := range t.several.listed(collector) {
		merge(target.Name, target.Address)
	}
	if t.several.Discovery != nil {
		all = append(all, targets.Metrics(collector)...)
	}
	return all
}

// PassedOn returns the labels of forwarded series, as collectors.Exporter does, from those of a single
// target.
func (t *Targets) PassedOn(collector string, one map[string][]string) map[string][]string {
	if one[t.plan.Label] == nil {
		return one
	}
	one[t.plan.Label] = nil
	if t.several.Discovery == nil {
		for _, target := range t.several.listed(collector) {
			one[t.plan.Label] = append(one[t.plan.Label], target.Name)
		}
	}
	return one
}

// New returns the collector.
func (t *Targets) New(env collectors.Env) (collectors.Collector, error) {
	s := t.several
	listed := s.listed(env.Name)
	for _, target := range listed { // a mistake of the options ends the start
		one := env
		one.Name = target.Name
		if _, err := t.plan.One(target.Address).New(one); err != nil {
			return nil, fmt.Errorf("%s: %w", target.Name, err)
		}
	}
	sources, err := t.sources(env)
	if err != nil {
		return nil, err
	}
	opts := targets.Options{
		Label: t.plan.Label, Targets: listed, Sources: sources,
		Limit: defaultLimit, Concurrency: cmp.Or(s.Concurrency, defaultConcurrency), Kind: t.plan.One,
	}
	if s.Discovery != nil {
		opts.Limit = cmp.Or(s.Discovery.Limit, defaultLimit)
	}
	return targets.New(opts, env), nil
}

// With returns the metrics of a kind with those of the discovery, for collectors.Collector.Describe.
func With(defs []*collectors.Def) []*collectors.Def { return append(defs, targets.Defs()...) }

// AnyMetrics returns the metrics of the discovery that a kind with Several can export under any
// configuration, for collectors.Kind.Metrics without a name.
func AnyMetrics(name string) []collectors.Metric {
	if name != "" {
		return nil
	}
	return targets.Metrics("")
}

// isTargetFile reports whether a path has the ending of a file with targets.
func isTargetFile(path string) bool {
	return strings.HasSuffix(path, ".yml") || strings.HasSuffix(path, ".yaml") || strings.HasSuffix(path, ".json")
}
