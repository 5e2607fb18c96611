// Package conditions checks what the expressions of rules decide: when they are true, how soon
// and of how many samples, and whether another rule decides the same.
package conditions

import "github.com/vitals-health/vitals/rules/lint/check"

// Checks returns the checks of the package. docs/reference/lint.md explains each.
func Checks() []check.Check {
	return []check.Check{
		check.OfRule("V008", "short-for", check.Warning, "A rule waits for less than two collections of its collector.", shortFor),
		check.OfRule("V009", "short-range", check.Warning, "A range holds too few samples.", shortRange),
		check.OfRule("V011", "never-fires", check.Warning, "A rule can never fire.", neverFires),
		check.OfRule("V012", "always-fires", check.Error, "A rule fires whatever is measured.", alwaysFires),
		check.OfRule("V013", "rate-of-gauge", check.Error, "A function is used with the wrong type of metric.", rateOfGauge),
		check.OfAll("V014", "counter-compared", check.Warning, "A counter is compared: its value is the total since the start, not the current condition.", counterCompared),
		check.OfAll("V017", "shadowed-rule", check.Warning, "A rule never fires without another rule of its state.", shadowedRule),
		check.OfAll("V020", "alive-before-ready", check.Warning, "A rule of alive fails before the rule of ready over the same series.", aliveBeforeReady),
		check.OfRule("V026", "quantile-without-le", check.Error, "A quantile of a histogram has no buckets, because the label le is dropped.", quantileWithoutBuckets),
		check.OfRule("V041", "sum-of-ratios", check.Warning, "Ratios are summed: the ratio of the whole is that of two sums.", sumOfRatios),
		check.OfRule("V043", "changing-choice", check.Warning, "The labels of an alert come from topk or bottomk, and change.", changingChoice),
		check.OfRule("V044", "inverted-sense", check.Error, "A rule of a state fires while all is well.", invertedSense),
	}
}
