// Package discovery configures the targets of collectors that check several: those that the
// configuration lists, and those that files or Kubernetes have.
package discovery

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"path/filepath"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/kubernetes"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/targets"
)

// The defaults of Several and Discovery.
const (
	defaultConcurrency = 100
	defaultLimit       = 1000
)

// maxFiles bounds the paths and patterns of a configuration.
const maxFiles = 100

// Several are the keys of a kind that can check several targets with the same options. A kind
// embeds it, and uses Of in its methods.
type Several struct {
	// Targets are checked in place of the one target of the collector.
	Targets []Entry `yaml:"targets,omitempty"`
	// Discovery finds more targets while the program runs.
	Discovery *Discovery `yaml:"discovery,omitempty"`
	// Concurrency is how many targets are checked at a time; 100 by default.
	Concurrency int `yaml:"concurrency,omitempty"`
}

// Discovery configures where targets are found.
type Discovery struct {
	// Files are the paths of files with targets, or patterns for them.
	Files []string `yaml:"files,omitempty"`
	// Kubernetes finds pods and endpoints of services.
	Kubernetes *kubernetes.Discovery `yaml:"kubernetes,omitempty"`
	// Limit is how many of the found targets are checked; 1,000 by default.
	Limit int `yaml:"limit,omitempty"`
}

// Entry is a target. The short form is its address.
type Entry struct {
	// Name is the value of the label dependency or component. Without it, the name follows from
	// that of the collector and the address.
	Name string `yaml:"name,omitempty"`
	// Address is the value of the key that the kind has for its one target.
	Address string `yaml:"address"`
}

// UnmarshalYAML reads an address or a mapping.
func (e *Entry) UnmarshalYAML(unmarshal func(any) error) error {
	var form any
	if err := unmarshal(&form); err != nil {
		return err
	}
	if _, ok := form.(map[string]any); !ok {
		return unmarshal(&e.Address)
	}
	type plain Entry
	return unmarshal((*plain)(e))
}

// problems returns the mistakes that are independent of a kind.
func (s *Several) problems() []collectors.Problem {
	var problems []collectors.Problem
	add := func(path, format string, args ...any) {
		problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf(format, args...)})
	}
	if s.Concurrency < 0 {
		add("concurrency", "concurrency %d: expected at least 1", s.Concurrency)
	}
	d := s.Discovery
	if d == nil {
		return problems
	}
	if d.Limit < 0 {
		add("discovery.limit", "limit %d: expected at least 1", d.Limit)
	}
	if d.Kubernetes != nil {
		for _, p := range d.Kubernetes.Problems() {
			add("discovery.kubernetes."+p.Path, "%s", p.Text)
		}
	} else if len(d.Files) == 0 {
		add("discovery", "expected files, such as /etc/vitals/targets/*.yml, or kubernetes")
	}
	if len(d.Files) > maxFiles {
		add("discovery", "files: expected at most %d paths or patterns", maxFiles)
	}
	for i, pattern := range d.Files {
		path := fmt.Sprintf("discovery.files[%d]", i)
		problems = append(problems, remote.PathProblem(path, pattern)...)
		if _, err := filepath.Match(pattern, ""); err != nil {
			add(path, "pattern %q: %v", pattern, err)
		}
		if !isTargetFile(pattern) {
			add(path, "path %q: expected a file that ends in .yml, .yaml or .json", pattern)
		}
	}
	return problems
}

// MaxTargets implements collectors.Sized.
func (s *Several) MaxTargets() (listed, found int) {
	if s.Discovery != nil {
		found = cmp.Or(s.Discovery.Limit, defaultLimit)
	}
	return len(s.Targets), found
}

// sources returns the sources of targets of the collector of env.
func (t *Targets) sources(env collectors.Env) ([]targets.Source, error) {
	var all []targets.Source
	d := t.several.Discovery
	if d != nil && len(d.Files) > 0 {
		all = append(all, newFiles(d.Files, env.Name))
	}
	if d != nil && d.Kubernetes != nil {
		k := *d.Kubernetes
		if t.plan.Portless {
			k.Port = "1" // a number applies to every endpoint, and the address is without it
		}
		source, err := k.Source(env, func(hostPort string) string { return t.address(&k, hostPort) })
		if err != nil {
			return nil, err
		}
		all = append(all, source)
	}
	return all, nil
}

// address returns the address of a target in Kubernetes: HOST:PORT, or what the kind has in place of
// that, a URL or a host.
func (t *Targets) address(d *kubernetes.Discovery, hostPort string) string {
	if host, _, err := net.SplitHostPort(hostPort); err == nil && t.plan.Portless {
		return host
	}
	if !t.plan.hasURL() {
		return hostPort
	}
	path := d.Path
	if example, err := url.Parse(t.plan.Example); err == nil && path == "" {
		path = example.Path
	}
	return cmp.Or(d.Scheme, "http") + "://" + hostPort + path
}

// hasURL reports whether the address of a target is a URL.
func (p Plan) hasURL() bool { return p.Key == "url" }

// KubernetesRights returns the rights that the discovery needs.
func (s *Several) KubernetesRights() []kubernetes.Right {
	if s.Discovery == nil || s.Discovery.Kubernetes == nil {
		return nil
	}
	return s.Discovery.Kubernetes.KubernetesRights()
}

// listed returns the targets of the configuration.
func (s *Several) listed(collector string) []targets.Target {
	var all []targets.Target
	for _, e := range s.Targets {
		all = append(all, targets.Target{Name: cmp.Or(e.Name, targets.Name(collector, e.Address)), Address: e.Address})
	}
	return all
}
