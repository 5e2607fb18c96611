// Package capability measures which Linux capabilities a process has.
package capability

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/process"
	"github.com/vitals-health/vitals/internal/text"
)

// Config configures the kind capability: the capabilities(7) of processes.
type Config struct {
	// Capabilities are names as in capabilities(7), in any case, with or without CAP_.
	Capabilities []string `yaml:"capabilities"`
	// Process selects the process; nil is Vitals.
	Process *process.Selector `yaml:"process,omitempty"`
}

// names are the names in the order of their numbers, from 0: see
// include/uapi/linux/capability.h.
const names = `
	CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE
	NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT
	SYS_ADMIN SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP
	MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE`

// labelOf returns a name as a label value.
func labelOf(name string) string {
	return strings.TrimPrefix(strings.ToUpper(name), "CAP_")
}

// Problems implements Kind.
func (c *Config) Problems() []collectors.Problem {
	var problems []collectors.Problem
	if len(c.Capabilities) == 0 {
		problems = append(problems, collectors.Problem{Path: "capabilities", Text: "no capabilities: expected at least one name, such as NET_ADMIN"})
	}
	known := strings.Fields(names)
	seen := map[string]bool{}
	for i, text := range c.Capabilities {
		path, name := fmt.Sprintf("capabilities[%d]", i), labelOf(text)
		switch {
		case !slices.Contains(known, name):
			problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf("capability %q: %s", text, nearestName(name, known))})
		case seen[name]:
			problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf("capability %q: expected each once", text)})
		}
		seen[name] = true
	}
	if c.Process != nil {
		problems = append(problems, c.Process.Problems("process.")...)
	}
	return problems
}

// External implements Kind: processes are on this host.
func (c *Config) External() bool { return false }

// Uses implements Kind.
func (c *Config) Uses() []string { return nil }

// New implements Kind.
func (c *Config) New(env collectors.Env) (collectors.Collector, error) {
	collector := &collector{name: env.Name}
	if c.Process != nil {
		collector.selector = *c.Process
	}
	known := strings.Fields(names)
	for _, text := range c.Capabilities {
		name := labelOf(text)
		collector.wanted = append(collector.wanted, wanted{name, slices.Index(known, name)})
	}
	return collector, nil
}

type collector struct {
	name     string
	selector process.Selector
	wanted   []wanted
}

type wanted struct {
	name   string
	number int
}

// exportedSets are the exported sets and their lines in /proc/PID/status.
func exportedSets() [4]struct{ set, line string } {
	return [...]struct{ set, line string }{
		{"effective", "CapEff"}, {"permitted", "CapPrm"}, {"bounding", "CapBnd"}, {"ambient", "CapAmb"},
	}
}

// Collect reads the sets of all processes. A set that one of them does not have is absent,
// and so is a capability that the kernel does not have.
func (c *collector) Collect(ctx context.Context) ([]collectors.Sample, error) {
	var b collectors.Batch
	files := process.ProcReader{Mount: c.selector.Mount()}
	common, err := c.common(ctx, &files)
	last := lastNumber(&files)
	for _, w := range c.wanted {
		if w.number > last {
			err = errors.Join(err, fmt.Errorf("the kernel has no capability %s: its number is %d, the last is %d", w.name, w.number, last))
			continue
		}
		for i, s := range exportedSets() {
			if common[i].known {
				has := common[i].bits>>w.number&1 == 1
				b.Set(capabilityMetric, collectors.Number(has), c.name, w.name, s.set)
			}
		}
	}
	process.AddFailure(&b, c.name, process.ReasonOf(err))
	return b.Samples, err
}

// lastNumber returns the number of the last capability of the kernel, see
// proc_sys_kernel(5), or the largest possible one if unknown.
func lastNumber(files *process.ProcReader) int {
	text, _ := files.ReadPath(files.Mount + "/sys/kernel/cap_last_cap")
	if last, err := strconv.Atoi(string(bytes.TrimSpace(text))); err == nil {
		return last
	}
	return 63
}

// set is a set that all processes have in common.
type set struct {
	bits  uint64
	known bool
}

// common reads the sets that all processes have in common.
func (c *collector) common(ctx context.Context, files *process.ProcReader) (common [4]set, err error) {
	procs, err := c.selector.Processes(ctx)
	if err != nil {
		return common, err
	}
	read := 0
	for _, p := range procs {
		status, errRead := files.Read(p.PID, "status")
		if process.ReasonOf(errRead) == process.Gone { // it has ended in the meantime
			continue
		}
		sets, errParse := parseSets(status)
		if problem := cmp.Or(errRead, errParse); problem != nil && err == nil {
			err = fmt.Errorf("read capabilities of process %d: %w", p.PID, problem)
		}
		for i, s := range sets {
			if read == 0 {
				common[i] = s
			}
			common[i] = set{common[i].bits & s.bits, common[i].known && s.known}
		}
		read++
	}
	if read == 0 {
		err = collectors.Errorf(process.Gone, "find %s: it has just ended", c.selector)
	}
	return common, err
}

// parseSets parses the sets in /proc/PID/status. A set with a missing or invalid line is
// unknown, and the error names the line.
func parseSets(status []byte) (sets [4]set, err error) {
	for i, s := range exportedSets() {
		text, ok := process.StatusLine(status, s.line)
		if !ok {
			err = errors.Join(err, fmt.Errorf("no line %s", s.line))
			continue
		}
		bits, errMask := strconv.ParseUint(string(text), 16, 64)
		if errMask != nil {
			err = errors.Join(err, fmt.Errorf("line %s: %.32q is not a mask", s.line, text))
			continue
		}
		sets[i] = set{bits, true}
	}
	return sets, err
}

// Describe implements Collector.
func (c *collector) Describe() []collectors.Desc { return collectors.Describe(defs()) }

// nearestName suggests a known name similar to got.
func nearestName(got string, known []string) string {
	best, least := "", 1+len(got)/4
	for _, k := range known {
		if n := text.Distance(got, k); n <= least {
			best, least = k, n-1
		}
	}
	if best == "" {
		return "expected a name of capabilities(7), such as NET_ADMIN"
	}
	return fmt.Sprintf("did you mean %s?", best)
}
