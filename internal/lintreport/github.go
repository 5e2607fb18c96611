package lintreport

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/vitals-health/vitals/rules/lint"
)

// github writes workflow commands, one per line:
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
func (r *Report) github(w io.Writer) error {
	b := bufio.NewWriter(w)
	for _, f := range r.shown() {
		text := harmless(message(f))
		switch {
		case f.Accepted != "":
			text += "\naccepted: " + harmless(f.Accepted)
		case f.Cure != "":
			text += "\ncure: " + harmless(f.Cure)
		}
		at := ""
		if f.File != "" {
			at = "file=" + property(f.File) + ","
		}
		if f.Line > 0 {
			at += fmt.Sprintf("line=%d,col=%d,", f.Line, f.Col)
		}
		fmt.Fprintf(b, "::%s %stitle=%s::%s\n", command(f), at, property(f.Code+" "+f.Name), data(text))
	}
	return b.Flush()
}

// command returns the workflow command for a finding.
func command(f lint.Finding) string {
	switch {
	case f.Accepted != "" || f.Severity == lint.Info:
		return "notice"
	case f.Severity == lint.Warning:
		return "warning"
	}
	return "error"
}

// data escapes the message of a command, and property a parameter, as the toolkit of
// GitHub Actions does (actions/toolkit, packages/core/src/command.ts).
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}
