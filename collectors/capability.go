package collectors

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// CapabilityConfig configures the kind capability: whether processes have
// capabilities(7).
type CapabilityConfig struct {
	// Capabilities are names as in capabilities(7), in any case, with or without CAP_.
	Capabilities []string `yaml:"capabilities"`
	// Process says which process is meant; nil is the one that asks.
	Process *ProcessSelector `yaml:"process,omitempty"`
}

// capabilityNames are the names in the order of their numbers, from 0: see
// include/uapi/linux/capability.h.
const capabilityNames = `
	CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE
	NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT
	SYS_ADMIN SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP
	MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE`

// capabilityName is a name as the label has it.
func capabilityName(name string) string {
	return strings.TrimPrefix(strings.ToUpper(name), "CAP_")
}

// Problems implements Kind.
func (c *CapabilityConfig) Problems() []Problem {
	var problems []Problem
	if len(c.Capabilities) == 0 {
		problems = append(problems, Problem{"capabilities", "no capabilities: expected at least one name, such as NET_ADMIN"})
	}
	known := strings.Fields(capabilityNames)
	seen := map[string]bool{}
	for i, text := range c.Capabilities {
		path, name := fmt.Sprintf("capabilities[%d]", i), capabilityName(text)
		switch {
		case !slices.Contains(known, name):
			problems = append(problems, Problem{path, fmt.Sprintf("capability %q: %s", text, nearestName(name, known))})
		case seen[name]:
			problems = append(problems, Problem{path, fmt.Sprintf("capability %q: expected each once", text)})
		}
		seen[name] = true
	}
	if c.Process != nil {
		problems = append(problems, c.Process.problems("process.")...)
	}
	return problems
}

// External implements Kind: processes are on this host.
func (c *CapabilityConfig) External() bool { return false }

// Uses implements Kind.
func (c *CapabilityConfig) Uses() []string { return nil }

// New implements Kind.
func (c *CapabilityConfig) New(env Env) (Collector, error) {
	collector := &capability{name: env.Name}
	if c.Process != nil {
		collector.selector = *c.Process
	}
	known := strings.Fields(capabilityNames)
	for _, text := range c.Capabilities {
		name := capabilityName(text)
		collector.wanted = append(collector.wanted, wantedCapability{name, slices.Index(known, name)})
	}
	return collector, nil
}

type capability struct {
	name     string
	selector ProcessSelector
	wanted   []wantedCapability
}

type wantedCapability struct {
	name   string
	number int
}

// capabilitySets are the sets that are exported, and their lines in /proc/PID/status.
func capabilitySets() [4]struct{ set, line string } {
	return [...]struct{ set, line string }{
		{"effective", "CapEff"}, {"permitted", "CapPrm"}, {"bounding", "CapBnd"}, {"ambient", "CapAmb"},
	}
}

// Collect reads the sets of all processes. What one of them does not show is absent, and
// so is a capability that the kernel does not have.
func (c *capability) Collect(ctx context.Context) ([]Sample, error) {
	var b batch
	files := procReader{mount: c.selector.mount()}
	common, err := c.common(ctx, &files)
	last := lastCapability(&files)
	for _, w := range c.wanted {
		if w.number > last {
			err = errors.Join(err, fmt.Errorf("the kernel has no capability %s: its number is %d, the last is %d", w.name, w.number, last))
			continue
		}
		for i, s := range capabilitySets() {
			if common[i].known {
				has := common[i].bits>>w.number&1 == 1
				b.set(capabilityProcessCapabilityMetric, number(has), c.name, w.name, s.set)
			}
		}
	}
	addProcessFailure(&b, c.name, reasonOfProcess(err))
	return b.samples, err
}

// lastCapability returns the number of the last capability that the kernel has, see
// proc_sys_kernel(5); where that is not told, of the last that there can be.
func lastCapability(files *procReader) int {
	text, _ := files.readPath(files.mount + "/sys/kernel/cap_last_cap")
	if last, err := strconv.Atoi(string(bytes.TrimSpace(text))); err == nil {
		return last
	}
	return 63
}

// capabilitySet is a set that all processes have in common.
type capabilitySet struct {
	bits  uint64
	known bool
}

// common reads the sets that all processes have in common.
func (c *capability) common(ctx context.Context, files *procReader) (common [4]capabilitySet, err error) {
	procs, err := c.selector.processes(ctx)
	if err != nil {
		return common, err
	}
	read := 0
	for _, p := range procs {
		status, errRead := files.read(p.PID, "status")
		if reasonOfProcess(errRead) == processGone { // it has ended since it was found
			continue
		}
		sets, errParse := parseCapabilities(status)
		if problem := cmp.Or(errRead, errParse); problem != nil && err == nil {
			err = fmt.Errorf("read capabilities of process %d: %w", p.PID, problem)
		}
		for i, s := range sets {
			if read == 0 {
				common[i] = s
			}
			common[i] = capabilitySet{common[i].bits & s.bits, common[i].known && s.known}
		}
		read++
	}
	if read == 0 {
		err = &processError{processGone, fmt.Errorf("look for %s: it has just ended", c.selector)}
	}
	return common, err
}

// parseCapabilities reads the sets in /proc/PID/status. One without a line, or with one
// that is no mask, is not known; the error names its line.
func parseCapabilities(status []byte) (sets [4]capabilitySet, err error) {
	for i, s := range capabilitySets() {
		text, ok := statusLine(status, s.line)
		if !ok {
			err = errors.Join(err, fmt.Errorf("no line %s", s.line))
			continue
		}
		bits, errMask := strconv.ParseUint(string(text), 16, 64)
		if errMask != nil {
			err = errors.Join(err, fmt.Errorf("line %s: %.32q is no mask", s.line, text))
			continue
		}
		sets[i] = capabilitySet{bits, true}
	}
	return sets, err
}

// Describe implements Collector.
func (c *capability) Describe() []Desc { return describe(capabilityDefs()) }

// nearestName says which name was probably meant, if one is near.
func nearestName(got string, known []string) string {
	best, least := "", 1+len(got)/4
	for _, k := range known {
		if n := editDistance(got, k); n <= least {
			best, least = k, n-1
		}
	}
	if best == "" {
		return "expected a name of capabilities(7), such as NET_ADMIN"
	}
	return fmt.Sprintf("did you mean %s?", best)
}

// editDistance counts the bytes to insert, delete or replace to make b of a.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
