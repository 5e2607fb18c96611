package lint

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/vitals-health/vitals/internal/manifest"
	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint/analysis"
	"github.com/vitals-health/vitals/rules/lint/check"
	"github.com/vitals-health/vitals/rules/lint/probes"
)

// probeChecks returns the checks of the probes in manifests.
func probeChecks() []check.Check {
	probe := probeCheck()
	return []check.Check{
		check.OfAll("V030", "probe-patience", check.Warning, "The failure threshold of a probe does not fit the rules.", probe),
		check.OfAll("V031", "probe-timeout", check.Warning, "The timeout of a probe does not fit its period or its command.", probe),
		check.OfAll("V032", "probe-path", check.Error, "A probe requests a path, a state or a rule that does not exist.", probe),
		check.OfAll("V033", "probe-port", check.Error, "A probe does not reach Vitals.", probe),
		check.OfAll("V034", "probe-vacuous", check.Error, "A probe passes whatever the verdict is.", probe),
		check.OfAll("V035", "probe-wrong-state", check.Error, "A probe requests the wrong state.", probe),
		check.OfAll("V036", "probe-missing", check.Info, "A probe is missing.", probe),
		check.OfAll("V037", "probe-fallback-port", check.Warning, "Probes use a port that Vitals does not listen on while its configuration is invalid.", probe),
		check.OfAll("V038", "probe-absence", check.Warning, "A restart of the workload depends on the presence of Vitals.", probe),
		check.OfAll("V039", "input-missing", check.Warning, "The container of Vitals lacks a file or a variable of the configuration.", probe),
	}
}

// probeCheck returns a check that reports those findings in the manifests that have its code.
func probeCheck() func(*check.Pass) {
	var once sync.Once
	var found []probes.Finding
	return func(p *check.Pass) {
		once.Do(func() { found = probeFindings(p) })
		for _, f := range found {
			if f.Code != p.Current.Code {
				continue
			}
			reported := p.Report(check.Finding{File: f.File, Line: f.Line, Col: f.Col, Where: f.Where, Text: f.Text, Cure: f.Cure})
			if f.Warning {
				reported.Severity = check.Warning
			}
		}
	}
}

// probeFindings returns the findings of all checks in the manifests.
func probeFindings(p *check.Pass) []probes.Finding {
	if len(p.Options.Manifests) == 0 {
		return nil
	}
	in := probes.Input{Manifests: p.Options.Manifests, States: p.Options.States, ListenAddress: p.Options.ListenAddress, Needs: p.Options.Needs, Suggest: check.Suggest}
	for _, s := range p.Subjects {
		if s.Rule.State != "" {
			in.Rules = append(in.Rules, probes.Rule{
				Name: s.Rule.Alert, State: s.Rule.State, Enforced: s.Enforced(), For: s.Rule.For, Interval: p.Interval(s),
			})
		}
	}
	return probes.Check(in)
}

// acceptProbes marks those of the first findings that comments of the manifests accept. A
// comment applies to the probe or the container that contains it or follows it, or to the
// whole file.
func acceptProbes(p *check.Pass, first int) {
	for _, f := range p.Options.Manifests {
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
			acceptProbe(p, f, at, a, first)
		}
	}
}

// inBlock reports whether a line is text, such as that of a rule file in a ConfigMap.
func inBlock(f *manifest.File, line int) bool {
	return slices.ContainsFunc(f.Blocks, func(b manifest.Lines) bool { return b.Line <= line && line <= b.Last })
}

// acceptProbe applies a comment to the findings within lines, and reports codes that it
// does not apply to.
func acceptProbe(p *check.Pass, f *manifest.File, at manifest.Lines, a acceptance, first int) {
	report := func(text string) *check.Finding {
		return p.Report(check.Finding{
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
		for i := range p.Findings[:first] {
			if g := &p.Findings[i]; g.Code == code && g.File == f.Name && g.Line >= at.Line && g.Line <= at.Last {
				g.Accepted, applied = a.reason, true
			}
		}
		switch {
		case applied:
		case !known(p, code):
			report(fmt.Sprintf("there is no check %s", code))
		case !strings.HasPrefix(code, "V03"):
			report(fmt.Sprintf("%s is not a check of probes", code))
		default: // another configuration may have the finding
			report(fmt.Sprintf("%s is not found here", code)).Severity = check.Info
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

// Waits returns the rules that can make their state fail, with the times that pass before
// they do. The files must be free of mistakes.
func Waits(files []*rules.File, v *analysis.Vocabulary) []probes.Rule {
	a := analysis.New(files, v)
	var waits []probes.Rule
	for _, s := range a.Subjects {
		if s.Rule.AST != nil && s.Enforced() {
			waits = append(waits, probes.Rule{Name: s.Rule.Alert, State: s.Rule.State, Enforced: true, For: s.Rule.For, Interval: a.Interval(s)})
		}
	}
	return waits
}
