package certificate

import (
	"fmt"
	"net"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/kubernetes"
	"github.com/vitals-health/vitals/collectors/remote"
)

// The bounds of a configuration: each file and each name is a series.
const (
	// maxPaths bounds the entries of files, and maxFiles the files that they match.
	maxPaths, maxFiles = 16, 64
	maxNames           = 32
)

// Config configures the kind certificate: certificates in files, or in one secret of Kubernetes.
type Config struct {
	// Files are paths of files with certificates in PEM, or patterns of paths.
	Files []string `yaml:"files,omitempty"`
	// Secret is a secret of Kubernetes with the keys tls.crt and tls.key.
	Secret *Secret `yaml:"secret,omitempty"`
	// KeyFile has the private key of the certificate in the only file.
	KeyFile string `yaml:"key_file,omitempty"`
	// CAFile has the trusted certificates. Without it, those of the system are used.
	CAFile string `yaml:"ca_file,omitempty"`
	// Names are the hosts and addresses for which the certificates must be valid.
	Names []string `yaml:"names,omitempty"`
}

// Secret is a secret of Kubernetes. Without Kubeconfig, it is read with the pod's service account.
type Secret struct {
	Namespace  string `yaml:"namespace"`
	Name       string `yaml:"name"`
	Kubeconfig string `yaml:"kubeconfig,omitempty"`
	Context    string `yaml:"context,omitempty"`
}

// Namespaces are RFC 1123 labels, and names of secrets RFC 1123 subdomains.
var (
	namespaceName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
	secretName    = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$`)
	hostName      = regexp.MustCompile(`^[a-zA-Z0-9_]([-a-zA-Z0-9_.]{0,251}[a-zA-Z0-9_])?$`)
)

// pattern reports whether a path is a pattern.
func pattern(path string) bool { return strings.ContainsAny(path, `*?[\`) }

// Problems implements collectors.Kind.
func (c *Config) Problems() []collectors.Problem {
	var problems []collectors.Problem
	add := func(path, format string, args ...any) {
		problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf(format, args...)})
	}
	if (len(c.Files) == 0) == (c.Secret == nil) {
		add("", "expected files or secret, and not both")
	}
	problems = append(problems, c.fileProblems()...)
	if c.Secret != nil {
		problems = append(problems, c.Secret.problems()...)
	}
	if c.KeyFile != "" {
		problems = append(problems, remote.PathProblem("key_file", c.KeyFile)...)
		if len(c.Files) != 1 || pattern(c.Files[0]) {
			add("key_file", "key_file: expected one entry of files with it, which is no pattern")
		}
	}
	if c.CAFile != "" {
		problems = append(problems, remote.PathProblem("ca_file", c.CAFile)...)
	}
	if len(c.Names) > maxNames {
		add("names", "%d names: expected at most %d", len(c.Names), maxNames)
	}
	for i, name := range c.Names {
		at := fmt.Sprintf("names[%d]", i)
		if net.ParseIP(name) == nil && !hostName.MatchString(name) {
			add(at, "name %q: expected a host or an IP address, such as www.example", name)
		}
		if slices.Contains(c.Names[:i], name) {
			add(at, "name %q is listed twice: expected it once", name)
		}
	}
	return problems
}

func (c *Config) fileProblems() []collectors.Problem {
	var problems []collectors.Problem
	if len(c.Files) > maxPaths {
		problems = append(problems, collectors.Problem{Path: "files", Text: fmt.Sprintf("%d files: expected at most %d", len(c.Files), maxPaths)})
	}
	for i, path := range c.Files {
		at := fmt.Sprintf("files[%d]", i)
		problems = append(problems, remote.PathProblem(at, path)...)
		if _, err := filepath.Match(path, ""); err != nil {
			problems = append(problems, collectors.Problem{Path: at, Text: fmt.Sprintf("file %q: expected a path or a pattern: %v", path, err)})
		}
		if slices.Contains(c.Files[:i], path) {
			problems = append(problems, collectors.Problem{Path: at, Text: fmt.Sprintf("file %q is listed twice: expected it once", path)})
		}
	}
	return problems
}

func (s *Secret) problems() []collectors.Problem {
	var problems []collectors.Problem
	add := func(path, format string, args ...any) {
		problems = append(problems, collectors.Problem{Path: "secret." + path, Text: fmt.Sprintf(format, args...)})
	}
	if !namespaceName.MatchString(s.Namespace) {
		add("namespace", "namespace %q: expected lower-case letters, digits and '-'", s.Namespace)
	}
	if !secretName.MatchString(s.Name) || strings.Contains(s.Name, "..") {
		add("name", "name %q: expected lower-case letters, digits, '-' and '.'", s.Name)
	}
	if s.Context != "" && s.Kubeconfig == "" {
		add("context", "context %q has no kubeconfig: expected kubeconfig with it", s.Context)
	}
	return problems
}

// External implements collectors.Kind. Files are on this host.
func (c *Config) External() bool { return c.Secret != nil }

// Uses implements collectors.Kind.
func (c *Config) Uses() []string { return nil }

// ConfigurableTarget implements collectors.Targeted.
func (c *Config) ConfigurableTarget() {}

// KubernetesRights returns the right that a secret needs.
func (c *Config) KubernetesRights() []kubernetes.Right {
	if c.Secret == nil {
		return nil
	}
	return []kubernetes.Right{{Verb: "get", Resource: "secrets", Namespace: c.Secret.Namespace, Name: c.Secret.Name}}
}

// SecretValue implements collectors.SecretFinder: the key secret has the name of a secret, and no
// other key has a secret value.
func (c *Config) SecretValue(string) (secret, decided bool) { return false, true }
