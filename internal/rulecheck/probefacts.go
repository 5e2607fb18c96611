package rulecheck

import (
	"cmp"
	"time"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/probes"
	"github.com/vitals-health/vitals/rules/lint"
)

// ProbeFacts returns the times of a configuration that probes have to fit. It must be valid.
func ProbeFacts(l *config.Loaded) probes.Facts {
	interval := time.Duration(l.Config.EvaluationInterval)
	f := probes.Facts{
		Interval: interval, StalledAfter: evaluator.StalledAfter(interval),
		StalledAliveAfter: cmp.Or(time.Duration(l.Config.Server.StalledAliveAfter), evaluator.StalledAliveAfter(interval)),
	}
	v := Vocabulary(l)
	for _, c := range l.Config.Collectors {
		timeout := time.Duration(c.Timeout)
		f.FirstResult = max(f.FirstResult, timeout)
		for i := range v.Metrics {
			if v.Metrics[i].Collector == c.Name {
				v.Metrics[i].Interval += timeout
			}
		}
	}
	for _, r := range lint.Waits(l.Rules, v) {
		f.Rules = append(f.Rules, probes.Rule{Name: r.Name, State: r.State, For: r.For, Collection: r.Interval})
	}
	return f
}
