package lint

import "github.com/vitals-health/vitals/rules"

// CodeInvalid is the code of a mistake without a code of its own.
const CodeInvalid = "V000"

// codeUnknownMetric is the code of a metric that nothing exports.
const codeUnknownMetric = "V003"

// check is one check.
type check struct {
	// Code is never changed or used again.
	Code, Name string
	Severity   Severity
	// run is nil for mistakes that are found while the file is parsed. They cannot be
	// accepted.
	run func(*pass)
}

// checks returns all checks in the order of their codes. docs/lint.md explains each.
func checks() []check {
	return []check{
		{CodeInvalid, "invalid", Error, nil},
		{"V001", "alive-external", Error, aliveExternal},
		{"V002", "shared-readiness", Warning, sharedReadiness},
		{codeUnknownMetric, "unknown-metric", Error, unknownMetric},
		{"V004", "unknown-label", Error, unknownLabel},
		{"V005", "unknown-label-value", Error, unknownValue},
		{"V006", "vanishing-series", Warning, vanishingSeries},
		{"V007", "state-without-rules", Warning, stateWithoutRules},
		{"V008", "short-for", Warning, shortFor},
		{"V009", "short-range", Warning, shortRange},
		{rules.CodeTopLevelBool, "top-level-bool", Error, nil},
		{"V011", "never-fires", Warning, neverFires},
		{"V012", "always-fires", Error, alwaysFires},
		{"V013", "rate-of-gauge", Error, rateOfGauge},
		{"V014", "counter-compared", Warning, counterCompared},
		{"V015", "regex-matches-all", Warning, regexMatchesAll},
		{rules.CodeDuplicate, "duplicate-rule", Error, duplicateRecording},
		{"V017", "shadowed-rule", Warning, shadowedRule},
		{rules.CodeUnknownCause, "unknown-cause", Error, nil},
		{rules.CodeCauseCycle, "cause-cycle", Error, nil},
		{"V020", "alive-before-ready", Warning, aliveBeforeReady},
		{"V021", "no-summary", Warning, noSummary},
		{"V022", "misspelt-key", Warning, misspelt},
		{"V023", "value-in-label", Warning, valueInLabel},
		{"V024", "template-label", Warning, templateLabel},
		{"V025", "second-document", Warning, secondDocument},
		{"V030", "probe-patience", Warning, probePatience},
		{"V031", "probe-timeout", Warning, probeTimeout},
		{"V032", "probe-path", Error, probePath},
		{"V033", "probe-port", Error, probePort},
		{"V034", "probe-vacuous", Error, probeVacuous},
		{"V035", "probe-wrong-state", Error, probeWrongState},
		{"V036", "probe-missing", Info, probeMissing},
		{"V090", "acceptance", Warning, accept}, // the last one, as it uses the findings of the others
	}
}

// Codes returns the codes of all checks with their names.
func Codes() map[string]string {
	codes := map[string]string{}
	for _, c := range checks() {
		codes[c.Code] = c.Name
	}
	return codes
}
