package lint

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vitals-health/vitals/internal/manifest"
	"github.com/vitals-health/vitals/rules/lint/probes"
)

// probeCheck reports the findings of the current check in the manifests.
func probeCheck(p *pass) {
	for _, f := range p.probeFindings() {
		if f.Code != p.current.Code {
			continue
		}
		found := p.report(Finding{File: f.File, Line: f.Line, Col: f.Col, Where: f.Where, Text: f.Text, Cure: f.Cure})
		if f.Warning {
			found.Severity = Warning
		}
	}
}

// probeFindings returns the findings of all checks in the manifests.
func (p *pass) probeFindings() []probes.Finding {
	if p.inManifests != nil || len(p.opts.Manifests) == 0 {
		return p.inManifests
	}
	in := probes.Input{Manifests: p.opts.Manifests, States: p.opts.States, ListenAddress: p.opts.ListenAddress, Suggest: suggest}
	for _, s := range p.subjects {
		if s.rule.State != "" {
			in.Rules = append(in.Rules, probes.Rule{
				Name: s.rule.Alert, State: s.rule.State, Enforced: s.enforced(), For: s.rule.For, Interval: p.interval(s),
			})
		}
	}
	p.inManifests = append([]probes.Finding{}, probes.Check(in)...)
	return p.inManifests
}

// interval returns the interval of the slowest collector of a rule; zero if it is unknown.
func (p *pass) interval(s *subject) time.Duration {
	var longest time.Duration
	for _, l := range p.leaves(s.rule) {
		for _, m := range p.sources(l.selector) {
			longest = max(longest, m.Interval)
		}
	}
	return longest
}

// acceptProbes marks those of the first findings that comments of the manifests accept. A
// comment applies to the probe or the container that contains it or follows it, or to the
// whole file.
func (p *pass) acceptProbes(first int) {
	for _, f := range p.opts.Manifests {
		lines := strings.Split(string(f.Text), "\n")
		for i, line := range lines {
			a, ok := parseComment(line, i+1)
			if !ok || inBlock(f, i+1) {
				continue
			}
			at := manifest.Lines{Line: 1, Last: len(lines)}
			if !a.whole {
				if at, ok = holderOf(f, lines, a.line); !ok && a.wrong == "" {
					a.wrong = "the comment belongs to no probe and no container"
				}
			}
			p.acceptProbe(f, at, a, first)
		}
	}
}

// inBlock reports whether a line is text, such as that of a rule file in a ConfigMap.
func inBlock(f *manifest.File, line int) bool {
	return slices.ContainsFunc(f.Blocks, func(b manifest.Lines) bool { return b.Line <= line && line <= b.Last })
}

// acceptProbe applies a comment to the findings within lines, and reports codes that it
// does not apply to.
func (p *pass) acceptProbe(f *manifest.File, at manifest.Lines, a acceptance, first int) {
	report := func(text string) *Finding {
		return p.report(Finding{
			File: f.Name, Line: a.line, Col: a.col, Text: text,
			Cure: `remove the comment, or write "# vitals:accept V030 REASON" directly above the probe or within its lines, or "# vitals:accept-file V030 REASON" anywhere`,
		})
	}
	if a.wrong != "" {
		report(a.wrong)
		return
	}
	for _, code := range a.codes {
		applied := false
		for i := range p.findings[:first] {
			if g := &p.findings[i]; g.Code == code && g.File == f.Name && g.Line >= at.Line && g.Line <= at.Last {
				g.Accepted, applied = a.reason, true
			}
		}
		switch {
		case applied:
		case !known(code):
			report(fmt.Sprintf("there is no check %s", code))
		case !strings.HasPrefix(code, "V03"):
			report(fmt.Sprintf("%s is not a check of probes", code))
		default: // another configuration may have the finding
			report(fmt.Sprintf("%s is not found here", code)).Severity = Info
		}
	}
}

// holderOf returns the lines of the probe, or else of the container, that a comment belongs
// to.
func holderOf(f *manifest.File, lines []string, line int) (holder manifest.Lines, ok bool) {
	below := line
	for below <= len(lines) && aboveOnly(lines[below-1]) {
		below++
	}
	for _, at := range places(f) {
		within := at.Line <= line && line <= at.Last
		above := below > line && at.Line == below
		if (within || above) && at.Line >= holder.Line {
			holder, ok = at, true
		}
	}
	return holder, ok
}

// places returns the lines of all containers, each followed by those of its probes.
func places(f *manifest.File) []manifest.Lines {
	var all []manifest.Lines
	for _, pod := range f.Pods {
		for _, c := range pod.Containers {
			all = append(all, c.Lines)
			for _, probe := range c.Probes {
				all = append(all, probe.Lines)
			}
		}
	}
	return all
}
