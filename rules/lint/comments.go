package lint

import (
	"fmt"
	"strings"

	"github.com/vitals-health/vitals/rules"
)

// Comment is a comment of a rule file that accepts findings.
type Comment struct {
	// Rule is the rule that the comment is for, one of the file's; nil for all of the file.
	Rule *rules.Rule
	// Text is the comment in one line, from its "#" on.
	Text string
}

// Comments returns the comments that accept findings in a file, in its order, without those
// that cannot accept any. Whoever writes the rules somewhere else takes them along.
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
