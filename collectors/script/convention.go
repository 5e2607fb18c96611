package script

import (
	"bytes"
	"fmt"
	"strings"
	"syscall"

	"github.com/vitals-health/vitals/collectors"
)

// The conventions by which scripts speak.
const (
	conventionPlain         = "plain"          // 0 is good, anything else is not
	conventionNagios        = "nagios"         // the Monitoring Plugins' development guidelines
	conventionNPD           = "npd"            // custom plugins of Kubernetes' node-problem-detector
	conventionSonicHook     = "sonic-hook"     // the hook of SONiC's readiness probe: the code is passed on
	conventionCategoryLines = "category-lines" // the user-defined checkers of SONiC's system health
)

func conventions() []string {
	return []string{conventionPlain, conventionNagios, conventionNPD, conventionSonicHook, conventionCategoryLines}
}

// status is what a script says. The set is closed, because it is a label.
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
	// maxScriptNote is the length of a note in bytes.
	maxScriptNote = 200
	// maxScriptLabel is the length in bytes at which a name becomes a label no more.
	maxScriptLabel = 128
)

// verdict is what a script says by its convention.
type verdict struct {
	// status is empty where the script is not there and does not have to be.
	status status
	// note is one line for people.
	note     string
	perfdata []perfdatum
	category string
	objects  []object
	// err is why the script is not, or not wholly, understood.
	err error
}

// judgeScript reads what a script that exited by itself has said.
func judgeScript(c *Config, run run) verdict {
	line := run.line()
	var said verdict
	switch c.Convention {
	case conventionNagios:
		said = judgeNagios(c, run)
	case conventionCategoryLines:
		said = judgeLines(c, run)
	case conventionNPD:
		said = verdict{status: [...]status{ok, critical, unknown}[min(run.code, 2)], note: withCode(run.code, line)}
	default:
		said = verdict{status: [...]status{ok, critical}[min(run.code, 1)], note: withCode(run.code, line)}
	}
	if whole := c.Convention == conventionNagios || c.Convention == conventionCategoryLines; whole && run.cut {
		said.err = collectors.Errorf(scriptOutput, "read the output of %s: it is larger than %s", c.Command[0], c.OutputLimit)
		if c.Convention == conventionCategoryLines && said.status == ok {
			said.status = unknown // what is behind the cut may not be OK
		}
	}
	return said
}

// line is what a script says for people: the first line of its output, or else the last
// of its complaints, which is where an exception in Python says what it is.
func (r run) line() string {
	first, _, _ := bytes.Cut(bytes.TrimSpace(r.output), []byte("\n"))
	if len(first) == 0 {
		first = bytes.TrimSpace(r.complaints)
		first = first[bytes.LastIndexByte(first, '\n')+1:]
	}
	return collectors.OneLine(string(first), maxScriptNote)
}

// withCode is a line of output, with the exit code where that is not 0.
func withCode(code int, line string) string {
	switch {
	case code == 0 && line == "":
		return "exit code 0"
	case code == 0:
		return line
	case line != "":
		line = ": " + line
	}
	return collectors.OneLine(fmt.Sprintf("exit code %d%s%s", code, shellCode(code), line), maxScriptNote)
}

// shellCode is what a shell means by a code of its own, see "Exit Status" in sh(1).
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

// judgeNagios reads the code and the output of a Monitoring Plugin. The code is the
// verdict; performance data that make no sense are left out and told.
func judgeNagios(c *Config, run run) verdict {
	text, data := splitPlugin(string(run.output))
	said := verdict{status: unknown, note: collectors.OneLine(text, maxScriptNote)}
	if said.note == "" {
		said.note = withCode(run.code, run.line())
	}
	var err error
	said.perfdata, err = parsePerfdata(data, c.ObjectLimit)
	if run.code > 3 {
		said.err = collectors.Errorf(protocol, "run %s: exit code %d: expected 0 to 3", c.Command[0], run.code)
		return said
	}
	said.status = [...]status{ok, warning, critical, unknown}[run.code]
	if err != nil {
		said.err = fmt.Errorf("read the performance data of %s: %w", c.Command[0], err)
	}
	return said
}

// splitPlugin separates what is for people from performance data: behind the first bar
// of the first line, and of all that follows the next bar in further lines.
func splitPlugin(output string) (text, data string) {
	first, more, _ := strings.Cut(output, "\n")
	text, data, _ = strings.Cut(first, "|")
	if _, rest, ok := strings.Cut(more, "|"); ok {
		data += "\n" + rest
	}
	return text, data
}

// object is one object that a script judges.
type object struct {
	name string
	ok   bool
}

// judgeLines reads the output of a checker of SONiC: a category, and in each further line
// an object, a colon and "OK" or what is wrong with it. A checker that says nothing of any
// object says nothing, and one that fails is not well whatever it says.
func judgeLines(c *Config, run run) verdict {
	output := run.output
	if run.cut { // of its last line there may be the beginning only
		output = output[:bytes.LastIndexByte(output, '\n')+1]
	}
	category, objects, wrong, err := parseCategoryLines(string(output), c.ObjectLimit)
	said := verdict{category: category, objects: objects, err: err}
	if err != nil {
		said.err = fmt.Errorf("read the output of %s: %w", c.Command[0], err)
	}
	switch {
	case len(wrong) > 1:
		said.status, said.note = critical, fmt.Sprintf("%s and %d more", collectors.OneLine(wrong[0], maxScriptNote-20), len(wrong)-1)
	case len(wrong) == 1:
		said.status, said.note = critical, wrong[0]
	case run.code != 0:
		said.status, said.note = critical, "not OK"
	case err != nil:
		said.status = unknown
		return said
	default:
		said.status, said.note = ok, fmt.Sprintf("%d OK", len(objects))
	}
	said.note = withCode(run.code, strings.TrimPrefix(category+": "+said.note, ": "))
	return said
}

// parseCategoryLines reads the category, the objects, and what is said of those that are
// not well. It returns what it could read together with the error.
func parseCategoryLines(output string, limit int) (category string, objects []object, wrong []string, err error) {
	protocol := func(text string) {
		if err == nil {
			err = collectors.Errorf(protocol, "%s", text)
		}
	}
	seen := map[string]bool{}
	number := 0
	for line := range strings.Lines(output) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if number++; number == 1 {
			category = collectors.OneLine(line, maxScriptLabel)
			continue
		}
		name, status, ok := strings.Cut(line, ":")
		name, status = collectors.OneLine(name, maxScriptLabel), strings.TrimSpace(status)
		switch {
		case !ok || name == "":
			protocol(fmt.Sprintf("line %d: expected an object, a colon and its status", number))
			continue
		case seen[name]:
			protocol(fmt.Sprintf("line %d: expected each object once", number))
			continue
		case len(objects) == limit:
			return category, objects, wrong, collectors.Errorf(scriptOutput, "more than %d objects", limit)
		}
		seen[name] = true
		objects = append(objects, object{name, status == "OK"})
		if status != "OK" {
			wrong = append(wrong, collectors.OneLine(name+": "+status, maxScriptNote))
		}
	}
	switch {
	case number == 0:
		protocol("no output: expected a category, and objects below it")
	case number == 1:
		protocol("a category and no object: nothing was judged")
	}
	return category, objects, wrong, err
}
