package evaluator

import (
	"cmp"
	"log/slog"
	"slices"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/budget"
	"github.com/vitals-health/vitals/internal/redact"
	"github.com/vitals-health/vitals/internal/states"
	"github.com/vitals-health/vitals/rules"
)

// Config configures the evaluator; a reload replaces it as a whole.
type Config struct {
	// Interval is the time between two evaluations when nothing else causes one; 1 s if
	// zero.
	Interval time.Duration
	// StalledAliveAfter is the age of a snapshot beyond which alive fails as well; 60 s, and
	// at least twice StalledAfter, if zero. It has no effect below StalledAfter.
	StalledAliveAfter time.Duration
	// States are in the order in which they are shown. Ready, alive and started are
	// added in front where they are missing.
	States []StatePolicy
	Files  []*rules.File
	// Sources are the collectors. One whose Collector is the same value as before a
	// reload keeps running, if need be with other times. One of the same name and kind
	// as one before inherits the last samples of that until its first collection ends.
	Sources []Source
	// Metrics are what each collector can export with its configuration, by its name. A metric
	// without an entry may have any labels.
	Metrics map[string][]collectors.Metric
	// Invalid is why there is no valid configuration; nil if this is one. Every state but
	// alive and started then fails with it. It must not contain secrets.
	Invalid error
}

// StatePolicy is a state and its policies for missing evidence.
type StatePolicy struct {
	Name string
	// NoData is what unknown means for rules without a policy of their own.
	NoData rules.NoData
	// AtStart is what a pending critical rule means that has not been OK yet.
	AtStart AtStart
}

// or returns p with the policies of other where it has none.
func (p StatePolicy) or(other StatePolicy) StatePolicy {
	return StatePolicy{p.Name, cmp.Or(p.NoData, other.NoData), cmp.Or(p.AtStart, other.AtStart)}
}

// Source is one collector and its times.
type Source struct {
	Name     string
	Kind     string
	External bool
	// Forwards is set if the collector exports metrics of another program, which it
	// describes only while that program answers.
	Forwards bool
	Interval time.Duration
	Timeout  time.Duration
	// Collector must be comparable: a pointer.
	Collector collectors.Collector
}

// Options are what stays the same over reloads.
type Options struct {
	// Logger logs every change once; nil logs nothing.
	Logger *slog.Logger
	// Observe is called with every snapshot, in their order, before the next evaluation. It
	// must not block. Nil observes nothing.
	Observe func(*Snapshot)
	// Secrets are hidden in all that collectors return; nil hides none by their values.
	Secrets *redact.List
	// Overrides are those of before the start. Those that have ended, and those of a rule or
	// state that does not exist, end in the first snapshot.
	Overrides []Override
	// MaxSamples bounds the samples that one query may load; 5,000,000 if zero.
	MaxSamples int
	// ExternalLabels and ExternalURL are $externalLabels and $externalURL in templates.
	ExternalLabels map[string]string
	ExternalURL    string
	// Memory bounds the series and alerts that are kept; 1 GiB if nil.
	Memory *budget.Budget
}

// The names of the states that always exist.
const (
	Ready   = states.Ready
	Alive   = states.Alive
	Started = states.Started
)

const (
	defaultInterval   = time.Second
	defaultMaxSamples = 5_000_000
	defaultMemory     = 1 << 30
	// minLookback is Prometheus' default: how old the last sample of a series may
	// be. A series that ends is marked stale long before.
	minLookback = 5 * time.Minute
	// stallIntervals and minStall are the stall guard: 3 evaluation intervals, at least 5 s.
	stallIntervals = 3
	minStall       = 5 * time.Second
	// defaultStalledAlive is longer than a kubelet needs to restart the container of
	// Vitals: 5 s, three failures every 10 s, and the start.
	defaultStalledAlive = time.Minute
)

// StalledAfter returns the age beyond which a snapshot is stalled at an evaluation
// interval.
func StalledAfter(interval time.Duration) time.Duration {
	return max(stallIntervals*interval, minStall)
}

// StalledAliveAfter returns the age beyond which alive fails as well, where no configuration
// sets one.
func StalledAliveAfter(interval time.Duration) time.Duration {
	return max(defaultStalledAlive, 2*StalledAfter(interval))
}

// withDefaults sets what the configuration left out.
func (c Config) withDefaults() Config {
	if c.Interval <= 0 {
		c.Interval = defaultInterval
	}
	if c.StalledAliveAfter <= 0 {
		c.StalledAliveAfter = StalledAliveAfter(c.Interval)
	}
	states := []StatePolicy{
		{Ready, rules.NoDataFail, AtStartFail}, {Alive, rules.NoDataPass, AtStartPass}, {Started, rules.NoDataFail, AtStartFail},
	}
	for _, s := range c.States {
		i := slices.IndexFunc(states, func(known StatePolicy) bool { return known.Name == s.Name })
		if i < 0 {
			states = append(states, s.or(StatePolicy{NoData: rules.NoDataFail, AtStart: AtStartFail}))
			continue
		}
		states[i] = s.or(states[i])
	}
	c.States = states
	return c
}

// lookback returns how old the last sample of a series may be: three of the longest
// collection intervals, so that a slow collector's values do not expire between two
// collections.
func (c Config) lookback() time.Duration {
	longest := minLookback
	for _, s := range c.Sources {
		longest = max(longest, 3*s.Interval)
	}
	return longest
}
