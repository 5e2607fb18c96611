package lint

// noSummary finds probe rules that have nothing to say when they fail.
func noSummary(p *pass) {
	for _, s := range p.subjects {
		if s.rule.State != "" && s.rule.Annotations["summary"] == "" {
			p.at(s, "annotations", "add annotations: summary with one sentence that says what is wrong, for those whom the probe wakes",
				"a rule of %s has no summary: probes, page and alerts would show its name only", s.rule.State)
		}
	}
}
