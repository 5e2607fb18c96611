package configfile

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"reflect"
	"slices"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/budget"
	"github.com/vitals-health/vitals/internal/redact"
	"github.com/vitals-health/vitals/rules"
)

// targetMemory is what a target takes in bytes, twice: the series of a target of http take 7.8 KiB, and a
// collector may hold as much as it leaves free. TestTargetsThatFit of e2e checks as many targets as fit 128 MiB.
const targetMemory = 16 << 10

// Builder makes the collectors of a configuration and the configuration of the evaluator.
// It keeps the collectors of the last build, so that a reload reuses those that did not
// change.
type Builder[E Entry[E]] struct {
	Logger *slog.Logger
	// Secrets gets those of a configuration when its collectors are made, and those that
	// collectors read later; nil hides none.
	Secrets *redact.List
	built   map[string]built[E]
	// Start is the function with which collectors start child processes; nil where nothing
	// else waits for children.
	Start func(func() (*os.Process, error)) (*os.Process, func(), error)
	// TargetMemory is what the targets of all collectors may take, in bytes; 0 for no bound.
	TargetMemory int64
	// Memory and Bodies bound what collectors keep and parse; nil for no bound.
	Memory *budget.Budget
	Bodies *budget.Bodies
}

// built is a collector and the configuration that it was made from.
type built[E Entry[E]] struct {
	cfg       E
	collector collectors.Collector
	memory    *budget.Account
}

// Collectors returns the collectors of the configuration that was committed last.
func (b *Builder[E]) Collectors() []collectors.Collector {
	var all []collectors.Collector
	for _, made := range b.built {
		all = append(all, made.collector)
	}
	return all
}

// Build makes the collectors of l. The builder changes only when commit is called, which
// is nil with an error. The error lists every collector that could not be made.
func (b *Builder[E]) Build(l *Loaded[E]) (cfg evaluator.Config, commit func(), err error) {
	next := map[string]built[E]{}
	cfg = evaluator.Config{
		Interval: time.Duration(l.Config.EvaluationInterval), Files: l.Rules,
		StalledAliveAfter: time.Duration(l.Config.Server.StalledAliveAfter), Metrics: map[string][]collectors.Metric{},
	}
	for _, name := range l.Config.StateNames() {
		s := l.Config.States[name]
		cfg.States = append(cfg.States, evaluator.StatePolicy{Name: name, NoData: rules.NoData(s.NoData), AtStart: evaluator.AtStart(s.AtStart)})
	}
	b.Secrets.Add(append(l.secretsOfFiles(), l.Secrets...)...)
	errs := l.TooManyTargets(b.TargetMemory)
	for _, i := range inOrderOfUse(l.Config.Collectors) {
		c := l.Config.Collectors[i]
		name, _, _ := c.Common()
		if next[name], err = b.collectorOf(c, next); err != nil {
			errs = append(errs, l.Document.Errorf(fmt.Sprintf("collectors[%d]", i), "collector %q: %s", name, redact.Text(l.unexpanded(err.Error()))))
		}
	}
	if len(errs) > 0 {
		if l.Needs != "" {
			errs = append(errs, errors.New(l.Needs))
		}
		return cfg, nil, errors.Join(errs...)
	}
	b.Secrets.Use(l.Secrets, l.Names)
	for _, c := range l.Config.Collectors {
		name, interval, timeout := c.Common()
		kindName, kind := c.Kind()
		_, forwards := kind.(collectors.Exporter)
		cfg.Metrics[name] = kind.Metrics(name)
		cfg.Sources = append(cfg.Sources, evaluator.Source{
			Name: name, Kind: kindName, External: kind.External(), Forwards: forwards,
			Interval: time.Duration(interval), Timeout: time.Duration(timeout),
			Collector: next[name].collector,
		})
	}
	return cfg, func() { b.replace(next) }, nil
}

// TooManyTargets returns the mistakes of collectors whose targets need more of the memory, in bytes, than
// the collectors before them leave. There are none if it is 0.
func (l *Loaded[E]) TooManyTargets(memory int64) (errs []error) {
	if memory == 0 {
		return nil
	}
	all := memory / targetMemory
	left := all
	for i, c := range l.Config.Collectors {
		key, kind := c.Kind()
		sized, ok := kind.(collectors.Sized)
		if !ok {
			continue
		}
		listed, found := sized.MaxTargets()
		if fits := left - int64(listed); int64(found) <= fits {
			left = fits - int64(found)
			continue
		}
		path, given, others := "discovery.limit", fmt.Sprintf("limit %d", found), all-left+int64(listed)
		if found == 0 {
			path, given, others = "targets", fmt.Sprintf("%d targets", listed), all-left
		}
		errs = append(errs, l.mistake(l.Document, fmt.Sprintf("collectors[%d].%s.%s", i, key, path),
			"%s: expected at most %d, as there are %d other targets, and the memory for targets, %s, holds %d of %s; a larger memory limit allows more",
			given, max(all-others, 0), others, collectors.Size(memory), all, collectors.Size(targetMemory)))
	}
	return errs
}

// replace takes over the collectors of a build and returns the memory of those that are no
// longer used.
func (b *Builder[E]) replace(next map[string]built[E]) {
	for name, old := range b.built {
		if next[name].memory != old.memory {
			old.memory.Close()
		}
	}
	b.built = next
}

// collectorOf makes a collector, or reuses the one that was made from the same
// configuration and uses the same other collectors.
func (b *Builder[E]) collectorOf(c E, next map[string]built[E]) (built[E], error) {
	name, interval, timeout := c.Common()
	_, kind := c.Kind()
	old, known := b.built[name]
	same := known && sameKind(old.cfg, c)
	if _, several := targetNames(c); several { // the collector times the checks itself
		_, oldInterval, oldTimeout := old.cfg.Common()
		same = same && oldInterval == interval && oldTimeout == timeout
	}
	for _, used := range kind.Uses() {
		same = same && next[used].collector == b.built[used].collector
	}
	if same {
		return built[E]{c, old.collector, old.memory}, nil
	}
	memory := b.Memory.Account()
	collector, err := kind.New(collectors.Env{
		Name:     name,
		Logger:   b.Logger.With("collector", name),
		Interval: time.Duration(interval),
		Timeout:  time.Duration(timeout),
		Peer:     func(name string) collectors.Collector { return next[name].collector },
		Start:    b.Start,
		Memory:   memory,
		Bodies:   b.Bodies,
		Secrets:  b.Secrets.Add,
	})
	if err != nil {
		return built[E]{}, err
	}
	return built[E]{c, collector, memory}, nil
}

// sameKind reports whether two entries have the same kind with the same configuration.
func sameKind[E Entry[E]](a, b E) bool {
	aName, aKind := a.Kind()
	bName, bKind := b.Kind()
	return aName == bName && reflect.DeepEqual(aKind, bKind)
}

// inOrderOfUse returns the indexes of all in an order in which collectors that use others
// come after them.
func inOrderOfUse[E Entry[E]](all []E) []int {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return len(uses(all[i])) - len(uses(all[j])) })
	return order
}

func uses[E Entry[E]](c E) []string {
	_, kind := c.Kind()
	return kind.Uses()
}
