package script

import (
	"bytes"
	"fmt"
	"strings"
	"syscall"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/text"
)

// The conventions for exit codes and output.
const (
	conventionPlain         = "plain"          // 0 is ok, any other code critical
	conventionNagios        = "nagios"         // the Monitoring Plugins' development guidelines
	conventionNPD           = "npd"            // custom plugins of Kubernetes' node-problem-detector
	conventionSonicHook     = "sonic-hook"     // the hook of SONiC's readiness probe: the code is passed on
	conventionCategoryLines = "category-lines" // the user-defined checkers of SONiC's system health
)

func conventions() []string {
	return []string{conventionPlain, conventionNagios, conventionNPD, conventionSonicHook, conventionCategoryLines}
}

// status is the status of a script. The set is closed, because it is a label.
type status string

const (
	ok       status = "ok"
	warning  status = "warning"
	critical status = "critical"
	unknown  status = "unknown"
)

func statuses() []status {
	return []status{ok, warning, critical, unknown}
}

const (
	// maxNote is the length of a note in bytes.
	maxNote = 200
	// maxLabel is the length in bytes of the longest value of a label.
	maxLabel = 128
)

// verdict is the result of a script by its convention.
type verdict struct {
	// status is empty if the script is missing and missing is ignore.
	status status
	// note is one line for people.
	note     string
	perfdata []perfdatum
	category string
	objects  []object
	// err is why the output is not valid, in whole or in part.
	err error
}

// interpret returns the verdict of a script that exited.
func interpret(c *Config, run run) verdict {
	line := run.line()
	var v verdict
	switch c.Convention {
	case conventionNagios:
		v = readNagios(c, run)
	case conventionCategoryLines:
		v = readCategoryLines(c, run)
	case conventionNPD:
		v = verdict{status: [...]status{ok, critical, unknown}[min(run.code, 2)], note: withCode(run.code, line)}
	default:
		v = verdict{status: [...]status{ok, critical}[min(run.code, 1)], note: withCode(run.code, line)}
	}
	if whole := c.Convention == conventionNagios || c.Convention == conventionCategoryLines; whole && run.cut {
		v.err = collectors.Errorf(tooLarge, "read the output of %s: it is larger than %s", c.Command[0], c.OutputLimit)
		if c.Convention == conventionCategoryLines && v.status == ok {
			v.status = unknown // an object in the rest may not be OK
		}
	}
	return v
}

// line returns the message of a script: the first line of its output, or else the last of its
// stderr, which in Python is the exception.
func (r run) line() string {
	first, _, _ := bytes.Cut(bytes.TrimSpace(r.output), []byte("\n"))
	if len(first) == 0 {
		first = bytes.TrimSpace(r.stderr)
		first = first[bytes.LastIndexByte(first, '\n')+1:]
	}
	return text.Short(string(first), maxNote)
}

// withCode returns a line of output, with the exit code if it is not 0.
func withCode(code int, line string) string {
	switch {
	case code == 0 && line == "":
		return "exit code 0"
	case code == 0:
		return line
	case line != "":
		line = ": " + line
	}
	return text.Short(fmt.Sprintf("exit code %d%s%s", code, shellCode(code), line), maxNote)
}

// shellCode describes an exit code that shells use, see "Exit Status" in sh(1).
func shellCode(code int) string {
	switch {
	case code == 126:
		return " (a shell's: a command cannot be executed)"
	case code == 127:
		return " (a shell's: a command was not found)"
	case code > 128 && code <= 128+31:
		return fmt.Sprintf(" (a shell's: signal %d ended a command: %s)", code-128, syscall.Signal(code-128))
	}
	return ""
}

// readNagios reads the code and the output of a Monitoring Plugin. The code is the
// status; malformed performance data are left out and reported as an error.
func readNagios(c *Config, run run) verdict {
	message, data := splitPlugin(string(run.output))
	v := verdict{status: unknown, note: text.Short(message, maxNote)}
	if v.note == "" {
		v.note = withCode(run.code, run.line())
	}
	var err error
	v.perfdata, err = parsePerfdata(data, c.ObjectLimit)
	if run.code > 3 {
		v.err = collectors.Errorf(protocol, "run %s: exit code %d: expected 0 to 3", c.Command[0], run.code)
		return v
	}
	v.status = [...]status{ok, warning, critical, unknown}[run.code]
	if err != nil {
		v.err = fmt.Errorf("read the performance data of %s: %w", c.Command[0], err)
	}
	return v
}

// splitPlugin separates the message from performance data. They follow the first bar of the
// first line, and the next bar in the further lines.
func splitPlugin(output string) (text, data string) {
	first, more, _ := strings.Cut(output, "\n")
	text, data, _ = strings.Cut(first, "|")
	if _, rest, ok := strings.Cut(more, "|"); ok {
		data += "\n" + rest
	}
	return text, data
}

// object is one object of category-lines and its status.
type object struct {
	name string
	ok   bool
}

// readCategoryLines reads the output of a checker of SONiC: a category, and in each further line
// an object, a colon and "OK" or what is wrong with it. A checker without objects is unknown,
// and one with another exit code than 0 is critical, with any output.
func readCategoryLines(c *Config, run run) verdict {
	output := run.output
	if run.cut { // the last line may be incomplete
		output = output[:bytes.LastIndexByte(output, '\n')+1]
	}
	category, objects, wrong, err := parseCategoryLines(string(output), c.ObjectLimit)
	v := verdict{category: category, objects: objects, err: err}
	if err != nil {
		v.err = fmt.Errorf("read the output of %s: %w", c.Command[0], err)
	}
	switch {
	case len(wrong) > 1:
		v.status, v.note = critical, fmt.Sprintf("%s and %d more", text.Short(wrong[0], maxNote-20), len(wrong)-1)
	case len(wrong) == 1:
		v.status, v.note = critical, wrong[0]
	case run.code != 0:
		v.status, v.note = critical, "not OK"
	case err != nil:
		v.status = unknown
		return v
	default:
		v.status, v.note = ok, fmt.Sprintf("%d OK", len(objects))
	}
	v.note = withCode(run.code, strings.TrimPrefix(category+": "+v.note, ": "))
	return v
}

// parseCategoryLines returns the category, the objects, and the messages of those that are not
// OK. It returns what it could read together with the error.
func parseCategoryLines(output string, limit int) (category string, objects []object, wrong []string, err error) {
	protocol := func(message string) {
		if err == nil {
			err = collectors.Errorf(protocol, "%s", message)
		}
	}
	seen := map[string]bool{}
	number := 0
	for line := range strings.Lines(output) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if number++; number == 1 {
			category = labelValue(line)
			continue
		}
		name, status, ok := strings.Cut(line, ":")
		name, status = labelValue(name), strings.TrimSpace(status)
		switch {
		case !ok || name == "":
			protocol(fmt.Sprintf("line %d: expected an object, a colon and its status", number))
			continue
		case seen[name]:
			protocol(fmt.Sprintf("line %d: expected each object once", number))
			continue
		case len(objects) == limit:
			return category, objects, wrong, collectors.Errorf(tooLarge, "more than %d objects", limit)
		}
		seen[name] = true
		objects = append(objects, object{name, status == "OK"})
		if status != "OK" {
			wrong = append(wrong, text.Short(name+": "+status, maxNote))
		}
	}
	switch {
	case number == 0:
		protocol("no output: expected a category, and objects below it")
	case number == 1:
		protocol("a category and no object: expected at least one object")
	}
	return category, objects, wrong, err
}

// labelValue returns s as the value of a label: on one line, of at most maxLabel bytes.
func labelValue(s string) string {
	s = strings.TrimSpace(text.OneLine(s))
	if len(s) > maxLabel {
		s = strings.TrimSpace(strings.ToValidUTF8(s[:maxLabel], ""))
	}
	return s
}
