package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"reflect"
	"slices"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/redact"
	"github.com/vitals-health/vitals/rules"
)

// builder turns configurations into what the evaluator works on. It remembers the
// collectors of the last one, so that a reload keeps those that did not change.
type builder struct {
	logger *slog.Logger
	built  map[string]built
	// start is what collectors start children by; nil where nobody else waits for children.
	start func(func() (*os.Process, error)) (*os.Process, func(), error)
}

// built is a collector and the configuration that it was made from.
type built struct {
	cfg       kinds.Config
	collector collectors.Collector
}

// build makes the collectors of l. The builder changes only when all of them could
// be made, and commit is called. The error names every one that could not.
func (b *builder) build(l *loaded) (cfg evaluator.Config, commit func(), err error) {
	next := map[string]built{}
	cfg = evaluator.Config{Interval: time.Duration(l.cfg.EvaluationInterval), Files: l.files}
	for _, name := range l.cfg.stateNames() {
		cfg.States = append(cfg.States, evaluator.StatePolicy{Name: name, NoData: rules.NoData(l.cfg.States[name].NoData)})
	}
	var errs []error
	for _, i := range inOrderOfUse(l.cfg.Collectors) {
		c := l.cfg.Collectors[i]
		if next[c.Name], err = b.collector(c, next); err != nil {
			errs = append(errs, l.doc.Errorf(fmt.Sprintf("collectors[%d]", i), "collector %q: %s", c.Name, redact.Text(err.Error())))
		}
	}
	if len(errs) > 0 {
		if l.needs != "" {
			errs = append(errs, errors.New(l.needs))
		}
		return cfg, nil, errors.Join(errs...)
	}
	for _, c := range l.cfg.Collectors {
		kindName, kind := c.Kind()
		cfg.Sources = append(cfg.Sources, evaluator.Source{
			Name: c.Name, Kind: kindName, External: kind.External(),
			Interval: time.Duration(c.Interval), Timeout: time.Duration(c.Timeout),
			Collector: next[c.Name].collector,
		})
	}
	return cfg, func() { b.built = next }, nil
}

// collector makes a collector, or takes over the one that was made from the same
// configuration and from the same others.
func (b *builder) collector(c kinds.Config, next map[string]built) (built, error) {
	_, kind := c.Kind()
	old, known := b.built[c.Name]
	same := known && reflect.DeepEqual(old.cfg.Kinds, c.Kinds)
	for _, name := range kind.Uses() {
		same = same && next[name].collector == b.built[name].collector
	}
	if same {
		return built{c, old.collector}, nil
	}
	collector, err := kind.New(collectors.Env{
		Name:   c.Name,
		Logger: b.logger.With("collector", c.Name),
		Peer:   func(name string) collectors.Collector { return next[name].collector },
		Start:  b.start,
	})
	if err != nil {
		return built{}, err
	}
	return built{c, collector}, nil
}

// inOrderOfUse returns the indexes of all, those that use others behind them.
func inOrderOfUse(all []kinds.Config) []int {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return len(uses(all[i])) - len(uses(all[j])) })
	return order
}

func uses(c kinds.Config) []string {
	_, kind := c.Kind()
	return kind.Uses()
}
