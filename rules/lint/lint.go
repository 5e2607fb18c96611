// Package lint finds what a rule file says without a mistake and still gets wrong: rules
// that restart pods for what a restart cannot cure, that ask for metrics nobody exports,
// that can never fire. Each check has a stable code, and each finding a place, an
// explanation and a cure.
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
)

// Severity is how bad a finding is. The zero value is Info.
type Severity int

// The severities of findings.
const (
	// Info is a remark: the rule does what it says, and more could be had.
	Info Severity = iota
	// Warning is a risk: it needs a cure, or a reason why it is taken.
	Warning
	// Error is a rule that will do harm, or nothing.
	Error
)

func (s Severity) String() string { return [...]string{"info", "warning", "error"}[s] }

// Finding is one thing that a check found.
type Finding struct {
	// Code is the check's stable code, such as V001, and Name its readable name.
	Code, Name string
	Severity   Severity
	File       string
	// Line and Col count from 1; Col counts characters.
	Line, Col int
	// Where names the group and the rule, or is empty.
	Where string
	// Text says what is wrong, and Cure what to do about it.
	Text, Cure string
	// Accepted is the reason for which the file accepts the finding; empty if it does not.
	Accepted string
}

// Options are what the checks know beside the files.
type Options struct {
	// Vocabulary is what selectors can match; nil knows nothing of metrics.
	Vocabulary *Vocabulary
	// Complete says that the files are all rule files of one configuration.
	Complete bool
	// Partial says that the files have mistakes. What is found then is about the rules
	// without any, and does not follow from what the others lack.
	Partial bool
	// Config is the name of the configuration; empty where there is none.
	Config string
	// States are the names of all states.
	States []string
	// Manifests are Kubernetes manifests whose probes ask Vitals.
	Manifests []*manifest.File
	// ListenAddress is where the configuration listens unless a flag says otherwise; empty
	// where nobody knows.
	ListenAddress string
}

// Check looks through all files that are loaded together. They must be free of mistakes,
// see rules.ParseAll and rules.Check, unless the options say Partial. The findings are in the order of the files, the
// manifests last, those that a comment accepts included.
func Check(files []*rules.File, opts Options) []Finding {
	p := &pass{files: files, opts: opts}
	p.prepare()
	for _, c := range checks() {
		p.current = c
		if c.run != nil {
			c.run(p)
		}
	}
	order := map[string]int{}
	for i, f := range files {
		order[f.Name] = i
	}
	for i, f := range opts.Manifests {
		order[f.Name] = len(files) + i
	}
	var findings []Finding
	for _, f := range p.atOnce() {
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

// finding is a Finding with the rule that it is about, or nil.
type finding struct {
	Finding
	subject *subject
}

// pass is one look at all files.
type pass struct {
	files    []*rules.File
	opts     Options
	current  check
	findings []finding

	subjects []*subject
	// recorded are the recording rules by the name of what they record.
	recorded map[string][]*subject
	// walked are the leaves of rules that were asked for.
	walked map[*rules.Rule][]leaf
	// outcomes and hastes are those of what recording rules record, as far as they were
	// asked for.
	outcomes map[*subject]outcome
	hastes   map[*subject]haste
	// lacking are selectors of series that may be absent, by the name of what is recorded.
	lacking map[string][]*parser.VectorSelector
	// shaped are the shapes of what the recording rules record.
	shaped map[*subject]shape
	// idle are the rules for other configurations, with the kinds that these have.
	idle map[*subject][]string
	// feeding are the rules with a state, and the recording rules that they use.
	feeding map[*subject]bool
}

// subject is one rule where it stands.
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

// mistaken says whether nobody knows what the rule is meant to be.
func (s *subject) mistaken() bool { return s.file.Mistaken(s.rule) }

// obeyed says whether the rule can make its state fail.
func (s *subject) obeyed() bool {
	return s.rule.State != "" && s.rule.Severity == rules.SeverityCritical && !s.rule.Observe
}

func (p *pass) prepare() {
	p.recorded, p.walked = map[string][]*subject{}, map[*rules.Rule][]leaf{}
	p.outcomes, p.hastes = map[*subject]outcome{}, map[*subject]haste{}
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
	p.shapes()
	p.idle = map[*subject][]string{}
	p.feeding = map[*subject]bool{}
	for _, s := range p.subjects {
		if s.rule.State == "" {
			continue
		}
		p.feeding[s] = true
		for _, l := range p.leaves(s.rule) {
			for _, name := range l.via {
				for _, rec := range p.recorded[name] {
					p.feeding[rec] = true
				}
			}
		}
	}
}

// at reports a finding of the current check at a key of the rule, such as "for", or at
// the rule itself where it has no such key. As those below it returns the finding, whose
// severity may be set until the next one is reported.
func (p *pass) at(s *subject, key, cure, text string, args ...any) *Finding {
	line, col := s.file.Place(s.rule, key)
	return p.about(s, line, col, cure, fmt.Sprintf(text, args...))
}

// inExpr reports a finding of the current check at a part of the rule's expression.
func (p *pass) inExpr(s *subject, n parser.Node, cure, text string, args ...any) *Finding {
	line, col := s.file.PlaceInExpr(s.rule, n.PositionRange().Start)
	return p.about(s, line, col, cure, fmt.Sprintf(text, args...))
}

// atWord is inExpr for the first match of a pattern's group within or behind the part.
func (p *pass) atWord(s *subject, n parser.Node, pattern, cure, text string, args ...any) *Finding {
	pos := n.PositionRange().Start
	if m := regexp.MustCompile(pattern).FindStringSubmatchIndex(s.rule.Expr[pos:]); m != nil {
		pos += posrange.Pos(m[2])
	}
	line, col := s.file.PlaceInExpr(s.rule, pos)
	return p.about(s, line, col, cure, fmt.Sprintf(text, args...))
}

func (p *pass) about(s *subject, line, col int, cure, text string) *Finding {
	return p.add(s, Finding{
		Severity: p.current.Severity, File: s.file.Name, Line: line, Col: col, Where: s.where(), Text: text, Cure: cure,
	})
}

// report adds a finding of the current check that is about no rule. The severity Info
// means that of the check.
func (p *pass) report(f Finding) *Finding {
	if f.Severity == Info {
		f.Severity = p.current.Severity
	}
	return p.add(nil, f)
}

// add adds a finding of the current check, once.
func (p *pass) add(s *subject, f Finding) *Finding {
	f.Code, f.Name = p.current.Code, p.current.Name
	i := slices.IndexFunc(p.findings, func(known finding) bool {
		known.Severity = f.Severity
		return known == finding{f, s}
	})
	if i < 0 {
		i = len(p.findings)
		p.findings = append(p.findings, finding{f, s})
	}
	return &p.findings[i].Finding
}
