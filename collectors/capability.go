package collectors

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/common/model"
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

// Collect reads the sets of all processes. A set that one of them does not show is
// absent.
func (c *capability) Collect(ctx context.Context) ([]Sample, error) {
	var b batch
	common, err := c.common(ctx)
	for i, s := range capabilitySets() {
		if !common[i].known {
			continue
		}
		for _, w := range c.wanted {
			has := common[i].bits>>w.number&1 == 1
			b.add("vitals_process_capability", number(has), "process", c.name, "capability", w.name, "set", s.set)
		}
	}
	b.processFailure(c.name, reasonOfProcess(err))
	return b.samples, err
}

// capabilitySet is a set that all processes have in common.
type capabilitySet struct {
	bits  uint64
	known bool
}

// common reads the sets that all processes have in common.
func (c *capability) common(ctx context.Context) ([4]capabilitySet, error) {
	var common [4]capabilitySet
	procs, err := c.selector.processes(ctx)
	if err != nil {
		return common, err
	}
	files := procReader{mount: c.selector.mount()}
	for i := range common {
		common[i] = capabilitySet{^uint64(0), true}
	}
	var failed error
	read := 0
	for _, p := range procs {
		status, err := files.read(p.PID, "status")
		if reasonOfProcess(err) == processGone { // it has ended since it was found
			continue
		}
		read++
		sets, errParse := parseCapabilities(status)
		if failed == nil && (err != nil || errParse != nil) {
			failed = fmt.Errorf("read capabilities of process %d: %w", p.PID, errors.Join(err, errParse))
		}
		for i, s := range sets {
			common[i].bits &= s.bits
			common[i].known = common[i].known && s.known
		}
	}
	if read == 0 {
		return [4]capabilitySet{}, &processError{processGone, fmt.Errorf("look for %s: it has just ended", c.selector)}
	}
	return common, failed
}

// parseCapabilities reads the sets in /proc/PID/status. A set without a line, or with
// one that is no mask, is not known; the error names its line.
func parseCapabilities(status []byte) (sets [4]capabilitySet, err error) {
	for i, s := range capabilitySets() {
		text, ok := statusLine(status, s.line)
		if !ok {
			err = errors.Join(err, fmt.Errorf("no line %s", s.line))
			continue
		}
		bits, errNumber := strconv.ParseUint(string(text), 16, 64)
		if errNumber != nil {
			err = errors.Join(err, fmt.Errorf("line %s: %.32q is no mask", s.line, text))
			continue
		}
		sets[i] = capabilitySet{bits, true}
	}
	return sets, err
}

// Describe implements Collector.
func (c *capability) Describe() []Desc {
	return []Desc{
		{"vitals_process_capability", "Whether the process has the capability in the set (1) or not (0); of several processes, whether all have it. Absent when nobody can say.", model.MetricTypeGauge},
		processFailureDesc(),
	}
}

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
