package vitals

import (
	"cmp"
	"context"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// Collector is a collector of the program itself.
type Collector struct {
	// Name is the value of the label dependency or component. It is unique.
	Name string
	// Interval is the time between two collections; 10 s if zero.
	Interval time.Duration
	// Timeout limits one collection and is at most Interval; 5 s, or the interval if that is
	// shorter, if zero.
	Timeout time.Duration
	// Kind makes the collector: the result of Check or Measure, or the configuration of any
	// kind. Its defaults are those that it has: SetDefaults is not called.
	Kind collectors.Kind
}

// goKey is the key of a kind that is not in the configuration.
const goKey = "go"

// entry returns the collector as an entry of the configuration.
func (c Collector) entry() entry {
	interval := cmp.Or(c.Interval, defaultInterval)
	e := entry{
		Name: c.Name, Interval: model.Duration(interval), keys: []string{"Collector.Kind"},
		Timeout: model.Duration(cmp.Or(c.Timeout, min(defaultTimeout, interval))), Kinds: map[string]collectors.Kind{},
	}
	if c.Kind != nil {
		e.Kinds[goKey] = c.Kind
	}
	return e
}

// Check returns a collector of a dependency that works if f returns nil. It exports
// vitals_dependency_up, vitals_dependency_latency_seconds and vitals_dependency_failure. The
// reason is that of a collectors.Error[remote.Reason], or follows from the errors of the standard
// library, or is protocol. f is never called concurrently with itself, and must return when its
// context ends. The error is shown: it must not contain secrets.
func Check(name string, f func(context.Context) error) Collector {
	return Collector{Name: name, Kind: &check{f: f}}
}

// Measure returns a collector that exports the samples of f, also together with an error. metrics
// declares them; a metric that is not declared has no type and no help. f is called as in Check.
func Measure(name string, f func(context.Context) ([]collectors.Sample, error), metrics ...*collectors.Def) Collector {
	return Collector{Name: name, Kind: &measure{f: f, defs: metrics}}
}

// check is the kind of Check, and its collector once it has a name.
type check struct {
	name string
	f    func(context.Context) error
}

// Problems implements collectors.Kind.
func (c *check) Problems() []collectors.Problem { return missing(c.f == nil) }

// New implements collectors.Kind.
func (c *check) New(env collectors.Env) (collectors.Collector, error) {
	return &check{env.Name, c.f}, nil
}

// External implements collectors.Kind: a restart of the program cannot repair its dependency.
func (c *check) External() bool { return true }

// Metrics implements collectors.Kind.
func (c *check) Metrics(name string) []collectors.Metric {
	m := collectors.NewCatalog(remote.DependencyDefs(), "dependency", name)
	remote.DescribeDependency(m)
	return m.List()
}

// Uses implements collectors.Kind.
func (c *check) Uses() []string { return nil }

// Collect implements collectors.Collector.
func (c *check) Collect(ctx context.Context) ([]collectors.Sample, error) {
	start := time.Now()
	err := c.f(ctx)
	var latency time.Duration
	if err == nil {
		latency = time.Since(start)
	}
	var b collectors.Batch
	remote.AddDependency(&b, c.name, latency, remote.ReasonOf(err))
	return b.Samples, err
}

// Describe implements collectors.Collector.
func (c *check) Describe() []collectors.Desc { return collectors.Describe(remote.DependencyDefs()) }

// measure is the kind of Measure, and its collector.
type measure struct {
	f    func(context.Context) ([]collectors.Sample, error)
	defs []*collectors.Def
}

// Problems implements collectors.Kind.
func (m *measure) Problems() []collectors.Problem { return missing(m.f == nil) }

// New implements collectors.Kind.
func (m *measure) New(collectors.Env) (collectors.Collector, error) {
	return &measure{m.f, m.defs}, nil
}

// External implements collectors.Kind: the program measures itself.
func (m *measure) External() bool { return false }

// Metrics implements collectors.Kind.
func (m *measure) Metrics(name string) []collectors.Metric {
	return collectors.NewCatalog(m.defs, "", name).List()
}

// Uses implements collectors.Kind.
func (m *measure) Uses() []string { return nil }

// Collect implements collectors.Collector.
func (m *measure) Collect(ctx context.Context) ([]collectors.Sample, error) { return m.f(ctx) }

// Describe implements collectors.Collector.
func (m *measure) Describe() []collectors.Desc { return collectors.Describe(m.defs) }

// missing returns the mistake of a collector without a function.
func missing(function bool) []collectors.Problem {
	if function {
		return []collectors.Problem{{Text: "the function is nil: expected one"}}
	}
	return nil
}
