// Package manpage renders the command line of vitals as a manual page in the language of man(7).
package manpage

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kingpin/v2"
)

// The sections that the model of the command line does not have, in the language of man(7).
const (
	head = `.SH NAME
vitals \- health evaluator for probes, metrics and alerts
.SH SYNOPSIS
.B vitals
[\fIcommand\fR] [\fIflags\fR] [\fIarguments\fR]
`
	end = `.SH ENVIRONMENT
.TP
.B VITALS_PROFILE
the profile, where neither \fB\-\-profile\fR nor \fB\-\-config.file\fR is given
.TP
.BI VITALS_SET_ KEY
with a profile: \fB\-\-set\fR \fIkey\fR=\fIvalue\fR where no flag sets it
.SH FILES
.TP
.I /etc/vitals/vitals.yml
the configuration that the service and the exec probe read
.TP
.I /run/vitals/vitals.sock
the Unix socket of the daemon
.SH SEE ALSO
.UR https://github.com/vitals\-health/vitals/tree/main/docs
.UE
`
)

// Render renders the model of the command line as a manual page. The page has no date, so that
// the same program prints the same page.
func Render(app *kingpin.ApplicationModel, release string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH VITALS 1 \"\" \"vitals %s\" \"User Commands\"\n.ad l\n%s", roff(release), head)
	about, exits, _ := strings.Cut(app.Help, "Exit codes: ")
	b.WriteString(".SH DESCRIPTION\n")
	writeParagraphs(&b, about)
	b.WriteString(".SH OPTIONS\n")
	writeFlags(&b, app.Flags)
	b.WriteString(".SH COMMANDS\n")
	writeCommands(&b, app.Commands)
	if exits != "" {
		b.WriteString(".SH EXIT STATUS\n")
		writeParagraphs(&b, exits)
	}
	b.WriteString(end)
	return b.String()
}

// writeCommands renders the commands that have no commands of their own.
func writeCommands(b *strings.Builder, commands []*kingpin.CmdModel) {
	for _, c := range commands {
		if c.Hidden || c.FullCommand == "help" {
			continue
		}
		if len(c.Commands) > 0 {
			writeCommands(b, c.Commands)
			continue
		}
		title := "vitals " + c.FullCommand
		if len(c.Args) > 0 {
			title += " " + c.ArgSummary()
		}
		fmt.Fprintf(b, ".SS \"%s\"\n", roff(title))
		writeParagraphs(b, c.Help)
		writeFlags(b, c.Flags)
	}
}

// writeFlags renders flags.
func writeFlags(b *strings.Builder, flags []*kingpin.FlagModel) {
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		b.WriteString(".TP\n")
		if f.Short != 0 {
			fmt.Fprintf(b, "\\fB\\-%c\\fR, ", f.Short)
		}
		fmt.Fprintf(b, "\\fB%s\\fR", roff("--"+f.Name))
		if !f.IsBoolFlag() {
			fmt.Fprintf(b, "=\\fI%s\\fR", roff(f.FormatPlaceHolder()))
		}
		fmt.Fprintf(b, "\n%s\n", roff(f.Help))
	}
}

// writeParagraphs renders the paragraphs of a text.
func writeParagraphs(b *strings.Builder, text string) {
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		fmt.Fprintf(b, ".PP\n%s\n", roff(paragraph))
	}
}

// roff quotes a text for groff_char(7): a hyphen is a minus sign, and no line is a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, `"`, `\(dq`, "'", `\(aq`, "^", `\(ha`, "~", `\(ti`, "`", `\(ga`, "\n", " ").Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}
