package ruletest

import (
	"encoding/xml"
	"io"
)

// The elements of JUnit's XML that continuous integration reads: a suite is a test file,
// a case is a test. A file with mistakes has one case with an error.
type (
	junitSuites struct {
		XMLName  xml.Name `xml:"testsuites"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Suites   []junitSuite
	}
	junitSuite struct {
		XMLName  xml.Name `xml:"testsuite"`
		Name     string   `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Cases    []junitCase
	}
	junitCase struct {
		XMLName   xml.Name       `xml:"testcase"`
		Name      string         `xml:"name,attr"`
		ClassName string         `xml:"classname,attr"`
		Failures  []junitProblem `xml:"failure"`
		Errors    []junitProblem `xml:"error"`
	}
	junitProblem struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes reports as JUnit's XML.
func WriteJUnit(w io.Writer, reports []*Report) error {
	var all junitSuites
	for _, r := range reports {
		s := junit(r)
		all.Tests, all.Failures, all.Errors = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors
		all.Suites = append(all.Suites, s)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// junit counts tests, as JUnit does, and not expectations.
func junit(r *Report) junitSuite {
	s := junitSuite{Name: r.File}
	if len(r.Mistakes) > 0 {
		c := junitCase{Name: "the file", ClassName: r.File}
		for _, m := range r.Mistakes {
			c.Errors = append(c.Errors, junitProblem{Message: m.Error()})
		}
		s.Cases, s.Errors = append(s.Cases, c), 1
	}
	for _, t := range r.Tests {
		c := junitCase{Name: t.Name, ClassName: r.File}
		for _, f := range t.Failures {
			c.Failures = append(c.Failures, junitProblem{Message: f.Place + ": " + f.What, Text: f.Text})
		}
		if len(c.Failures) > 0 {
			s.Failures++
		}
		s.Cases = append(s.Cases, c)
	}
	s.Tests = len(s.Cases)
	return s
}
