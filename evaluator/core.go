package evaluator

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"math"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/vitals-health/vitals/evaluator/internal/evidence"
	"github.com/vitals-health/vitals/internal/budget"
	"github.com/vitals-health/vitals/internal/expand"
	"github.com/vitals-health/vitals/internal/promexpr"
	"github.com/vitals-health/vitals/internal/window"
	"github.com/vitals-health/vitals/rules"
)

// core is the evaluator without its clock and goroutines: everything that changes a
// verdict goes through its methods, which take the time as an argument. It is not safe
// for concurrent use; the loop owns it.
type core struct {
	opts   Options
	cfg    Config
	window *window.Window
	// histograms is the window with native histograms, which only a simulation has; nil
	// in the daemon.
	histograms *window.Histograms
	query      querier
	absent     evidence.Search

	groups  []*group
	sources []*source
	states  []*state
	own     *ownMetrics
	// simulated are the options of a simulation; nil in the daemon.
	simulated *SimulationOptions
	// appended are the last samples that a simulation was given; empty in the daemon.
	appended appended
	// alertSeries is set if an expression selects the series of alerts.
	alertSeries bool
	// allCollected is set if every collector had finished a collection before the last
	// evaluation.
	allCollected bool
	// version changes with the configuration, when the clock steps and when last values
	// may have expired.
	version uint64
	// timestamped is set once a sample had an explicit timestamp.
	timestamped bool
	// lastSamplesExpired is the result of samplesExpired in the previous evaluation.
	lastSamplesExpired bool

	// clock measures how long queries take; nil in a simulation.
	clock func() time.Time

	started time.Time
	// at is when the rules were evaluated last.
	at           time.Time
	generation   uint64
	reload       Reload
	overrides    overrides
	shuttingDown bool
}

// newCore makes a core with the configuration cfg and no samples.
func newCore(cfg Config, opts Options, at time.Time) (*core, error) {
	return newCoreFor(nil, cfg, opts, at)
}

func newCoreFor(simulated *SimulationOptions, cfg Config, opts Options, at time.Time) (*core, error) {
	if opts.MaxSamples <= 0 {
		opts.MaxSamples = defaultMaxSamples
	}
	if opts.Memory == nil {
		opts.Memory = budget.New(defaultMemory)
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	c := &core{
		opts: opts, simulated: simulated, window: window.NewWithin(opts.Memory),
		started: at, overrides: overrides{all: opts.Overrides[:min(len(opts.Overrides), maxOverrides)]},
	}
	if simulated != nil {
		c.histograms = window.WithHistograms(c.window)
	}
	if err := c.apply(cfg, at); err != nil {
		return c, err
	}
	if cfg.Invalid == nil {
		c.dropOverrides()
	}
	return c, nil
}

// apply replaces the configuration. Rules that stay the same keep their timers, sources
// that stay the same keep their series. On an error nothing has changed.
func (c *core) apply(cfg Config, at time.Time) error {
	cfg = cfg.withDefaults()
	groups, err := c.newGroups(cfg, at)
	if err != nil {
		return err
	}
	c.cfg, c.groups = cfg, groups
	c.replaceSources(at)
	c.replaceStates(at)

	lookback := cfg.lookback()
	c.query = querier{engine: c.newEngine(lookback), samples: c.window}
	c.absent = evidence.Search{History: c.window, Lookback: lookback}
	if c.histograms != nil {
		c.query.samples, c.absent.History = c.histograms, c.histograms
	}
	c.window.SetLookback(lookback)
	c.retain(lookback)
	c.replaceAlertSeries(at)
	c.own = newOwnMetrics(c)
	c.version++
	c.markCacheable()
	c.reloaded(cfg.Invalid, at)
	c.markSelected()
	return nil
}

// retain has the window keep the samples that the expressions need, and in a simulation
// all, as a query may be about any time.
func (c *core) retain(lookback time.Duration) {
	if c.simulated != nil {
		c.window.SetRetention(nil, math.MaxInt64)
		return
	}
	perName, rest := rules.Retention(c.expressions(), lookback)
	for name, d := range perName {
		perName[name] = max(d, rest)
	}
	c.window.SetRetention(perName, rest)
}

// expressions returns the expressions of all rules and templates, for the window's
// retention. A group with a query_offset needs as much history as a subquery of that
// range.
func (c *core) expressions() []parser.Expr {
	var all []parser.Expr
	for g, e := range c.each() {
		ast := e.rule().AST
		if g.QueryOffset > 0 {
			ast = &parser.SubqueryExpr{Expr: ast, Range: g.QueryOffset}
		}
		all = append(all, ast)
		if e.alerting != nil {
			all = append(all, e.alerting.queries()...)
		}
	}
	return all
}

// newEngine makes Prometheus' engine with the options of its default configuration. A
// query may take an evaluation interval, at least a second: longer, and the stall guard
// would report the evaluator as stalled. A simulation has no stall guard, and the step
// of its subqueries is exactly the interval.
func (c *core) newEngine(lookback time.Duration) *promql.Engine {
	timeout := max(c.cfg.Interval, time.Second)
	if c.simulated != nil {
		timeout = simulatedTimeout
	}
	step := c.step()
	return promql.NewEngine(promql.EngineOpts{
		MaxSamples:               c.opts.MaxSamples,
		Timeout:                  timeout,
		LookbackDelta:            lookback,
		NoStepSubqueryIntervalFn: func(int64) int64 { return step.Milliseconds() },
		EnableAtModifier:         true,
		EnableNegativeOffset:     true,
		Parser:                   promexpr.NewParser(),
	})
}

// step returns the step of a subquery that sets none.
func (c *core) step() time.Duration {
	if c.simulated != nil {
		return c.cfg.Interval
	}
	return SubqueryStep(c.cfg.Interval)
}

// SubqueryStep returns the step of a subquery that sets none, for an evaluation interval.
func SubqueryStep(interval time.Duration) time.Duration { return max(interval, time.Second) }

func (e evaluated) rule() rules.Rule {
	if e.recording != nil {
		return e.recording.rule
	}
	return e.alerting.rule
}

// each returns all rules with their groups, in the order of their files.
func (c *core) each() iter.Seq2[*group, evaluated] {
	return func(yield func(*group, evaluated) bool) {
		for _, g := range c.groups {
			for _, e := range g.rules {
				if !yield(g, e) {
					return
				}
			}
		}
	}
}

// evaluate evaluates all rules as of at. Groups' own intervals count from the first
// evaluation after every collector has finished a collection: earlier results may be
// due to missing samples.
func (c *core) evaluate(ctx context.Context, at time.Time) {
	c.at = at
	c.expireInherited(at)
	before := c.lastSamplesExpired
	if c.lastSamplesExpired = c.samplesExpired(at); c.lastSamplesExpired || before { // a value that comes back may be unchanged
		c.version++
	}
	allCollected := c.allCollected
	c.allCollected = c.allRan()
	for _, g := range c.groups {
		if allCollected && !c.everyGroup() && !g.due(at, c.cfg.Interval/10) {
			continue
		}
		g.last = at
		first := g.first
		g.first = nil
		for _, e := range g.rules {
			c.evaluateRule(ctx, g, e, at, first)
		}
	}
}

// evaluateRule evaluates a rule as of at. first are the sources that have delivered their
// first samples since the group's last evaluation.
func (c *core) evaluateRule(ctx context.Context, g *group, e evaluated, at time.Time, first []*source) {
	asOf := at.Add(-g.QueryOffset)
	if e.recording != nil {
		took := c.stopwatch()
		result, err := c.query.instant(ctx, e.recording.rule.Expr, asOf)
		e.recording.took = took()
		c.record(g, e.recording, asOf, result, err)
		return
	}
	a := e.alerting
	var err error
	now := version{c.version, c.window.Changed(a.metrics)}
	if !a.cacheable || a.cached.version != now {
		a.cached, err = c.queryRule(ctx, a.rule, asOf, now)
	}
	if err == nil {
		err = a.evaluate(ctx, at, a.cached.result, c.firstFor(a, first), c.templateContext())
	}
	if err == nil && a.dynamic {
		a.annotateSeen(ctx, at, c.shownAlerts(), c.templateContext())
	}
	if err == nil && c.alertSeries {
		err = c.writeAlerts(a, asOf)
	}
	a.conclude(at, a.cached.missing, err)
}

// queryRule evaluates an alerting rule's expression as of asOf. The result names the
// selector that matched no live series, if that is why it is empty.
func (c *core) queryRule(ctx context.Context, r rules.Rule, asOf time.Time, now version) (cachedResult, error) {
	took := c.stopwatch()
	result, err := c.query.instant(ctx, r.Expr, asOf)
	if err != nil {
		return cachedResult{took: took()}, err
	}
	k := cachedResult{version: now, result: result, took: took()}
	if len(result) == 0 {
		if selector := c.absent.Missing(r.AST, asOf.UnixMilli()); selector != "" {
			k.missing = "no data for " + bound(selector)
		}
	}
	return k, nil
}

// record takes over the result of a recording rule. After an error the rule's series
// end; only the first error and the first success after it are logged.
func (c *core) record(g *group, r *recording, asOf time.Time, result promql.Vector, err error) {
	if err == nil {
		err = r.write(asOf, g.Limit, result, c.appended)
	}
	if err != nil {
		r.source.Stale(asOf.UnixMilli())
	}
	if (err != nil) != (r.err != nil) {
		if err != nil {
			c.opts.Logger.Warn("recording rule fails", "group", g.Name, "rule", r.rule.Record, "err", bound(err.Error()))
		} else {
			c.opts.Logger.Info("recording rule succeeds", "group", g.Name, "rule", r.rule.Record)
		}
	}
	r.err = err
}

// templateQuery is the function query of templates. A group's query_offset does not
// apply to it, as in Prometheus.
func (c *core) templateQuery(ctx context.Context, expr string, at time.Time) ([]expand.Sample, error) {
	if err := c.bounded(expr); err != nil {
		return nil, err
	}
	vector, err := c.query.instant(ctx, expr, at)
	if err != nil {
		return nil, err
	}
	samples := make([]expand.Sample, 0, len(vector))
	for _, s := range vector {
		samples = append(samples, expand.Sample{Labels: s.Metric.Map(), Value: s.F, Histogram: s.H})
	}
	return samples, nil
}

// bounded returns an error if an expression that a template composed costs too much. Those
// of rules and the constants of templates are checked when they are loaded.
func (c *core) bounded(text string) error {
	expr, err := promexpr.Parse(text)
	if err != nil {
		return err
	}
	if found := rules.Excesses(expr, c.step()); len(found) > 0 {
		return errors.New(found[0].Text)
	}
	return nil
}

// templateContext returns the context of all templates.
func (c *core) templateContext() templateContext {
	s := templateContext{query: c.templateQuery, externalLabels: c.opts.ExternalLabels, externalURL: c.opts.ExternalURL}
	if c.simulated != nil {
		s.externalLabels, s.externalURL = c.simulated.ExternalLabels, c.simulated.ExternalURL
	}
	return s
}

// shift moves all times by d, because the clock stepped by d: history, timers and ages
// stay the same.
func (c *core) shift(d time.Duration) {
	c.window.Shift(d)
	c.version++
	c.overrides.shift(d)
	c.started, c.at = c.started.Add(d), shifted(c.at, d)
	c.reload.At, c.reload.LastSuccess = shifted(c.reload.At, d), shifted(c.reload.LastSuccess, d)
	for _, g := range c.groups {
		g.last = shifted(g.last, d)
		for _, e := range g.rules {
			if e.alerting != nil {
				e.alerting.shift(d)
			}
		}
	}
	for _, s := range c.states {
		s.since = s.since.Add(d)
	}
	for _, s := range c.sources {
		s.shift(d)
	}
	c.own.shift(d, c.at, c.hides())
}
