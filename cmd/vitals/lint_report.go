package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/version"

	"github.com/vitals-health/vitals/internal/lintreport"
	"github.com/vitals-health/vitals/internal/strictyaml"
	"github.com/vitals-health/vitals/rules/lint"
)

// What --fail-on may say.
const (
	failOnWarning = "warning"
	failOnError   = "error"
	failOnNever   = "never"
)

// reporter tells what was found, as the flags say.
type reporter struct {
	stdout, stderr io.Writer
	format, failOn string
	showAccepted   bool

	// report is what was told; shown says whether it had anything for people.
	report lintreport.Report
	shown  bool
}

// reporter tells findings to people, and fails for warnings.
func (p *program) reporter() *reporter {
	return &reporter{stdout: p.stdout, stderr: p.stderr, format: string(lintreport.Text), failOn: failOnWarning}
}

// reportFlags declares how findings are told.
func (p *program) reportFlags(cmd *kingpin.CmdClause) *reporter {
	r := p.reporter()
	cmd.Flag("format", "How to print findings: text for people, json, github for GitHub Actions, or sarif.").Default(r.format).EnumVar(&r.format, lintreport.Formats()...)
	cmd.Flag("fail-on", "The findings that make the exit code 1 where no comment accepts them: warning (and error), error, or never.").Default(r.failOn).EnumVar(&r.failOn, failOnWarning, failOnError, failOnNever)
	cmd.Flag("show-accepted", "Print also what comments accept, with their reasons.").BoolVar(&r.showAccepted)
	return r
}

// findings looks and tells. It returns the exit code.
func (r *reporter) findings(run *lintRun) int {
	r.report = reportOf(run)
	r.write(r.stdout)
	r.summary()
	failing := r.report.Count(lint.Error)
	if r.failOn == failOnWarning {
		failing += r.report.Count(lint.Warning)
	}
	if failing > 0 && r.failOn != failOnNever {
		return exitFailing
	}
	return exitOK
}

// reportOf is what the checks find.
func reportOf(run *lintRun) lintreport.Report {
	files := run.chosen()
	return lintreport.Report{Findings: run.findings(), Sources: run.sources(), Files: len(byName(files)), Rules: countRules(files)}
}

// summary ends a report that has something for people.
func (r *reporter) summary() {
	r.shown = r.report.Shown()
	if r.shown && r.forPeople() {
		fmt.Fprintln(r.stdout, r.report.Summary())
	}
}

// besides tells people what is found in the rules without mistakes; a run that is nil finds
// nothing.
func (r *reporter) besides(run *lintRun) {
	if run == nil {
		return
	}
	if r.report = reportOf(run); r.report.Shown() {
		r.write(r.stdout)
		r.summary()
	}
}

// forPeople says that somebody reads what is printed; of the others, a line too many is
// a mistake.
func (r *reporter) forPeople() bool {
	return r.format == string(lintreport.Text) || r.format == string(lintreport.GitHub)
}

// accepted says how much of a file is accepted, behind a comma, or nothing.
func (r *reporter) accepted(file string) string {
	n := 0
	for _, f := range r.report.Findings {
		if f.File == file && f.Accepted != "" {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return ", " + count(n, "finding") + " accepted"
}

// mistakes tells what keeps files from being what they are, and what is found in the rules
// without any, unless the run is nil; it returns the exit code. What has no place of its own
// concerns the file of that name where it begins with it.
func (r *reporter) mistakes(file string, sources map[string][]byte, errs []error, run *lintRun) int {
	names := map[string]string{}
	for _, c := range lint.Checks() {
		names[c.Code] = c.Name
	}
	r.report = lintreport.Report{Sources: sources}
	for _, err := range flatten(errs) {
		f := lint.Finding{Severity: lint.Error, Text: err.Error()}
		if text, ok := strings.CutPrefix(f.Text, file+": "); ok {
			f.File, f.Text = file, text
		}
		if e := (*strictyaml.Error)(nil); errors.As(err, &e) {
			f = lint.Finding{Code: e.Code, Severity: lint.Error, File: e.File, Line: e.Line, Col: e.Col, Where: e.Where, Text: e.Text}
		}
		if f.Code == "" {
			f.Code = lint.CodeInvalid
		}
		f.Name = names[f.Code]
		r.report.Findings = append(r.report.Findings, f)
	}
	n, to, text := len(r.report.Findings), r.stdout, r.format == string(lintreport.Text)
	switch {
	case text:
		to = r.stderr
	case run != nil:
		r.report.Findings = append(r.report.Findings, run.findings()...)
	}
	r.write(to)
	if n > 1 && r.forPeople() {
		fmt.Fprintln(to, count(n, "mistake"))
	}
	if text {
		r.besides(run)
	}
	return exitConfig
}

// write writes the report; that it fails is noticed for all commands.
func (r *reporter) write(w io.Writer) {
	r.report.ShowAccepted, r.report.Version = r.showAccepted, version.Version
	_ = r.report.Write(w, lintreport.Format(r.format))
}

// flatten takes joined errors apart.
func flatten(errs []error) []error {
	var all []error
	for _, err := range errs {
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			all = append(all, flatten(joined.Unwrap())...)
			continue
		}
		all = append(all, err)
	}
	return all
}
