package kubernetes

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// Config configures the kind kubernetes: one API server, as the
// workload uses it. Without Kubeconfig and Server, the pod's service account is
// used.
type Config struct {
	// Kubeconfig is the path of a kubeconfig file; Context picks one of its
	// contexts, and the file's current context where it is empty.
	Kubeconfig string `yaml:"kubeconfig,omitempty"`
	Context    string `yaml:"context,omitempty"`

	// Server is the URL of an API server that is configured inline, with the
	// files below. TokenFile is read again for every request, so that a rotated
	// token is used at once.
	Server    string `yaml:"server,omitempty"`
	TokenFile string `yaml:"token_file,omitempty"`
	CAFile    string `yaml:"ca_file,omitempty"`
	CertFile  string `yaml:"cert_file,omitempty"`
	KeyFile   string `yaml:"key_file,omitempty"`
	// InsecureSkipVerify accepts any server certificate; CAFile is then unused.
	InsecureSkipVerify bool `yaml:"insecure_skip_verify,omitempty"`

	// Watch lists the resources on which a watch is kept open, each as
	// "resource" or "group/resource".
	Watch []string `yaml:"watch,omitempty"`
	// WatchIdleTimeout is how long an open watch may stay silent; 90 s where it is
	// not set, as an API server sends a bookmark about each minute. Then a watch
	// that has delivered something counts as hung, and any other is opened anew.
	WatchIdleTimeout model.Duration `yaml:"watch_idle_timeout,omitempty"`
	// Access lists what the account has to be allowed to do.
	Access []Access `yaml:"access,omitempty"`
	// CRDs lists the custom resource definitions that have to be served.
	CRDs []string `yaml:"crds,omitempty"`
}

// Access is one thing that the account has to be allowed to do.
type Access struct {
	// Verb is an API verb, such as list.
	Verb string `yaml:"verb"`
	// Resource is "resource" or "group/resource".
	Resource string `yaml:"resource"`
	// Namespace limits the question to one namespace; empty means all of them.
	Namespace string `yaml:"namespace,omitempty"`
}

// SetDefaults sets what a block has before it is decoded.
func (c *Config) SetDefaults() {
	c.WatchIdleTimeout = model.Duration(90 * time.Second)
}

// External says that an API server is never a part of the workload: restarting
// the workload cannot cure it, not even where both share a host.
func (c *Config) External() bool { return true }

// Uses names no other collector.
func (c *Config) Uses() []string { return nil }

// Problems returns every mistake that can be seen without reading a file.
func (c *Config) Problems() []collectors.Problem {
	problems := c.serverProblems()
	if c.WatchIdleTimeout <= 0 {
		problems = append(problems, collectors.Problem{Path: "watch_idle_timeout", Text: fmt.Sprintf("duration %s: expected more than 0s", c.WatchIdleTimeout)})
	}
	seen := map[any]bool{}
	once := func(path string, what any, text string) {
		if seen[what] {
			problems = append(problems, collectors.Problem{Path: path, Text: text + " is listed twice: expected each once"})
		}
		seen[what] = true
	}
	for i, w := range c.Watch {
		path := fmt.Sprintf("watch[%d]", i)
		problems = append(problems, resourceProblems(path, w)...)
		once(path, "watch "+w, fmt.Sprintf("resource %q", w))
	}
	for i, a := range c.Access {
		path := fmt.Sprintf("access[%d]", i)
		problems = append(problems, a.problems(path)...)
		once(path, a, fmt.Sprintf("verb %q on resource %q", a.Verb, a.Resource))
	}
	for i, crd := range c.CRDs {
		path := fmt.Sprintf("crds[%d]", i)
		if !subdomain.MatchString(crd) || !strings.Contains(crd, ".") {
			problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf("custom resource definition %q: expected PLURAL.GROUP, such as kuryrports.openstack.org", crd)})
		}
		once(path, "crd "+crd, fmt.Sprintf("custom resource definition %q", crd))
	}
	return problems
}

// serverProblems checks how the API server is found and what is presented to it.
func (c *Config) serverProblems() []collectors.Problem {
	var problems []collectors.Problem
	add := func(path, text string) { problems = append(problems, collectors.Problem{Path: path, Text: text}) }
	if c.Kubeconfig != "" && c.Server != "" {
		add("server", "server and kubeconfig are both set: expected at most one of them")
	}
	if c.Context != "" && c.Kubeconfig == "" {
		add("context", fmt.Sprintf("context %q has no kubeconfig: expected kubeconfig beside it", c.Context))
	}
	if c.Server == "" {
		for _, f := range []struct {
			path string
			set  bool
		}{
			{"token_file", c.TokenFile != ""}, {"ca_file", c.CAFile != ""}, {"cert_file", c.CertFile != ""},
			{"key_file", c.KeyFile != ""}, {"insecure_skip_verify", c.InsecureSkipVerify},
		} {
			if f.set {
				add(f.path, f.path+" is set without server: expected server beside it")
			}
		}
		return problems
	}
	u, err := url.Parse(c.Server)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		add("server", "server: expected a URL such as https://host:6443, without user, query or fragment")
	} else if remote.InvalidPort(u) {
		add("server", "server: port "+u.Port()+" in the URL: expected 1 to 65535")
	}
	if (c.CertFile == "") != (c.KeyFile == "") {
		add("cert_file", "only one of cert_file and key_file is set: expected both or none")
	}
	return problems
}

// kubeVerbs are the verbs of the API and the special verbs of its authorizers.
// Source: kubernetes.io/docs/reference/access-authn-authz/authorization.
func kubeVerbs() []string {
	return []string{
		"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection",
		"use", "bind", "escalate", "impersonate", "approve", "sign", "attest", "*",
	}
}

func (a Access) problems(path string) []collectors.Problem {
	var problems []collectors.Problem
	if !slices.Contains(kubeVerbs(), a.Verb) {
		problems = append(problems, collectors.Problem{Path: path + ".verb", Text: fmt.Sprintf("verb %q: expected one of %s", a.Verb, strings.Join(kubeVerbs(), ", "))})
	}
	problems = append(problems, resourceProblems(path+".resource", a.Resource)...)
	if a.Namespace != "" && !label.MatchString(a.Namespace) {
		problems = append(problems, collectors.Problem{Path: path + ".namespace", Text: fmt.Sprintf("namespace %q: expected lower-case letters, digits and '-'", a.Namespace)})
	}
	return problems
}

// The names of resources and namespaces are RFC 1123 labels, those of groups and
// custom resource definitions RFC 1123 subdomains.
var (
	label     = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
	subdomain = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
)

// resource is a resource of the API; the core group is the empty one.
type resource struct{ group, name string }

// parseKubeResource reads "resource" or "group/resource".
func parseKubeResource(s string) (resource, bool) {
	group, name, grouped := strings.Cut(s, "/")
	if !grouped {
		return resource{name: s}, label.MatchString(s)
	}
	return resource{group, name}, subdomain.MatchString(group) && label.MatchString(name)
}

func resourceProblems(path, s string) []collectors.Problem {
	if _, ok := parseKubeResource(s); ok {
		return nil
	}
	return []collectors.Problem{{Path: path, Text: fmt.Sprintf("resource %q: expected RESOURCE or GROUP/RESOURCE in lower case, such as pods or apps/deployments", s)}}
}
