package lint

// noSummary finds rules with a state that have no summary.
func noSummary(p *pass) {
	for _, s := range p.subjects {
		if s.rule.State != "" && s.rule.Annotations["summary"] == "" {
			p.at(s, "annotations", "add the annotation summary: one sentence that describes the problem",
				"a rule of %s has no summary: probes, page and alerts would show only its name", s.rule.State)
		}
	}
}
