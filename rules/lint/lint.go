// Package lint finds problems in valid rule files: rules that restart pods although a
// restart does not fix the problem, that use metrics which nothing exports, that can never
// fire. Each check has a stable code, and each finding has a place, an explanation and a
// cure.
package lint

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/parser/posrange"

	"github.com/vitals-health/vitals/internal/manifest"
	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint/probes"
)

// Severity is the severity of a finding. The zero value is Info.
type Severity int

// The severities of findings.
const (
	// Info is a remark: the rule works, and could be improved.
	Info Severity = iota
	// Warning is a risk that needs a cure or a reason to accept it.
	Warning
	// Error is a rule that does harm or has no effect.
	Error
)

func (s Severity) String() string { return [...]string{"info", "warning", "error"}[s] }

// Finding is a result of a check.
type Finding struct {
	// Code is the check's stable code, such as V001. Name is its readable name.
	Code, Name string
	Severity   Severity
	File       string
	// Line and Col count from 1; Col counts characters.
	Line, Col int
	// Where names the group and the rule, or is empty.
	Where string
	// Text describes the problem. Cure describes how to fix it.
	Text, Cure string
	// Accepted is the reason for which the file accepts the finding; empty if it does not.
	Accepted string
}

// Options are the inputs of the checks beyond the rule files.
type Options struct {
	// Vocabulary describes the metrics that selectors can match; nil if they are unknown.
	Vocabulary *Vocabulary
	// Complete is set if the files are all rule files of one configuration.
	Complete bool
	// Partial is set if the files have mistakes. Check then reports findings of valid rules
	// only, and none that could be a consequence of the invalid ones.
	Partial bool
	// Config is the name of the configuration file; empty if there is none.
	Config string
	// States are the names of all states.
	States []string
	// AliveNoData is the policy of alive for missing data; empty means that it passes.
	AliveNoData rules.NoData
	// Manifests are Kubernetes manifests with probes that use Vitals.
	Manifests []*manifest.File
	// ListenAddress is the configured listen address, which a flag can override; empty if
	// it is unknown.
	ListenAddress string
}

// Check checks files that are loaded together. They must be free of mistakes, see
// rules.ParseAll and rules.Check, unless Options.Partial is set. The findings follow the
// order of the files, then of the manifests. Accepted findings are included.
func Check(files []*rules.File, opts Options) []Finding {
	p := &pass{files: files, opts: opts}
	p.run()
	order := map[string]int{}
	for i, f := range files {
		order[f.Name] = i
	}
	for i, f := range opts.Manifests {
		order[f.Name] = len(files) + i
	}
	var findings []Finding
	for _, f := range p.merged() {
		if f.subject == nil || !f.subject.mistaken() {
			findings = append(findings, f.Finding)
		}
	}
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(order[a.File], order[b.File]), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Col, b.Col), cmp.Compare(a.Code, b.Code))
	})
	return findings
}

// run runs all checks.
func (p *pass) run() {
	p.prepare()
	for _, c := range checks() {
		p.current = c
		switch {
		case c.run != nil:
			c.run(p)
		case c.rule != nil:
			p.eachRule(c.rule)
		}
	}
}

// eachRule calls check for each valid rule.
func (p *pass) eachRule(check func(*pass, *subject)) {
	for _, s := range p.subjects {
		if s.rule.AST != nil {
			check(p, s)
		}
	}
}

// finding is a Finding with the rule that it belongs to, or nil.
type finding struct {
	Finding
	subject *subject
}

// pass is one run of all checks.
type pass struct {
	files    []*rules.File
	opts     Options
	current  check
	findings []finding

	subjects []*subject
	// recorded holds the recording rules by the name that they record.
	recorded map[string][]*subject
	// outcomes and cadences cache the results for the expressions of recording rules.
	outcomes map[*subject]outcome
	cadences map[*subject]cadence
	// anyValue caches, by recorded name, whether its series can have any value.
	anyValue map[string]bool
	// lacking holds selectors of series that may be absent, by the recorded name that
	// depends on them.
	lacking map[string][]*parser.VectorSelector
	// named holds the shapes of the recorded series by their name.
	named map[string]shape
	// idle holds the rules for other configurations and the kinds of collectors that they
	// need.
	idle map[*subject][]string
	// inManifests caches the findings in manifests.
	inManifests []probes.Finding
	// feeding holds the rules with a state and the recording rules that they use.
	feeding map[*subject]bool
	memo
}

// subject is a rule with its file and group.
type subject struct {
	file  *rules.File
	group *rules.Group
	rule  *rules.Rule
}

func (s *subject) where() string {
	where := fmt.Sprintf("group %q, rule %q", s.group.Name, s.rule.Name())
	if s.file.Part != "" {
		where = s.file.Part + ", " + where
	}
	return where
}

// mistaken reports whether the rule is invalid.
func (s *subject) mistaken() bool { return s.file.Mistaken(s.rule) }

// enforced reports whether the rule can make its state fail.
func (s *subject) enforced() bool {
	return s.rule.State != "" && s.rule.Severity == rules.SeverityCritical && !s.rule.Observe
}

func (p *pass) prepare() {
	p.recorded, p.memo = map[string][]*subject{}, newMemo(p.opts.Vocabulary)
	p.outcomes, p.cadences = map[*subject]outcome{}, map[*subject]cadence{}
	for _, f := range p.files {
		for g := range f.Groups {
			for r := range f.Groups[g].Rules {
				s := &subject{f, &f.Groups[g], &f.Groups[g].Rules[r]}
				p.subjects = append(p.subjects, s)
				if s.rule.Record != "" {
					p.recorded[s.rule.Record] = append(p.recorded[s.rule.Record], s)
				}
			}
		}
	}
	for _, s := range p.subjects {
		if s.rule.AST != nil {
			p.survey(s.rule.AST)
		}
	}
	p.shapes()
	p.idle = map[*subject][]string{}
	p.feeding = map[*subject]bool{}
	for _, s := range p.subjects {
		if s.rule.State == "" {
			continue
		}
		p.feeding[s] = true
		for _, l := range p.leaves(s.rule) {
			if len(l.via) == 0 {
				continue
			}
			for _, rec := range p.recorded[l.via[len(l.via)-1]] { // earlier ones are the last of other leaves
				p.feeding[rec] = true
			}
		}
	}
}

// at reports a finding of the current check at a key of the rule, such as "for", or at the
// rule itself if it has no such key. Like the methods below it returns the finding. The
// caller may set its severity until the next finding is reported.
func (p *pass) at(s *subject, key, cure, text string, args ...any) *Finding {
	line, col := s.file.Place(s.rule, key)
	return p.about(s, line, col, cure, fmt.Sprintf(text, args...))
}

// inExpr reports a finding of the current check at a part of the rule's expression.
func (p *pass) inExpr(s *subject, n parser.Node, cure, text string, args ...any) *Finding {
	line, col := p.placeInExpr(s, n.PositionRange().Start)
	return p.about(s, line, col, cure, fmt.Sprintf(text, args...))
}

func (p *pass) placeInExpr(s *subject, pos posrange.Pos) (line, col int) {
	locate, ok := p.places[s]
	if !ok {
		locate = s.file.PlacesInExpr(s.rule)
		p.places[s] = locate
	}
	return locate(pos)
}

// atWord is like inExpr, at the first match of the pattern's group within or after the
// part.
func (p *pass) atWord(s *subject, n parser.Node, pattern, cure, text string, args ...any) *Finding {
	pos := n.PositionRange().Start
	if m := regexp.MustCompile(pattern).FindStringSubmatchIndex(s.rule.Expr[pos:]); m != nil {
		pos += posrange.Pos(m[2])
	}
	line, col := p.placeInExpr(s, pos)
	return p.about(s, line, col, cure, fmt.Sprintf(text, args...))
}

func (p *pass) about(s *subject, line, col int, cure, text string) *Finding {
	return p.add(s, Finding{
		Severity: p.current.Severity, File: s.file.Name, Line: line, Col: col, Where: s.where(), Text: text, Cure: cure,
	})
}

// report adds a finding of the current check that belongs to no rule. The severity Info
// stands for that of the check.
func (p *pass) report(f Finding) *Finding {
	if f.Severity == Info {
		f.Severity = p.current.Severity
	}
	return p.add(nil, f)
}

// add adds a finding of the current check, once.
func (p *pass) add(s *subject, f Finding) *Finding {
	f.Code, f.Name = p.current.Code, p.current.Name
	same := finding{f, s}
	same.Severity = Info // the caller may have changed it
	i, ok := p.reported[same]
	if !ok {
		i = len(p.findings)
		p.reported[same] = i
		p.findings = append(p.findings, finding{f, s})
	}
	return &p.findings[i].Finding
}
