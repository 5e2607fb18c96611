package ruletest

import (
	"encoding/xml"
	"fmt"
	"io"
)

// The elements of JUnit's XML. Counts are of tests, not of expectations.
type (
	junitSuites struct {
		XMLName xml.Name `xml:"testsuites"`
		junitCounts
		Suites []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name string `xml:"name,attr"`
		junitCounts
		Cases []junitCase `xml:"testcase"`
	}
	junitCounts struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
	}
	junitCase struct {
		Name     string         `xml:"name,attr"`
		Class    string         `xml:"classname,attr"`
		Errors   []junitProblem `xml:"error"`
		Failures []junitProblem `xml:"failure"`
	}
	junitProblem struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes reports as JUnit's XML for continuous integration: a suite for each
// test file with a case for each test. A file with mistakes has one case with errors.
func WriteJUnit(w io.Writer, reports []*Report) error {
	var all junitSuites
	for _, r := range reports {
		s := junitSuiteOf(r)
		all.Suites = append(all.Suites, s)
		all.Tests, all.Failures, all.Errors = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	return err
}

func junitSuiteOf(r *Report) junitSuite {
	s := junitSuite{Name: r.File}
	if len(r.Mistakes) > 0 {
		s.Errors = 1
		file := junitCase{Name: "the file", Class: r.File}
		for _, m := range r.Mistakes {
			file.Errors = append(file.Errors, junitProblem{Message: m.Error()})
		}
		s.Cases = append(s.Cases, file)
	}
	for _, t := range r.Tests {
		c := junitCase{Name: t.Name, Class: r.File}
		for _, f := range t.Failures {
			c.Failures = append(c.Failures, junitProblem{f.Place + ": " + f.What, f.Text})
		}
		s.Failures += min(1, len(c.Failures))
		s.Cases = append(s.Cases, c)
	}
	s.Tests = len(s.Cases)
	return s
}
