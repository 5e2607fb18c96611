package kubernetes

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// Config is the configuration of the kind kubernetes: one API server, as the workload uses it.
// Without Kubeconfig and Server, it uses the pod's service account.
type Config struct {
	// Kubeconfig is the path of a kubeconfig file. Context selects one of its contexts;
	// empty means the current context of the file.
	Kubeconfig string `yaml:"kubeconfig,omitempty"`
	Context    string `yaml:"context,omitempty"`

	// Server is the URL of an API server that is configured inline, with the files below.
	// TokenFile is read for every request, so that a rotated token is used at once.
	Server    string `yaml:"server,omitempty"`
	TokenFile string `yaml:"token_file,omitempty"`
	CAFile    string `yaml:"ca_file,omitempty"`
	CertFile  string `yaml:"cert_file,omitempty"`
	KeyFile   string `yaml:"key_file,omitempty"`
	// InsecureSkipVerify accepts any server certificate. CAFile then has no effect.
	InsecureSkipVerify bool `yaml:"insecure_skip_verify,omitempty"`

	// Watch lists the resources to watch, each as "resource" or "group/resource".
	Watch []string `yaml:"watch,omitempty"`
	// Namespaces limits the watches to these namespaces: one watch for each resource in each
	// namespace. Empty means all namespaces.
	Namespaces []string `yaml:"namespaces,omitempty"`
	// WatchIdleTimeout is how long an open watch may be silent. After it, a watch that has
	// delivered an event counts as hung; any other is opened again. The default is 90 s,
	// because an API server sends a bookmark about once a minute.
	WatchIdleTimeout model.Duration `yaml:"watch_idle_timeout,omitempty"`
	// Access lists the rights that the account must have.
	Access []Access `yaml:"access,omitempty"`
	// CRDs lists the custom resource definitions that the API server must serve.
	CRDs []string `yaml:"crds,omitempty"`
}

// maxWatches bounds the watches of a collector. Each needs memory and a stream, and an API server
// allows 100 streams on a connection.
const maxWatches = 100

// watched is the target of one watch: a resource, as in Config.Watch, in one namespace or, if that
// is empty, in all.
type watched struct{ resource, namespace string }

// watches returns the target of each watch.
func (c *Config) watches() []watched {
	namespaces := c.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{""}
	}
	var all []watched
	for _, resource := range c.Watch {
		for _, namespace := range namespaces {
			all = append(all, watched{resource, namespace})
		}
	}
	return all
}

// Access is one right of the account.
type Access struct {
	// Verb is an API verb, such as list.
	Verb string `yaml:"verb"`
	// Resource is "resource" or "group/resource".
	Resource string `yaml:"resource"`
	// Namespace limits the right to one namespace; empty means all namespaces.
	Namespace string `yaml:"namespace,omitempty"`
}

// SetDefaults sets the defaults, before the block is decoded.
func (c *Config) SetDefaults() {
	c.WatchIdleTimeout = model.Duration(90 * time.Second)
}

// External implements collectors.Kind. A restart of the workload cannot repair an API server, even
// on the same host.
func (c *Config) External() bool { return true }

// Uses implements collectors.Kind.
func (c *Config) Uses() []string { return nil }

// Problems implements collectors.Kind.
func (c *Config) Problems() []collectors.Problem {
	problems := c.serverProblems()
	if c.WatchIdleTimeout <= 0 {
		problems = append(problems, collectors.Problem{Path: "watch_idle_timeout", Text: fmt.Sprintf("duration %s: expected more than 0s", c.WatchIdleTimeout)})
	}
	seen := map[any]bool{}
	once := func(path string, what any, text string) {
		if seen[what] {
			problems = append(problems, collectors.Problem{Path: path, Text: text + " is listed twice: expected it once"})
		}
		seen[what] = true
	}
	for i, w := range c.Watch {
		path := fmt.Sprintf("watch[%d]", i)
		problems = append(problems, resourceProblems(path, w, "namespaces: [%s] and watch: [%s]")...)
		if len(c.Namespaces) > 0 && slices.Contains(clusterScoped(), w) {
			problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf("resource %q is in no namespace: expected it in a collector without namespaces", w)})
		}
		once(path, "watch "+w, fmt.Sprintf("resource %q", w))
	}
	for i, n := range c.Namespaces {
		path := fmt.Sprintf("namespaces[%d]", i)
		problems = append(problems, namespaceProblems(path, n)...)
		once(path, "namespace "+n, fmt.Sprintf("namespace %q", n))
	}
	if len(c.Namespaces) > 0 && len(c.Watch) == 0 {
		problems = append(problems, collectors.Problem{Path: "namespaces", Text: "namespaces is set without watch: expected watch with it"})
	}
	if n := len(c.watches()); n > maxWatches {
		problems = append(problems, collectors.Problem{Path: "watch", Text: fmt.Sprintf("%d watches, one for each resource in each namespace: expected at most %d", n, maxWatches)})
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

// serverProblems checks the address and the credentials.
func (c *Config) serverProblems() []collectors.Problem {
	var problems []collectors.Problem
	add := func(path, text string) { problems = append(problems, collectors.Problem{Path: path, Text: text}) }
	if c.Kubeconfig != "" && c.Server != "" {
		add("server", "server and kubeconfig are both set: expected at most one of them")
	}
	if c.Context != "" && c.Kubeconfig == "" {
		add("context", fmt.Sprintf("context %q has no kubeconfig: expected kubeconfig with it", c.Context))
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
				add(f.path, f.path+" is set without server: expected server with it")
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

// apiVerbs are the verbs of the API and the special verbs of its authorizers.
// Source: kubernetes.io/docs/reference/access-authn-authz/authorization.
func apiVerbs() []string {
	return []string{
		"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection",
		"use", "bind", "escalate", "impersonate", "approve", "sign", "attest", "*",
	}
}

func (a Access) problems(path string) []collectors.Problem {
	var problems []collectors.Problem
	if !slices.Contains(apiVerbs(), a.Verb) {
		problems = append(problems, collectors.Problem{Path: path + ".verb", Text: fmt.Sprintf("verb %q: expected one of %s", a.Verb, strings.Join(apiVerbs(), ", "))})
	}
	problems = append(problems, resourceProblems(path+".resource", a.Resource, "namespace: %s and resource: %s")...)
	if a.Namespace != "" {
		problems = append(problems, namespaceProblems(path+".namespace", a.Namespace)...)
	}
	return problems
}
