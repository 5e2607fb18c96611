package ruletest

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// WriteJUnit writes reports as the XML of JUnit that continuous integration reads: a
// suite is a test file, a case is a test. A file with mistakes has one case with an
// error. It is written by hand: encoding/xml's Encoder would add 40 kB to the program.
func WriteJUnit(w io.Writer, reports []*Report) error {
	var suites strings.Builder
	var all tally
	for _, r := range reports {
		cases, n := junitCases(r)
		fmt.Fprintf(&suites, "  <testsuite name=%s %s>\n%s  </testsuite>\n", attribute(r.File), n, cases)
		all.tests, all.failures, all.errors = all.tests+n.tests, all.failures+n.failures, all.errors+n.errors
	}
	_, err := fmt.Fprintf(w, "%s<testsuites %s>\n%s</testsuites>\n", xml.Header, all, suites.String())
	return err
}

// tally counts tests, as JUnit does, and not expectations.
type tally struct{ tests, failures, errors int }

func (t tally) String() string {
	return fmt.Sprintf(`tests="%d" failures="%d" errors="%d"`, t.tests, t.failures, t.errors)
}

func junitCases(r *Report) (string, tally) {
	var b strings.Builder
	var n tally
	add := func(name string, problems ...string) {
		n.tests++
		fmt.Fprintf(&b, "    <testcase name=%s classname=%s>%s</testcase>\n", attribute(name), attribute(r.File), strings.Join(problems, ""))
	}
	if len(r.Mistakes) > 0 {
		n.errors = 1
		var problems []string
		for _, m := range r.Mistakes {
			problems = append(problems, problem("error", m.Error(), ""))
		}
		add("the file", problems...)
	}
	for _, t := range r.Tests {
		var problems []string
		for _, f := range t.Failures {
			problems = append(problems, problem("failure", f.Place+": "+f.What, f.Text))
		}
		n.failures += min(1, len(problems))
		add(t.Name, problems...)
	}
	return b.String(), n
}

func problem(element, message, text string) string {
	return fmt.Sprintf("<%s message=%s>%s</%s>", element, attribute(message), escaped(text), element)
}

func attribute(text string) string { return `"` + escaped(text) + `"` }

// escaped escapes what is markup; what XML cannot hold at all becomes U+FFFD.
func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder takes everything
	return b.String()
}
