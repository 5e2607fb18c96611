package execprobe

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/vitals-health/vitals/internal/text"
)

// The bounds of the output, in bytes.
const (
	// maxFirst is the length of the first line: Podman keeps 500 characters.
	maxFirst = 500
	// maxOutput is the length of all that is printed. Docker keeps 4096 bytes.
	maxOutput = 4095
)

// maxOwn is the highest exit code that a rule can set. The style sonic uses those from
// 120 on; container runtimes, shells and signals use those from 125 on.
const maxOwn = 119

// Style is a convention of exit codes and of the first line.
type Style string

// The styles.
const (
	// Plain has a code for each outcome, and uses the code that a rule sets.
	Plain Style = "plain"
	// Docker uses 0, healthy, and 1, unhealthy; 2 is reserved. Podman, TripleO and the
	// kubelet use the same codes.
	Docker Style = "docker"
	// Sonic reserves the codes below 120 for the readiness probe's hook and for rules:
	// an uncaught exception of the hook returns 1, and 2 means that the start program
	// has not finished.
	Sonic Style = "sonic"
	// Nagios follows the Monitoring Plugins: 0 to 3, and performance data.
	Nagios Style = "nagios"
)

// Styles returns all styles.
func Styles() []Style { return []Style{Plain, Docker, Sonic, Nagios} }

// StyleOf returns the style for the name by which the program was called, so that a
// symbolic link is the whole installation.
func StyleOf(program string) Style {
	switch program[strings.LastIndexByte(program, '/')+1:] {
	case "healthcheck":
		return Docker
	case "readiness_probe.sh":
		return Sonic
	case "check_vitals":
		return Nagios
	}
	return Plain
}

// codes returns the exit codes by outcome.
func (s Style) codes() [Protocol + 1]int {
	switch s {
	case Docker:
		return [...]int{1, OK: 0, Warning: 0, Failing: 1, Unknown: 1, NoRules: 1, Usage: 1, NoDaemon: 1, Forbidden: 1, Timeout: 1, Stale: 1, Protocol: 1}
	case Sonic:
		return [...]int{120, OK: 0, Warning: 0, Failing: 120, Unknown: 121, NoRules: 121, Usage: 122, NoDaemon: 123, Forbidden: 123, Timeout: 124, Stale: 125, Protocol: 125}
	case Nagios:
		return [...]int{3, OK: 0, Warning: 1, Failing: 2, Unknown: 3, NoRules: 3, Usage: 3, NoDaemon: 3, Forbidden: 3, Timeout: 2, Stale: 2, Protocol: 3}
	}
	return [...]int{1, OK: 0, Warning: 0, Failing: 1, Unknown: 2, NoRules: 8, Usage: 3, NoDaemon: 4, Forbidden: 7, Timeout: 5, Stale: 6, Protocol: 9}
}

// Code returns the exit code of a result. It is 0 only for OK and, except in the style
// Nagios, Warning.
func (s Style) Code(r Result) int {
	if (r.Outcome == Failing || r.Outcome == Unknown) && s.takes(r.ExitCode) {
		return r.ExitCode
	}
	return s.codes()[r.Outcome]
}

// takes reports whether the style uses an exit code that a rule sets. The outcomes have
// the codes below 10 in the style plain, and those from 120 on in sonic.
func (s Style) takes(own int) bool {
	switch s {
	case Plain:
		return own >= 10 && own <= maxOwn
	case Sonic:
		return own >= 1 && own <= maxOwn
	}
	return false
}

// Render returns the output for a result: at most 4095 bytes, the first line at most
// 500. Each line ends in a line feed.
func (s Style) Render(r Result) string {
	code := s.Code(r)
	answer := text.OneLine(r.Text)
	var b strings.Builder
	if s == Nagios {
		// Performance data follows a bar.
		perf := perfdata(r.Verdict)
		word := [...]string{"OK", "WARNING", "CRITICAL", "UNKNOWN"}[code]
		b.WriteString(text.Clip(word+": "+strings.ReplaceAll(answer, "|", "/"), maxFirst-len(perf)) + perf + "\n")
	} else {
		b.WriteString(text.Clip(fmt.Sprintf("%s %d %s", r.Outcome, code, answer), maxFirst) + "\n")
	}
	for _, line := range r.More {
		line = text.OneLine(line)
		if s == Nagios {
			line = strings.ReplaceAll(line, "|", "/")
		}
		if b.Len()+len(line)+1 > maxOutput {
			break
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// maxPerfName bounds in bytes the name of a rule that stands in the performance data.
const maxPerfName = 64

// perfdata returns a verdict's numbers in the format of the Monitoring Plugins: the
// observed value, with the range in which the rule warns or fails, and counts of rules.
func perfdata(v *Verdict) string {
	if v == nil {
		return ""
	}
	own := ""
	if v.Value != "" && len(v.Rule) <= maxPerfName {
		limits := ";" + v.Range // the range of failures; that of warnings stands before it
		if v.Verdict == "warn" {
			limits = v.Range + ";"
		}
		own = "'" + v.Rule + "'=" + perfNumber(v.Value) + ";" + limits + " "
	}
	return " | " + own + fmt.Sprintf("rules=%d;;;0 failing=%d;;;0;%d unknown=%d;;;0;%d age=%.3fs;;;0", v.Rules, v.Failing, v.Rules, v.Unknown, v.Rules, v.AgeSeconds)
}

// perfNumber formats a number in digits. It returns U, "undetermined", for NaN, infinity
// and numbers of more than 24 digits.
func perfNumber(text string) string {
	const maxDigits = 24
	f, err := strconv.ParseFloat(text, 64)
	digits := strconv.FormatFloat(f, 'f', -1, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) || len(digits) > maxDigits {
		return "U"
	}
	return digits
}
