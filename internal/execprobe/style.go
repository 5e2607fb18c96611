package execprobe

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/vitals-health/vitals/internal/text"
)

// The bounds of what is printed, in bytes.
const (
	// maxFirst is the length of the first line: Podman keeps 500 characters.
	maxFirst = 500
	// maxOutput is the length of all that is printed. Docker keeps 4096 bytes.
	maxOutput = 4095
)

// maxOwn is the highest code that a rule may have. From 120 on are those of the style
// sonic, and from 125 on those of container runtimes, shells and signals.
const maxOwn = 119

// Style is a convention of exit codes and of the first line.
type Style string

// The styles.
const (
	// Plain has a code for every outcome, and the rule's own where it has one.
	Plain Style = "plain"
	// Docker knows 0, healthy, and 1, unhealthy; 2 is reserved. It is Podman's,
	// TripleO's and the kubelet's as well.
	Docker Style = "docker"
	// Sonic leaves the codes below 120 to the readiness probe's hook and to rules:
	// 1 is what an uncaught exception of the hook returns, and 2 means that the start
	// program has not finished.
	Sonic Style = "sonic"
	// Nagios is that of the Monitoring Plugins: 0 to 3, and performance data.
	Nagios Style = "nagios"
)

// Styles returns all styles.
func Styles() []Style { return []Style{Plain, Docker, Sonic, Nagios} }

// StyleOf chooses the style by the name that a program was called by, so that a
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

// codes are the exit codes of the outcomes.
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

// Code is the exit code of a result. It is 0 for what passes and for nothing else.
func (s Style) Code(r Result) int {
	if (r.Outcome == Failing || r.Outcome == Unknown) && s.takes(r.ExitCode) {
		return r.ExitCode
	}
	return s.codes()[r.Outcome]
}

// takes says whether a rule's own code is one of the style's. Below 10, plain has its
// outcomes; under sonic they begin at 120.
func (s Style) takes(own int) bool {
	switch s {
	case Plain:
		return own >= 10 && own <= maxOwn
	case Sonic:
		return own >= 1 && own <= maxOwn
	}
	return false
}

// Render is what is printed of a result: at most 4095 bytes, the first line at most
// 500, each line ended.
func (s Style) Render(r Result) string {
	code := s.Code(r)
	answer := text.OneLine(r.Text)
	var b strings.Builder
	if s == Nagios {
		// What follows a bar is performance data.
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

// perfdata are a verdict's numbers as the Monitoring Plugins write them: the rule's own,
// with the range in which it warns or fails, and how the rules do.
func perfdata(v *Verdict) string {
	if v == nil {
		return ""
	}
	own := ""
	if v.Value != "" && len(v.Rule) <= maxPerfName {
		limits := ";" + v.Range // of a failure; a warning has its own place
		if v.Verdict == "warn" {
			limits = v.Range + ";"
		}
		own = "'" + v.Rule + "'=" + perfNumber(v.Value) + ";" + limits + " "
	}
	return " | " + own + fmt.Sprintf("rules=%d;;;0 failing=%d;;;0;%d unknown=%d;;;0;%d age=%.3fs;;;0", v.Rules, v.Failing, v.Rules, v.Unknown, v.Rules, v.AgeSeconds)
}

// perfNumber writes a number in digits, and U, "undetermined", for one that has none or
// too many.
func perfNumber(text string) string {
	const maxDigits = 24
	f, err := strconv.ParseFloat(text, 64)
	digits := strconv.FormatFloat(f, 'f', -1, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) || len(digits) > maxDigits {
		return "U"
	}
	return digits
}
