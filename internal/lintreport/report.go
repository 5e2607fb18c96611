// Package lintreport writes the findings of rules/lint as text and in the formats of tools
// that show findings in a code review.
package lintreport

import (
	"fmt"
	"io"
	"strings"

	"github.com/vitals-health/vitals/internal/text"
	"github.com/vitals-health/vitals/rules/lint"
)

// Format is an output format of reports.
type Format string

// The formats of reports.
const (
	// Text has each finding with its line and its cure.
	Text Format = "text"
	// JSON is a list of objects, accepted findings included.
	JSON Format = "json"
	// GitHub has workflow commands, which GitHub Actions shows as annotations.
	GitHub Format = "github"
	// SARIF is version 2.1.0 of OASIS' Static Analysis Results Interchange Format.
	SARIF Format = "sarif"
)

// Formats returns the names of all formats.
func Formats() []string {
	return []string{string(Text), string(JSON), string(GitHub), string(SARIF)}
}

// Report is a list of findings with the checked files.
type Report struct {
	// Findings includes the accepted findings.
	Findings []lint.Finding
	// Sources are the texts of files by name, for the lines in Text.
	Sources map[string][]byte
	// ShowAccepted includes accepted findings in Text and GitHub. JSON and SARIF always
	// include them.
	ShowAccepted bool
	// Files and Rules are the numbers of checked files and rules.
	Files, Rules int
	// Mistakes is the number of errors in the files that Findings does not contain.
	Mistakes int
	// Version is the version of the program.
	Version string
}

// Write writes the report in a format.
func (r *Report) Write(w io.Writer, f Format) error {
	switch f {
	case JSON:
		return r.json(w)
	case GitHub:
		return r.github(w)
	case SARIF:
		return r.sarif(w)
	}
	return r.text(w)
}

// Shown reports whether Text and GitHub have any output.
func (r *Report) Shown() bool { return len(r.shown()) > 0 }

// shown returns the findings in Text and GitHub.
func (r *Report) shown() []lint.Finding {
	var all []lint.Finding
	for _, f := range r.Findings {
		if f.Accepted == "" || r.ShowAccepted {
			all = append(all, f)
		}
	}
	return all
}

// Count returns how many findings of a severity are not accepted.
func (r *Report) Count(s lint.Severity) int {
	n := 0
	for _, f := range r.Findings {
		if f.Severity == s && f.Accepted == "" {
			n++
		}
	}
	return n
}

// Accepted returns how many findings are accepted.
func (r *Report) Accepted() int {
	n := 0
	for _, f := range r.Findings {
		if f.Accepted != "" {
			n++
		}
	}
	return n
}

// Summary returns the counts in a line, with mistakes as errors, such as
// "2 errors, 1 warning, 3 accepted in 4 rules of 2 files".
func (r *Report) Summary() string {
	parts := []string{text.Plural(r.Count(lint.Error)+r.Mistakes, "error"), text.Plural(r.Count(lint.Warning), "warning")}
	if n := r.Count(lint.Info); n > 0 {
		parts = append(parts, fmt.Sprintf("%d info", n))
	}
	if n := r.Accepted(); n > 0 {
		parts = append(parts, fmt.Sprintf("%d accepted", n))
	}
	return fmt.Sprintf("%s in %s of %s", strings.Join(parts, ", "), text.Plural(r.Rules, "rule"), text.Plural(r.Files, "file"))
}

// message returns the text of a finding with its rule.
func message(f lint.Finding) string {
	if f.Where == "" {
		return f.Text
	}
	return f.Where + ": " + f.Text
}
