package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vitals-health/vitals/rules"
)

// remark is a comment that is addressed to lint, such as "# vitals:accept V008 reason".
var remark = regexp.MustCompile(`(?:^|\s)(#+\s*vitals:([^\s:]+):?(?:\s+(.*))?)$`)

// spaced is a remark with a space before or behind its colon, which makes prose of it.
var spaced = regexp.MustCompile(`(?:^|\s)(#+\s*vitals(?:\s+:\s*|:\s+)(accept|accept-file)\b.*)$`)

// remarkCodes are the codes of an acceptance and its reason.
var remarkCodes = regexp.MustCompile(`^([A-Za-z]+[0-9]+(?:\s*,\s*[A-Za-z]+[0-9]+)*)(?::|\s|$)\s*(.*)$`)

// acceptance is a comment that accepts findings: those of its subject, or all of the file.
type acceptance struct {
	file *rules.File
	// whole is set for the whole file. Otherwise subject is the rule, nil if the comment
	// stands at none.
	whole     bool
	subject   *subject
	line, col int
	codes     []string
	reason    string
	// wrong says why it cannot accept anything.
	wrong string
}

// accept marks the findings that comments of the files accept, and finds the comments
// that accept nothing, that say no reason, or that name what cannot be accepted.
func accept(p *pass) {
	found := len(p.findings) // without what is wrong with the comments themselves
	p.acceptProbes(found)
	for _, f := range p.files {
		for _, a := range p.acceptances(f) {
			if a.wrong != "" {
				p.misaccepted(a, "%s", a.wrong)
				continue
			}
			for _, code := range a.codes {
				switch {
				case code == p.current.Code:
					p.misaccepted(a, "%s reports comments like this one and cannot be accepted", code)
				case !known(code):
					p.misaccepted(a, "there is no check %s", code)
				case mistake(code):
					p.misaccepted(a, "%s is a mistake and cannot be accepted", code)
				case !a.apply(p.findings[:found], code):
					p.unneeded(a, code)
				}
			}
		}
	}
}

// apply accepts the findings of a code and says whether there were any.
func (a *acceptance) apply(found []finding, code string) bool {
	applied := false
	for i := range found {
		f := &found[i]
		if f.Code != code || f.File != a.file.Name || !a.file.Has(f.Line) || !a.whole && f.subject != a.subject {
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
	return fmt.Sprintf("in the rule %q, to which the comment belongs", a.subject.rule.Name())
}

// misaccepted reports what is wrong with a comment.
func (p *pass) misaccepted(a acceptance, text string, args ...any) *Finding {
	f := Finding{
		File: a.file.Name, Line: a.line, Col: a.col, Text: fmt.Sprintf(text, args...),
		Cure: `remove the comment, or write "# vitals:accept V008 REASON" directly above the rule or within its lines, or "# vitals:accept-file V008 REASON" anywhere`,
	}
	if a.subject == nil {
		return p.report(f)
	}
	return p.about(a.subject, f.Line, f.Col, f.Cure, f.Text)
}

func known(code string) bool {
	return slices.ContainsFunc(checks(), func(c check) bool { return c.Code == code })
}

// mistake says whether a code is one of those that Check never finds.
func mistake(code string) bool {
	return slices.ContainsFunc(checks(), func(c check) bool { return c.Code == code && c.run == nil })
}

// unneeded reports an acceptance that accepts nothing. Much is found with one
// configuration, or manifest, and not with another, and a file may serve several: of that
// it says less, or nothing where there is none.
func (p *pass) unneeded(a acceptance, code string) {
	if p.opts.Partial {
		return
	}
	complete := p.opts.Complete && p.opts.Vocabulary != nil && p.opts.Vocabulary.Configured
	switch {
	case slices.Contains(strings.Fields("V016 V021 V022 V023"), code):
		p.misaccepted(a, "%s is not found %s", code, a.where())
	case strings.HasPrefix(code, "V03"): // it is found in manifests, with comments of their own
	case complete:
		p.misaccepted(a, "with this configuration, %s is not found %s", code, a.where()).Severity = Info
	}
}

// acceptances reads the comments of a file.
func (p *pass) acceptances(f *rules.File) []acceptance {
	var all []acceptance
	lines := strings.Split(string(f.Text()), "\n")
	for i, line := range lines {
		a, ok := remarked(line, i+1)
		if !ok || !f.Has(a.line) {
			continue
		}
		a.file = f
		if !a.whole {
			a.subject = p.holder(f, lines, a.line, a.col)
			if a.subject == nil && a.wrong == "" {
				a.wrong = "the comment belongs to no rule"
			}
		}
		all = append(all, a)
	}
	return all
}

// remarked reads the comment in a line of that number; false if there is none.
func remarked(line string, number int) (a acceptance, ok bool) {
	at := remark.FindStringSubmatchIndex(line)
	if at == nil {
		if at = spaced.FindStringSubmatchIndex(line); at == nil {
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

// read takes the word after "vitals:" and what follows it.
func (a *acceptance) read(word, rest string) {
	switch word {
	case "accept":
	case "accept-file":
		a.whole = true
	default:
		a.wrong = fmt.Sprintf("unknown comment vitals:%s, expected vitals:accept or vitals:accept-file", word)
		return
	}
	parts := remarkCodes.FindStringSubmatch(rest)
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

// holder returns the rule that a comment belongs to, or nil: the rule that the block of
// comments stands directly above, or else the one within whose lines it stands.
func (p *pass) holder(f *rules.File, lines []string, line, col int) *subject {
	below := line
	for below <= len(lines) && aboveOnly(lines[below-1]) {
		below++
	}
	var holder *subject
	nearest := 0
	consider := func(s *subject, first, column int) {
		above := below > line && first == below && col <= column
		if (first <= line || above) && first >= nearest {
			holder, nearest = s, first
		}
	}
	for _, s := range p.subjects {
		if s.file != f {
			continue
		}
		consider(nil, s.group.Line, s.group.Col)
		consider(s, s.rule.Line, s.rule.Col)
	}
	return holder
}

// aboveOnly says whether a line has nothing but a comment, or the dash of a list's item.
func aboveOnly(line string) bool {
	return strings.HasPrefix(strings.TrimLeft(line, "- \t"), "#") || strings.TrimSpace(line) == "-"
}
