package lint

import (
	"fmt"
	"slices"
	"strings"
)

// aliveExternal finds rules of alive that look at something outside the host: when it
// fails, every replica restarts, and the restart cures nothing.
func aliveExternal(p *pass) {
	for _, s := range p.subjects {
		if s.rule.State != "alive" {
			continue
		}
		for _, l := range p.leaves(s.rule) {
			who := externals(p.sources(l.selector))
			if len(who) == 0 {
				continue
			}
			through := ""
			if len(l.via) > 0 {
				through = " through " + strings.Join(l.via, ", ")
			}
			p.inExpr(s, l.at, `let it feed ready (labels: state: ready), or ask for something that a restart can cure`,
				"alive depends on %s by %s%s: an outage there would restart every replica, and no restart cures it",
				strings.Join(who, ", "), metricName(l.selector), through)
		}
	}
}

// externals names the collectors outside the host among the sources, or the kinds where
// there is no configuration.
func externals(sources []Metric) []string {
	var names []string
	for _, m := range sources {
		name := fmt.Sprintf("the collector %q", m.Collector)
		if m.Collector == "" {
			name = "collectors of the kind " + m.Kind
		}
		if m.External && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
