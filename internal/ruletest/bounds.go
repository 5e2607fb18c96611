package ruletest

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/internal/strictyaml"
)

// The bounds of one test file. A file of a stranger names its mistake in moments, and a day in
// seconds, 86,400 points and evaluations, is well below them.
const (
	// maxPoints bounds the points of all input series: 115 of a day in seconds. A point needs
	// 24 bytes.
	maxPoints = 10_000_000
	// maxSeriesPoints bounds those of one series: eleven days in seconds.
	maxSeriesPoints = 1_000_000
	// maxEvaluations bounds the evaluations and restarts of all tests: eleven days in seconds.
	maxEvaluations = 1_000_000
	// maxRuleEvaluations bounds the evaluations of all rules: each takes microseconds.
	maxRuleEvaluations = 100_000_000
	// maxComparisons bounds how often an expectation is compared with the time of an
	// evaluation: each takes a nanosecond.
	maxComparisons = 1_000_000_000
)

// repeated matches the count of repetitions in the notation of series, as in 1+2x30.
var repeated = regexp.MustCompile(`x[ \t]*([0-9]+)`)

// pointsOf returns the number of points of the values of a series, or more than
// maxSeriesPoints. It is at least what the parser makes of them.
func pointsOf(values string) int {
	n := len(strings.Fields(values))
	for _, match := range repeated.FindAllStringSubmatch(values, -1) {
		times, err := strconv.Atoi(match[1])
		if err != nil || times > maxSeriesPoints {
			return maxSeriesPoints + 1
		}
		if n += times; n > maxSeriesPoints {
			break
		}
	}
	return n
}

// withinBounds reports whether the bounds allow what the tests cost, before they cost it. It
// reports the first excess.
func (r *reader) withinBounds(f *file, tests []rawTest) bool {
	points, evaluations, comparisons, rules := 0, int64(0), int64(0), f.ruleCount()
	for i, t := range tests {
		path := strictyaml.PathIndex("tests", i)
		for j, in := range t.InputSeries {
			at := strictyaml.PathIndex(path+".input_series", j) + ".values"
			values := in.Values
			if _, err := r.promql.ParseMetric(in.Series); err != nil {
				values = in.Series + " " + in.Values // it may contain values
			}
			n := pointsOf(values)
			if n > maxSeriesPoints {
				r.fail(at, "series of more than %d points, expected at most as many: repeat values fewer times, or give the test a longer interval", maxSeriesPoints)
				return false
			}
			if points += n; points > maxPoints {
				r.fail(at, "input series of more than %d points in the file, expected at most as many: split the file, or give longer intervals", maxPoints)
				return false
			}
		}
		at, last := lastExpectation(path, t)
		here := int64(last/f.interval) + int64(len(t.Restarts)) + 1
		evaluations += here
		if evaluations > maxEvaluations {
			r.fail(at, "the tests up to this time have %d evaluations of the interval %s, expected at most %d: give an earlier eval_time, a longer evaluation_interval, or split the file",
				evaluations, model.Duration(f.interval), maxEvaluations)
			return false
		}
		comparisons += here * int64(len(t.AlertRuleTest)+len(t.PromqlExprTest)+len(t.StateTest))
		if comparisons > maxComparisons {
			r.fail(path, "the tests up to this one have %d expectations times evaluations, expected at most %d: split the file, or give a longer evaluation_interval", comparisons, maxComparisons)
			return false
		}
		if evaluations*rules > maxRuleEvaluations {
			r.fail(at, "the tests up to this time have %d evaluations of %d rules, expected at most %d evaluations of a rule: give fewer rule_files, an earlier eval_time or a longer evaluation_interval",
				evaluations, rules, maxRuleEvaluations)
			return false
		}
	}
	return true
}

// ruleCount returns the number of rules of all files.
func (f *file) ruleCount() (n int64) {
	for _, rules := range f.rules {
		for _, g := range rules.Groups {
			n += int64(len(g.Rules))
		}
	}
	return n
}

// lastExpectation returns the time of a test's last expectation and its path.
func lastExpectation(path string, t rawTest) (at string, last time.Duration) {
	at = path
	take := func(list string, i int, t model.Duration) {
		if time.Duration(t) > last {
			at, last = strictyaml.PathIndex(path+"."+list, i)+".eval_time", time.Duration(t)
		}
	}
	for i, t := range t.AlertRuleTest {
		take("alert_rule_test", i, t.EvalTime)
	}
	for i, t := range t.PromqlExprTest {
		take("promql_expr_test", i, t.EvalTime)
	}
	for i, t := range t.StateTest {
		take("state_test", i, t.EvalTime)
	}
	return at, last
}
