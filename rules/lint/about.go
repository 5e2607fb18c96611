package lint

// About says what a check is for.
type About struct {
	Code, Name string
	// Severity is that of most of its findings.
	Severity Severity
	// Text says in a sentence what the check finds.
	Text string
}

// Checks returns what there is to know about every check, in the order of the codes.
// docs/reference/lint.md explains them.
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
		"V000": "A file cannot be read as what it is.",
		"V001": "A rule of alive looks at something outside the host, which no restart cures.",
		"V002": "A rule of ready looks at something that all replicas share: all of them leave at once.",
		"V003": "A selector names a metric that nothing exports.",
		"V004": "A selector names a label that the metric does not have.",
		"V005": "A selector names a label's value that cannot occur.",
		"V006": "A comparison is silent while its series are missing.",
		"V007": "A state has no rule that can decide it.",
		"V008": "A rule waits for less than two rounds of its collector.",
		"V009": "A range holds too few samples.",
		"V010": "A comparison with bool at the top of an alert always fires.",
		"V011": "A rule can never fire.",
		"V012": "A rule fires whatever happens.",
		"V013": "A function is used with a type of metric that it does not mean anything for.",
		"V014": "A counter is compared: it says what was since the start, not what is now.",
		"V015": "A regular expression matches everything.",
		"V016": "The same rule exists twice.",
		"V017": "A rule says nothing that another rule of the state does not say.",
		"V018": "A rule names a cause that does not exist.",
		"V019": "Causes lead back to where they began.",
		"V020": "A rule of alive acts before the rule of ready over the same evidence.",
		"V021": "A probe rule has no summary.",
		"V022": "A label or an annotation looks like a misspelt one that Vitals knows.",
		"V023": "A value in a label makes a new alert of every change.",
		"V024": "A template uses a label that the result cannot have.",
		"V025": "Prometheus does not read the document that the rules stand in.",
		"V030": "The kubelet's patience does not fit that of the rules.",
		"V031": "A probe's timeout does not fit.",
		"V032": "A probe asks for a path, a state or a rule that does not exist.",
		"V033": "A probe asks at a place where Vitals does not answer it.",
		"V034": "A probe passes whatever happens.",
		"V035": "A probe asks the wrong state.",
		"V036": "A probe is missing.",
		"V090": "A comment accepts nothing, or gives no reason.",
	}
}
