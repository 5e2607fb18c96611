package lint

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint/analysis"
	"github.com/vitals-health/vitals/rules/lint/check"
)

// commentPattern matches a comment for lint, such as "# vitals:accept V008 reason".
var commentPattern = regexp.MustCompile(`(?:^|\s)(#+\s*vitals:([^\s:]+):?(?:\s+(.*))?)$`)

// spacedComment matches a comment for lint with a space before or after its colon, which
// has no effect.
var spacedComment = regexp.MustCompile(`(?:^|\s)(#+\s*vitals(?:\s+:\s*|:\s+)(accept|accept-file)\b.*)$`)

// acceptedCodes matches the codes of an acceptance and its reason.
var acceptedCodes = regexp.MustCompile(`^([A-Za-z]+[0-9]+(?:\s*,\s*[A-Za-z]+[0-9]+)*)(?::|\s|$)\s*(.*)$`)

// acceptance is a comment that accepts findings, either of one rule or of the whole file.
type acceptance struct {
	file *rules.File
	// whole is set for the whole file. Otherwise subject is the rule; it is nil if the
	// comment belongs to no rule.
	whole     bool
	subject   *analysis.Subject
	line, col int
	codes     []string
	reason    string
	// wrong describes why the comment is invalid; empty if it is valid.
	wrong string
}

// accept marks the findings that comments of the files accept. It reports comments that
// accept nothing, give no reason, or name a code that cannot be accepted.
func accept(p *check.Pass) {
	found := len(p.Findings) // excludes the findings about the comments themselves
	acceptProbes(p, found)
	byCode := map[findingsOf][]int{}
	for i, f := range p.Findings {
		for _, key := range []findingsOf{{f.File, f.Code, nil}, {f.File, f.Code, f.Subject}} {
			byCode[key] = append(byCode[key], i)
		}
	}
	for _, f := range p.Files {
		for _, a := range acceptances(p, f) {
			if a.wrong != "" {
				reportInvalid(p, a, "%s", a.wrong)
				continue
			}
			for _, code := range a.codes {
				switch {
				case code == p.Current.Code:
					reportInvalid(p, a, "%s reports comments like this one and cannot be accepted", code)
				case !known(p, code):
					reportInvalid(p, a, "there is no check %s", code)
				case mistake(p, code):
					reportInvalid(p, a, "%s is a mistake and cannot be accepted", code)
				case !apply(p, a, byCode[findingsOf{f.Name, code, a.subject}]):
					reportUnused(p, a, code)
				}
			}
		}
	}
}

// findingsOf identifies the findings of a code in a file, of all rules or of one.
type findingsOf struct {
	file, code string
	subject    *analysis.Subject
}

// apply accepts those of the findings that are in the comment's document. It reports whether
// there were any.
func apply(p *check.Pass, a acceptance, found []int) bool {
	applied := false
	for _, i := range found {
		f := &p.Findings[i]
		if !a.file.Has(f.Line) {
			continue
		}
		applied = true
		if f.Accepted == "" || !a.whole {
			f.Accepted = a.reason
		}
	}
	return applied
}

func (a *acceptance) where() string {
	if a.whole && a.file.Part != "" {
		return "in " + a.file.Part
	}
	if a.whole {
		return "in this file"
	}
	return fmt.Sprintf("in the rule %q, to which the comment belongs", a.subject.Rule.Name())
}

// reportInvalid reports an invalid comment.
func reportInvalid(p *check.Pass, a acceptance, text string, args ...any) *check.Finding {
	f := check.Finding{
		File: a.file.Name, Line: a.line, Col: a.col, Text: fmt.Sprintf(text, args...),
		Cure: `remove the comment, or write "# vitals:accept V008 REASON" directly above the rule or within its lines, or "# vitals:accept-file V008 REASON" anywhere`,
	}
	if a.subject == nil {
		return p.Report(f)
	}
	return p.AtPlace(a.subject, f.Line, f.Col, f.Cure, f.Text)
}

// known reports whether a check has a code.
func known(p *check.Pass, code string) bool {
	return slices.ContainsFunc(p.Checks, func(c check.Check) bool { return c.Code == code })
}

// mistake reports whether a code belongs to the parser: Check never finds it.
func mistake(p *check.Pass, code string) bool {
	return slices.ContainsFunc(p.Checks, func(c check.Check) bool { return c.Code == code && c.All == nil && c.Rule == nil })
}

// reportUnused reports an acceptance that accepts nothing. Many findings depend on the
// configuration or the manifest, and a file can serve several. For those the severity is
// info, and without a complete configuration there is no finding.
func reportUnused(p *check.Pass, a acceptance, code string) {
	if p.Options.Partial {
		return
	}
	complete := p.Options.Complete && p.Options.Vocabulary != nil && p.Options.Vocabulary.Configured
	switch {
	case slices.Contains(strings.Fields("V016 V021 V022 V023 V040 V041 V042 V043 V046"), code):
		reportInvalid(p, a, "%s is not found %s", code, a.where()).Cure = "remove the comment"
	case strings.HasPrefix(code, "V03"): // manifests have comments of their own
	case complete:
		f := reportInvalid(p, a, "with this configuration, %s is not found %s", code, a.where())
		f.Severity, f.Cure = check.Info, "remove the comment, unless the file has another configuration that needs it"
	}
}

// acceptances parses the comments of a file.
func acceptances(p *check.Pass, f *rules.File) []acceptance {
	var all []acceptance
	lines := strings.Split(string(f.Text()), "\n")
	starts := sync.OnceValue(func() []start { return startsOf(p, f) })
	for i, line := range lines {
		a, ok := parseComment(line, i+1)
		if !ok || !f.Has(a.line) {
			continue
		}
		a.file = f
		if !a.whole {
			a.subject = holder(starts(), lines, a.line, a.col)
			if a.subject == nil && a.wrong == "" {
				a.wrong = "the comment belongs to no rule"
			}
		}
		all = append(all, a)
	}
	return all
}

// parseComment parses the comment in a line. ok is false if there is none.
func parseComment(line string, number int) (a acceptance, ok bool) {
	if !strings.Contains(line, "vitals") {
		return a, false
	}
	at := commentPattern.FindStringSubmatchIndex(line)
	if at == nil {
		if at = spacedComment.FindStringSubmatchIndex(line); at == nil {
			return a, false
		}
		a.line, a.col = number, utf8.RuneCountInString(line[:at[2]])+1
		word := line[at[4]:at[5]]
		a.whole, a.wrong = word == "accept-file", fmt.Sprintf("the comment has no effect, expected vitals:%s without a space", word)
		return a, true
	}
	a.line, a.col = number, utf8.RuneCountInString(line[:at[2]])+1
	rest := ""
	if at[6] >= 0 {
		rest = strings.TrimSpace(line[at[6]:at[7]])
	}
	a.read(line[at[4]:at[5]], rest)
	return a, true
}

// read parses the word after "vitals:" and the text after it.
func (a *acceptance) read(word, rest string) {
	switch word {
	case "accept":
	case "accept-file":
		a.whole = true
	default:
		a.wrong = fmt.Sprintf("unknown comment vitals:%s, expected vitals:accept or vitals:accept-file", word)
		return
	}
	parts := acceptedCodes.FindStringSubmatch(rest)
	if parts == nil {
		a.wrong = "the comment names no code, expected one such as V008"
		return
	}
	for code := range strings.SplitSeq(parts[1], ",") {
		a.codes = append(a.codes, strings.TrimSpace(code))
	}
	a.reason = parts[2]
	if a.reason == "" {
		a.wrong = fmt.Sprintf("the comment gives no reason for accepting %s", parts[1])
	}
}

// holder returns the rule that a comment belongs to: the rule directly below the block of
// comments, or else the rule whose lines contain it. It returns nil if there is none.
func holder(starts []start, lines []string, line, col int) *analysis.Subject {
	below := line
	for below <= len(lines) && aboveOnly(lines[below-1]) {
		below++
	}
	after := func(line int) int {
		return sort.Search(len(starts), func(i int) bool { return starts[i].line > line })
	}
	for i := after(below) - 1; i >= 0 && below > line && starts[i].line == below; i-- {
		if col <= starts[i].col {
			return starts[i].subject
		}
	}
	if i := after(line); i > 0 {
		return starts[i-1].subject
	}
	return nil
}

// start is the place where a rule begins, or a group for a nil subject.
type start struct {
	line, col int
	subject   *analysis.Subject
}

// startsOf returns where the groups and the rules of a file begin, in the order of the lines.
func startsOf(p *check.Pass, f *rules.File) []start {
	var all []start
	for _, s := range p.Subjects {
		if s.File == f {
			all = append(all, start{s.Group.Line, s.Group.Col, nil}, start{s.Rule.Line, s.Rule.Col, s})
		}
	}
	slices.SortStableFunc(all, func(a, b start) int { return cmp.Compare(a.line, b.line) })
	return all
}

// aboveOnly reports whether a line contains only a comment or the dash of a list item.
func aboveOnly(line string) bool {
	return strings.HasPrefix(strings.TrimLeft(line, "- \t"), "#") || strings.TrimSpace(line) == "-"
}

// Comment is a comment of a rule file that accepts findings.
type Comment struct {
	// Rule is the rule of the file that the comment belongs to; nil for the whole file.
	Rule *rules.Rule
	// Text is the comment in one line, starting with "#".
	Text string
}

// Comments returns the valid comments that accept findings in a file, in the order of the
// file. A program that copies the rules copies them as well.
func Comments(f *rules.File) []Comment {
	p := check.New(nil, []*rules.File{f}, check.Options{})
	var all []Comment
	for _, a := range acceptances(p, f) {
		if a.wrong != "" {
			continue
		}
		c, word := Comment{}, "accept-file"
		if !a.whole {
			c.Rule, word = a.subject.Rule, "accept"
		}
		c.Text = fmt.Sprintf("# vitals:%s %s %s", word, strings.Join(a.codes, ","), a.reason)
		all = append(all, c)
	}
	return all
}
