package lint

import (
	"fmt"
	"strings"

	"github.com/vitals-health/vitals/rules"
)

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
	p := &pass{files: []*rules.File{f}}
	p.prepare()
	var all []Comment
	for _, a := range p.acceptances(f) {
		if a.wrong != "" {
			continue
		}
		c, word := Comment{}, "accept-file"
		if !a.whole {
			c.Rule, word = a.subject.rule, "accept"
		}
		c.Text = fmt.Sprintf("# vitals:%s %s %s", word, strings.Join(a.codes, ","), a.reason)
		all = append(all, c)
	}
	return all
}
