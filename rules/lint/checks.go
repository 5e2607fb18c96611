package lint

import "github.com/vitals-health/vitals/rules"

// CodeInvalid is the code of a mistake without a code of its own.
const CodeInvalid = "V000"

// codeUnknownMetric is the code of a metric that nothing exports.
const codeUnknownMetric = "V003"

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
	// run is nil for mistakes that are found while the file is parsed. They cannot be
	// accepted.
	run func(*pass)
}

// checks returns all checks in the order of their codes. docs/lint.md explains each.
func checks() []check {
	return []check{
		{About{CodeInvalid, "invalid", Error, "A file is not a valid rule file or configuration."}, nil},
		{About{"V001", "alive-external", Error, "A rule of alive depends on something outside the host, which a restart does not fix."}, aliveExternal},
		{About{"V002", "shared-readiness", Warning, "A rule of ready depends on something that all replicas share: all of them fail at once."}, sharedReadiness},
		{About{codeUnknownMetric, "unknown-metric", Error, "A selector names a metric that nothing exports."}, unknownMetric},
		{About{"V004", "unknown-label", Error, "A selector names a label that the metric does not have."}, unknownLabel},
		{About{"V005", "unknown-label-value", Error, "A selector names a label value that cannot occur."}, unknownValue},
		{About{"V006", "vanishing-series", Warning, "A comparison returns nothing while its series are absent."}, vanishingSeries},
		{About{"V007", "state-without-rules", Warning, "A state has no rule that can decide it."}, stateWithoutRules},
		{About{"V008", "short-for", Warning, "A rule waits for less than two collections of its collector."}, shortFor},
		{About{"V009", "short-range", Warning, "A range holds too few samples."}, shortRange},
		{About{rules.CodeTopLevelBool, "top-level-bool", Error, "A comparison with bool at the top of an alert always fires."}, nil},
		{About{"V011", "never-fires", Warning, "A rule can never fire."}, neverFires},
		{About{"V012", "always-fires", Error, "A rule fires whatever is measured."}, alwaysFires},
		{About{"V013", "rate-of-gauge", Error, "A function is used with the wrong type of metric."}, rateOfGauge},
		{About{"V014", "counter-compared", Warning, "A counter is compared: its value is the total since the start, not the current condition."}, counterCompared},
		{About{"V015", "regex-matches-all", Warning, "A regular expression matches everything."}, regexMatchesAll},
		{About{rules.CodeDuplicate, "duplicate-rule", Error, "The same rule exists twice."}, duplicateRecording},
		{About{"V017", "shadowed-rule", Warning, "A rule never fires without another rule of its state."}, shadowedRule},
		{About{rules.CodeUnknownCause, "unknown-cause", Error, "A rule depends on an alert that does not exist."}, nil},
		{About{rules.CodeCauseCycle, "cause-cycle", Error, "The dependencies of rules form a cycle."}, nil},
		{About{"V020", "alive-before-ready", Warning, "A rule of alive fails before the rule of ready over the same series."}, aliveBeforeReady},
		{About{"V021", "no-summary", Warning, "A rule with a state has no summary."}, noSummary},
		{About{"V022", "misspelt-key", Warning, "A label or an annotation looks like a misspelt key of Vitals."}, misspelt},
		{About{"V023", "value-in-label", Warning, "A label contains the value, so that each change creates a new alert."}, valueInLabel},
		{About{"V024", "template-label", Warning, "A template uses a label that the result cannot have."}, templateLabel},
		{About{"V025", "second-document", Warning, "The rules are in a document that Prometheus does not read."}, secondDocument},
		{About{"V030", "probe-patience", Warning, "The failure threshold of a probe does not fit the rules."}, probeCheck},
		{About{"V031", "probe-timeout", Warning, "The timeout of a probe does not fit its period or its command."}, probeCheck},
		{About{"V032", "probe-path", Error, "A probe requests a path, a state or a rule that does not exist."}, probeCheck},
		{About{"V033", "probe-port", Error, "A probe does not reach Vitals."}, probeCheck},
		{About{"V034", "probe-vacuous", Error, "A probe passes whatever the verdict is."}, probeCheck},
		{About{"V035", "probe-wrong-state", Error, "A probe requests the wrong state."}, probeCheck},
		{About{"V036", "probe-missing", Info, "A probe is missing."}, probeCheck},
		{About{"V090", "acceptance", Warning, "A comment accepts no finding, or gives no reason."}, accept}, // the last one, as it uses the findings of the others
	}
}

// Checks returns a description of every check, in the order of the codes. docs/lint.md
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
