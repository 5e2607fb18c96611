package lint

import "github.com/vitals-health/vitals/rules"

// CodeInvalid is the code of a mistake without a code of its own.
const CodeInvalid = "V000"

// codeUnknownMetric is the code of a metric that nothing exports.
const codeUnknownMetric = "V003"

// codeVanishing is the code of a comparison whose series may be absent.
const codeVanishing = "V006"

// About describes a check.
type About struct {
	// Code is never changed or used again.
	Code, Name string
	// Severity is the severity of most of its findings.
	Severity Severity
	// Text describes in a sentence what the check finds.
	Text string
}

// check is a check with its implementation.
type check struct {
	About
	// rule checks one valid rule, and run everything at once. Both are nil for mistakes
	// that are found while the file is parsed. They cannot be accepted.
	rule func(*pass, *subject)
	run  func(*pass)
}

// checks returns all checks in the order of their codes. docs/reference/lint.md explains each.
func checks() []check {
	return []check{
		{About: About{CodeInvalid, "invalid", Error, "A file is not a valid rule file or configuration."}},
		{About: About{"V001", "alive-external", Error, "A rule of alive depends on something outside the host, which a restart does not fix."}, rule: aliveExternal},
		{About: About{"V002", "shared-readiness", Warning, "A rule of ready depends on something that all replicas share: all of them fail at once."}, rule: sharedReadiness},
		{About: About{codeUnknownMetric, "unknown-metric", Error, "A selector names a metric that nothing exports."}, run: unknownMetric},
		{About: About{"V004", "unknown-label", Error, "A selector names a label that the metric does not have."}, rule: unknownLabel},
		{About: About{"V005", "unknown-label-value", Error, "A selector names a label value that cannot occur."}, rule: unknownValue},
		{About: About{codeVanishing, "vanishing-series", Warning, "A comparison returns nothing while its series are absent."}, run: vanishingSeries},
		{About: About{"V007", "state-without-rules", Warning, "A state has no rule that can decide it."}, run: stateWithoutRules},
		{About: About{"V008", "short-for", Warning, "A rule waits for less than two collections of its collector."}, rule: shortFor},
		{About: About{"V009", "short-range", Warning, "A range holds too few samples."}, rule: shortRange},
		{About: About{rules.CodeTopLevelBool, "top-level-bool", Error, "A comparison with bool at the top of an alert always fires."}, rule: ordinaryBool},
		{About: About{"V011", "never-fires", Warning, "A rule can never fire."}, rule: neverFires},
		{About: About{"V012", "always-fires", Error, "A rule fires whatever is measured."}, rule: alwaysFires},
		{About: About{"V013", "rate-of-gauge", Error, "A function is used with the wrong type of metric."}, rule: rateOfGauge},
		{About: About{"V014", "counter-compared", Warning, "A counter is compared: its value is the total since the start, not the current condition."}, run: counterCompared},
		{About: About{"V015", "regex-matches-all", Warning, "A regular expression matches everything."}, rule: regexMatchesAll},
		{About: About{rules.CodeDuplicate, "duplicate-rule", Error, "The same rule exists twice."}, run: duplicates},
		{About: About{"V017", "shadowed-rule", Warning, "A rule never fires without another rule of its state."}, run: shadowedRule},
		{About: About{rules.CodeUnknownCause, "unknown-cause", Error, "A rule depends on an alert that does not exist."}, run: ordinary},
		{About: About{rules.CodeCauseCycle, "cause-cycle", Error, "The dependencies of rules form a cycle."}, run: ordinary},
		{About: About{"V020", "alive-before-ready", Warning, "A rule of alive fails before the rule of ready over the same series."}, rule: aliveBeforeReady},
		{About: About{"V021", "no-summary", Warning, "A rule with a state has no summary."}, rule: noSummary},
		{About: About{"V022", "misspelt-key", Warning, "A label or an annotation looks like a misspelt key of Vitals."}, rule: misspelt},
		{About: About{"V023", "value-in-label", Warning, "A label contains the value, so that each change creates a new alert."}, rule: valueInLabel},
		{About: About{"V024", "template-label", Warning, "A template uses a label that the result cannot have."}, rule: templateLabel},
		{About: About{"V025", "second-document", Warning, "The rules are in a document that Prometheus does not read."}, run: secondDocument},
		{About: About{"V026", "quantile-without-le", Error, "A quantile of a histogram has no buckets, because the label le is dropped."}, rule: quantileWithoutBuckets},
		{About: About{"V029", "alive-without-evidence", Warning, "No rule of alive can have data: alive passes whatever happens."}, run: aliveWithoutEvidence},
		{About: About{"V030", "probe-patience", Warning, "The failure threshold of a probe does not fit the rules."}, run: probeCheck},
		{About: About{"V031", "probe-timeout", Warning, "The timeout of a probe does not fit its period or its command."}, run: probeCheck},
		{About: About{"V032", "probe-path", Error, "A probe requests a path, a state or a rule that does not exist."}, run: probeCheck},
		{About: About{"V033", "probe-port", Error, "A probe does not reach Vitals."}, run: probeCheck},
		{About: About{"V034", "probe-vacuous", Error, "A probe passes whatever the verdict is."}, run: probeCheck},
		{About: About{"V035", "probe-wrong-state", Error, "A probe requests the wrong state."}, run: probeCheck},
		{About: About{"V036", "probe-missing", Info, "A probe is missing."}, run: probeCheck},
		{About: About{"V037", "probe-fallback-port", Warning, "Probes use a port that Vitals does not listen on while its configuration is invalid."}, run: probeCheck},
		{About: About{"V038", "probe-absence", Warning, "A restart of the workload depends on the presence of Vitals."}, run: probeCheck},
		{About: About{"V040", "template-fails", Warning, "A template fails with any data, or its query is invalid."}, rule: templateFails},
		{About: About{"V041", "sum-of-ratios", Warning, "Ratios are summed: the ratio of the whole is that of two sums."}, rule: sumOfRatios},
		{About: About{"V042", "long-interval", Warning, "A group is evaluated so rarely that its results have gaps."}, run: longInterval},
		{About: About{"V043", "changing-choice", Warning, "The labels of an alert come from topk or bottomk, and change."}, rule: changingChoice},
		{About: About{"V044", "inverted-sense", Error, "A rule of a state fires while all is well."}, rule: invertedSense},
		{About: About{"V045", "reserved-name", Error, "A recording rule uses the prefix of the metrics of Vitals."}, rule: reservedName},
		{About: About{"V046", "wrong-label-function", Error, "A function over labels has an invalid regular expression or label name."}, rule: wrongLabels},
		{About: About{"V090", "acceptance", Warning, "A comment accepts no finding, or gives no reason."}, run: accept}, // the last one, as it uses the findings of the others
	}
}

// Checks returns a description of every check, in the order of the codes. docs/reference/lint.md
// explains them.
func Checks() []About {
	var all []About
	for _, c := range checks() {
		all = append(all, c.About)
	}
	return all
}

// Codes returns the codes of all checks with their names.
func Codes() map[string]string {
	codes := map[string]string{}
	for _, c := range checks() {
		codes[c.Code] = c.Name
	}
	return codes
}
