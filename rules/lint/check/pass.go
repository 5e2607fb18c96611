package check

import (
	"fmt"
	"regexp"

	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/parser/posrange"

	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint/analysis"
)

// Pass is one run of all checks. It is not safe for concurrent use.
type Pass struct {
	// Analysis has the rules and what is known about them.
	*analysis.Analysis
	Files   []*rules.File
	Options Options
	// Checks are all checks, in the order in which they run.
	Checks []Check
	// Current is the one that runs. Findings are what it and the checks before it found.
	Current  Check
	Findings []Found
	// reported holds the indexes of findings, without their severity.
	reported map[Found]int
	// Idle holds the rules for other configurations and the kinds of collectors that they
	// need.
	Idle map[*analysis.Subject][]string
	// places finds parts of the expressions of rules in the files.
	places map[*analysis.Subject]func(posrange.Pos) (line, col int)
}

// New returns a pass of checks over files that has found nothing yet.
func New(checks []Check, files []*rules.File, opts Options) *Pass {
	return &Pass{
		Analysis: analysis.New(files, opts.Vocabulary), Checks: checks, Files: files, Options: opts,
		reported: map[Found]int{}, Idle: map[*analysis.Subject][]string{}, places: map[*analysis.Subject]func(posrange.Pos) (line, col int){},
	}
}

// EachRule calls check for each valid rule.
func (p *Pass) EachRule(check func(*Pass, *analysis.Subject)) {
	for _, s := range p.Subjects {
		if s.Rule.AST != nil {
			check(p, s)
		}
	}
}

// At reports a finding of the current check at a key of the rule, such as "for", or at the
// rule itself if it has no such key. Like the methods below it returns the finding. The
// caller may set its severity until the next finding is reported.
func (p *Pass) At(s *analysis.Subject, key, cure, text string, args ...any) *Finding {
	line, col := s.File.Place(s.Rule, key)
	return p.AtPlace(s, line, col, cure, fmt.Sprintf(text, args...))
}

// InExpr reports a finding of the current check at a part of the rule's expression.
func (p *Pass) InExpr(s *analysis.Subject, n parser.Node, cure, text string, args ...any) *Finding {
	line, col := p.placeInExpr(s, n.PositionRange().Start)
	return p.AtPlace(s, line, col, cure, fmt.Sprintf(text, args...))
}

func (p *Pass) placeInExpr(s *analysis.Subject, pos posrange.Pos) (line, col int) {
	locate, ok := p.places[s]
	if !ok {
		locate = s.File.PlacesInExpr(s.Rule)
		p.places[s] = locate
	}
	return locate(pos)
}

// AtWord is like InExpr, at the first match of the pattern's group within or after the
// part.
func (p *Pass) AtWord(s *analysis.Subject, n parser.Node, pattern, cure, text string, args ...any) *Finding {
	pos := n.PositionRange().Start
	if m := regexp.MustCompile(pattern).FindStringSubmatchIndex(s.Rule.Expr[pos:]); m != nil {
		pos += posrange.Pos(m[2])
	}
	line, col := p.placeInExpr(s, pos)
	return p.AtPlace(s, line, col, cure, fmt.Sprintf(text, args...))
}

// AtPlace reports a finding of the current check at a place in the file of the rule.
func (p *Pass) AtPlace(s *analysis.Subject, line, col int, cure, text string) *Finding {
	return p.Add(s, Finding{
		Severity: p.Current.Severity, File: s.File.Name, Line: line, Col: col, Where: s.Where(), Text: text, Cure: cure,
	})
}

// Report adds a finding of the current check that belongs to no rule. The severity Info
// stands for that of the check.
func (p *Pass) Report(f Finding) *Finding {
	if f.Severity == Info {
		f.Severity = p.Current.Severity
	}
	return p.Add(nil, f)
}

// Add adds a finding of the current check, once.
func (p *Pass) Add(s *analysis.Subject, f Finding) *Finding {
	f.Code, f.Name = p.Current.Code, p.Current.Name
	same := Found{f, s}
	same.Severity = Info // the caller may have changed it
	i, ok := p.reported[same]
	if !ok {
		i = len(p.Findings)
		p.reported[same] = i
		p.Findings = append(p.Findings, Found{f, s})
	}
	return &p.Findings[i].Finding
}
