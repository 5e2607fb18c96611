package lintreport

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/vitals-health/vitals/internal/strictyaml"
	"github.com/vitals-health/vitals/internal/text"
	"github.com/vitals-health/vitals/rules/lint"
	"github.com/vitals-health/vitals/rules/lint/probes"
)

// The values of Printer.FailOn.
const (
	FailOnWarning = "warning"
	FailOnError   = "error"
	FailOnNever   = "never"
)

// Printer prints findings in a format and decides whether they make a command fail.
type Printer struct {
	Stdout, Stderr io.Writer
	Format, FailOn string
	Version        string
	ShowAccepted   bool

	// report is the printed report; Shown is set if it had findings to show.
	report Report
	Shown  bool
}

// Findings prints a report, and returns whether a finding makes the command fail.
func (r *Printer) Findings(report Report) (failed bool) {
	r.report = report
	r.write(r.Stdout)
	r.summary()
	failing := r.report.Count(lint.Error)
	if r.FailOn == FailOnWarning {
		failing += r.report.Count(lint.Warning)
	}
	return failing > 0 && r.FailOn != FailOnNever
}

// summary prints the last line of a report that shows findings.
func (r *Printer) summary() {
	r.Shown = r.report.Shown()
	if r.Shown && r.forPeople() {
		fmt.Fprintln(r.Stdout, r.report.Summary())
	}
}

// Beside prints the findings in rules without errors; nil prints nothing.
func (r *Printer) Beside(found *Report) {
	if found == nil {
		return
	}
	if r.report = *found; r.report.Shown() {
		r.write(r.Stdout)
		r.summary()
	}
}

// forPeople reports whether the format is read by people. The other formats have no room
// for further lines.
func (r *Printer) forPeople() bool {
	return r.Format == string(Text) || r.Format == string(GitHub)
}

// Accepted returns the number of accepted findings of a file, after a comma, or an empty
// string.
func (r *Printer) Accepted(file string) string {
	n := 0
	for _, f := range r.report.Findings {
		if f.File == file && f.Accepted != "" {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return ", " + text.Plural(n, "finding") + " accepted"
}

// Coverage prints how many probes of each manifest were checked, and why others were not. The
// formats that people do not read have no room for it: it is on Stderr there.
func (r *Printer) Coverage(all []probes.Coverage) {
	w := r.Stderr
	if r.Format == string(Text) {
		w = r.Stdout
	}
	for _, c := range all {
		fmt.Fprintf(w, "%s: %sjudged %d of %s%s\n", c.File, text.Either(r.Shown, "", "ok: "), c.Judged, text.Plural(c.All, "probe"), r.Accepted(c.File))
		for _, s := range c.Skipped {
			fmt.Fprintf(w, "%s:%d:%d: not judged: %s: %s\n", c.File, s.Line, s.Col, harmless(s.Where), harmless(s.Reason))
		}
	}
}

// Mistakes prints errors in files, and the findings in rules without errors unless they are
// nil. An error without a position concerns the given file if its text begins with the
// file's name.
func (r *Printer) Mistakes(file string, sources map[string][]byte, errs []error, found *Report) {
	names := map[string]string{}
	for _, c := range lint.Checks() {
		names[c.Code] = c.Name
	}
	r.report = Report{Sources: sources}
	for _, err := range errs {
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
	n, to, asText := len(r.report.Findings), r.Stdout, r.Format == string(Text)
	switch {
	case asText:
		to = r.Stderr
	case found != nil:
		r.report.Findings = append(r.report.Findings, found.Findings...)
	}
	r.write(to)
	if n > 1 && r.forPeople() {
		fmt.Fprintln(to, text.Plural(n, "mistake"))
	}
	if asText && found != nil {
		found.Mistakes = n
		r.Beside(found)
	}
}

// write writes the report. The caller's writer records a failed write.
func (r *Printer) write(w io.Writer) {
	r.report.ShowAccepted, r.report.Version = r.ShowAccepted, r.Version
	_ = r.report.Write(w, Format(r.Format))
}
