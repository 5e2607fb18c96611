package components

import (
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// The values of Config.Accept.
const (
	acceptExpected = "expected"
	acceptAny      = "any"
)

// Config configures the kind components: parts of the workload that report their health.
type Config struct {
	// Expect names the components that must report. Before its first report a component
	// is expected and not reported, and has no alive and no ready.
	Expect []string `yaml:"expect,omitempty"`
	// Accept selects the reports: those of the expected components ("expected") or of
	// every name ("any", at most 1,000 names). Empty is "expected" if there is an expected
	// component, else "any".
	Accept string `yaml:"accept,omitempty"`
	// Deadline is the longest time between two reports of a component by call or by
	// datagram. After it the component is not alive. Zero is no deadline.
	Deadline model.Duration `yaml:"deadline,omitempty"`
	// Deadlines override Deadline by the name of the component.
	Deadlines map[string]model.Duration `yaml:"deadlines,omitempty"`
	// NotifyDirectory is the directory of the datagram sockets for sd_notify messages:
	// NAME.sock for each expected component. Empty is no sockets. A missing directory is
	// created.
	NotifyDirectory string `yaml:"notify_directory,omitempty"`
	// NotifyMode holds the permission bits of those sockets, in octal. Empty is 0660.
	NotifyMode string `yaml:"notify_mode,omitempty"`
	// SharedBooleans are the files whose first byte is whether the component is alive, by
	// its name. These components are expected.
	SharedBooleans map[string]SharedBoolean `yaml:"shared_booleans,omitempty"`
	// Events configures events by name. Events of other names are rejected.
	Events map[string]Events `yaml:"events,omitempty"`
}

// SetDefaults sets the defaults of a block before it is decoded.
func (c *Config) SetDefaults() { c.NotifyMode = "0660" }

// External implements Kind: components are parts of the workload itself.
func (c *Config) External() bool { return false }

// Uses implements Kind.
func (c *Config) Uses() []string { return nil }

// ReportsAnytime implements Reporting: a report takes effect at once.
func (c *Config) ReportsAnytime() {}

// SecretValue implements SecretFinder: there are no secrets, and keys can be names of
// components.
func (c *Config) SecretValue(string) (secret, decided bool) { return false, true }

// Problems implements Kind.
func (c *Config) Problems() []collectors.Problem {
	var problems []collectors.Problem
	for i, name := range c.Expect {
		path := fmt.Sprintf("expect[%d]", i)
		problems = append(problems, collectors.NameProblem(path, name)...)
		if slices.Contains(c.Expect[:i], name) {
			problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf("component %q: expected each name once", name)})
		}
	}
	problems = append(problems, c.acceptProblems()...)
	problems = append(problems, c.deadlineProblems()...)
	problems = append(problems, c.sharedProblems()...)
	problems = append(problems, c.eventProblems()...)
	return append(problems, c.notifyProblems()...)
}

func (c *Config) acceptProblems() []collectors.Problem {
	switch c.Accept {
	case "", acceptAny:
		return nil
	case acceptExpected:
		if len(c.names()) == 0 {
			return []collectors.Problem{{Path: "accept", Text: "accept expected: expected at least one name in expect"}}
		}
		return nil
	}
	return []collectors.Problem{{Path: "accept", Text: fmt.Sprintf("accept %q: expected %s or %s", c.Accept, acceptExpected, acceptAny)}}
}

func (c *Config) deadlineProblems() []collectors.Problem {
	var problems []collectors.Problem
	if c.Deadline < 0 {
		problems = append(problems, collectors.Problem{Path: "deadline", Text: fmt.Sprintf("deadline %s: expected 0s (none) or more", c.Deadline)})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Deadlines)) {
		path := "deadlines." + name
		if c.Deadlines[name] < 0 {
			problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf("deadline %s: expected 0s (none) or more", c.Deadlines[name])})
		}
		if !c.acceptsAny() && !slices.Contains(c.names(), name) {
			problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf("component %q: expected a name that is in expect", name)})
			continue
		}
		problems = append(problems, collectors.NameProblem(path, name)...)
	}
	return problems
}

func (c *Config) notifyProblems() []collectors.Problem {
	var problems []collectors.Problem
	if _, err := c.notifyMode(); err != nil {
		problems = append(problems, collectors.Problem{Path: "notify_mode", Text: fmt.Sprintf("mode %q: expected octal permission bits such as 0660", c.NotifyMode)})
	}
	if c.NotifyDirectory == "" {
		return problems
	}
	if !filepath.IsAbs(c.NotifyDirectory) {
		problems = append(problems, collectors.Problem{Path: "notify_directory", Text: fmt.Sprintf("path %q: expected an absolute path", c.NotifyDirectory)})
	}
	if len(c.names()) == 0 {
		problems = append(problems, collectors.Problem{Path: "notify_directory", Text: "notify_directory without an expected component: expected at least one name in expect, because each gets a socket"})
	}
	for _, name := range c.names() {
		if path := c.socket(name); len(path) > remote.MaxSocketPath {
			problems = append(problems, collectors.Problem{Path: "notify_directory", Text: fmt.Sprintf("socket path %q has %d bytes: expected at most %d", path, len(path), remote.MaxSocketPath)})
		}
	}
	return problems
}

// New implements Kind.
func (c *Config) New(collectors.Env) (collectors.Collector, error) {
	mode, err := c.notifyMode()
	if err != nil {
		return nil, fmt.Errorf("parse notify_mode: %w", err)
	}
	comps := &Collector{
		expected:   c.names(),
		acceptsAny: c.acceptsAny(),
		deadline:   time.Duration(c.Deadline),
		deadlines:  make(map[string]time.Duration, len(c.Deadlines)),
		events:     c.eventKinds(),
		mode:       mode,
		wake:       make(chan struct{}, 1),
		known:      make(map[string]*component),
		faults:     make(map[string]error),
	}
	for name, d := range c.Deadlines {
		comps.deadlines[name] = time.Duration(d)
	}
	for _, name := range comps.expected {
		known := comps.addLocked(name)
		known.expected = true
		if b, ok := c.SharedBooleans[name]; ok {
			unread := reading{reason: "shared boolean: not read yet"}
			known.shared = new(unread.evidence())
			comps.booleans = append(comps.booleans, &sharedBoolean{name: name, path: b.Path, deadline: time.Duration(b.Deadline), last: unread})
		}
		if c.NotifyDirectory != "" {
			comps.sockets = append(comps.sockets, &notifySocket{name: name, path: c.socket(name)})
		}
	}
	return comps, nil
}

// names returns the expected components in the order of the configuration; those
// that only have a shared boolean follow by name.
func (c *Config) names() []string {
	names := slices.Clone(c.Expect)
	for _, name := range slices.Sorted(maps.Keys(c.SharedBooleans)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func (c *Config) acceptsAny() bool {
	return c.Accept == acceptAny || c.Accept == "" && len(c.names()) == 0
}

func (c *Config) socket(name string) string {
	return filepath.Join(c.NotifyDirectory, name+".sock")
}

func (c *Config) notifyMode() (fs.FileMode, error) {
	if c.NotifyMode == "" {
		return 0o660, nil
	}
	bits, err := strconv.ParseUint(c.NotifyMode, 8, 9)
	return fs.FileMode(bits), err
}
