package lint

// About describes a check.
type About struct {
	Code, Name string
	// Severity is the severity of most of its findings.
	Severity Severity
	// Text describes in a sentence what the check finds.
	Text string
}

// Checks returns a description of every check, in the order of the codes. docs/lint.md
// explains them.
func Checks() []About {
	texts := descriptions()
	var all []About
	for _, c := range checks() {
		all = append(all, About{c.Code, c.Name, c.Severity, texts[c.Code]})
	}
	return all
}

func descriptions() map[string]string {
	return map[string]string{
		"V000": "A file is not a valid rule file or configuration.",
		"V001": "A rule of alive depends on something outside the host, which a restart does not fix.",
		"V002": "A rule of ready depends on something that all replicas share: all of them fail at once.",
		"V003": "A selector names a metric that nothing exports.",
		"V004": "A selector names a label that the metric does not have.",
		"V005": "A selector names a label value that cannot occur.",
		"V006": "A comparison returns nothing while its series are absent.",
		"V007": "A state has no rule that can decide it.",
		"V008": "A rule waits for less than two collections of its collector.",
		"V009": "A range holds too few samples.",
		"V010": "A comparison with bool at the top of an alert always fires.",
		"V011": "A rule can never fire.",
		"V012": "A rule fires whatever is measured.",
		"V013": "A function is used with the wrong type of metric.",
		"V014": "A counter is compared: its value is the total since the start, not the current condition.",
		"V015": "A regular expression matches everything.",
		"V016": "The same rule exists twice.",
		"V017": "A rule never fires without another rule of its state.",
		"V018": "A rule depends on an alert that does not exist.",
		"V019": "The dependencies of rules form a cycle.",
		"V020": "A rule of alive fails before the rule of ready over the same series.",
		"V021": "A rule with a state has no summary.",
		"V022": "A label or an annotation looks like a misspelt key of Vitals.",
		"V023": "A label contains the value, so that each change creates a new alert.",
		"V024": "A template uses a label that the result cannot have.",
		"V025": "The rules are in a document that Prometheus does not read.",
		"V030": "The failure threshold of a probe does not fit the rules.",
		"V031": "The timeout of a probe does not fit its period or its command.",
		"V032": "A probe requests a path, a state or a rule that does not exist.",
		"V033": "A probe does not reach Vitals.",
		"V034": "A probe passes whatever the verdict is.",
		"V035": "A probe requests the wrong state.",
		"V036": "A probe is missing.",
		"V090": "A comment accepts no finding, or gives no reason.",
	}
}
