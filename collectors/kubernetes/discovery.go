package kubernetes

import (
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/targets"
)

// Discovery finds targets in Kubernetes: the pods that a label selector selects, or the endpoints
// of the services that it selects.
type Discovery struct {
	// Role is the resource to watch: endpointslices, endpoints or pods.
	Role string `yaml:"role"`
	// Namespace limits the discovery to one namespace; empty means all namespaces.
	Namespace string `yaml:"namespace,omitempty"`
	// Selector is a label selector, such as app=api.
	Selector string `yaml:"selector"`
	// Port is the name or the number of a port. Without it, there must be only one.
	Port string `yaml:"port,omitempty"`
	// IPFamily selects the addresses of one family. Without it, a pod with both has its primary
	// address for the role pods, and else the one of IPv4.
	IPFamily string `yaml:"ip_family,omitempty"`
	// ReadyOnly leaves out what is not ready.
	ReadyOnly bool `yaml:"ready_only,omitempty"`

	// Scheme is that of the URLs of targets, for a kind with URLs: http by default, or https.
	Scheme string `yaml:"scheme,omitempty"`
	// Path is that of the URLs of targets: by default /, and for scrape /metrics.
	Path string `yaml:"path,omitempty"`

	// Kubeconfig is the path of a kubeconfig file; empty means the pod's service account.
	Kubeconfig string `yaml:"kubeconfig,omitempty"`
	// Context selects one of the contexts of the kubeconfig; empty means its current one.
	Context string `yaml:"context,omitempty"`
}

// The families of addresses, as Kubernetes names them.
const familyIPv4, familyIPv6 = "IPv4", "IPv6"

// Problems returns every mistake that can be found without I/O.
func (d *Discovery) Problems() []collectors.Problem {
	var problems []collectors.Problem
	add := func(path, format string, args ...any) {
		problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf(format, args...)})
	}
	if _, ok := roles()[d.Role]; !ok {
		add("role", "role %q: expected endpointslices, endpoints or pods", d.Role)
	}
	if d.Namespace != "" {
		problems = append(problems, namespaceProblems("namespace", d.Namespace)...)
	}
	if selector, err := labels.Parse(d.Selector); err != nil {
		add("selector", "selector %q: %v", d.Selector, err)
	} else if selector.Empty() {
		add("selector", "selector is missing: expected labels, such as app=api")
	}
	if !validPort(d.Port) {
		add("port", "port %q: expected a name of at most 15 lower-case letters, digits and '-', or 1 to 65535", d.Port)
	}
	if !slices.Contains([]string{"", familyIPv4, familyIPv6}, d.IPFamily) {
		add("ip_family", "ip_family %q: expected IPv4 or IPv6", d.IPFamily)
	}
	if !slices.Contains([]string{"", "http", "https"}, d.Scheme) {
		add("scheme", "scheme %q: expected http or https", d.Scheme)
	}
	if u, err := url.Parse(d.Path); err != nil || d.Path != "" && d.Path[0] != '/' || u.Host != "" {
		add("path", "path %q: expected one that begins with /", d.Path)
	}
	if d.Context != "" && d.Kubeconfig == "" {
		add("context", "context %q has no kubeconfig: expected kubeconfig with it", d.Context)
	}
	return problems
}

// portName is the name of a port.
// Source: RFC 6335, section 5.1, which also requires a letter.
var portName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,13}[a-z0-9])?$`)

// validPort reports whether a port is empty, a name or a number.
func validPort(port string) bool {
	if port == "" {
		return true
	}
	if n, err := strconv.Atoi(port); err == nil {
		return n >= 1 && n <= 65535
	}
	return portName.MatchString(port) && strings.ContainsAny(port, "abcdefghijklmnopqrstuvwxyz")
}

// Source returns what finds the targets of the collector of env. Their addresses are what address
// returns for HOST:PORT. It reads the kubeconfig and the token, and sends nothing.
func (d *Discovery) Source(env collectors.Env, address func(string) string) (targets.Source, error) {
	config, err := (&Config{Kubeconfig: d.Kubeconfig, Context: d.Context}).restConfig(env.Hide)
	if err != nil {
		return nil, fmt.Errorf("discovery in Kubernetes: %w", err)
	}
	client, err := newClient(config, env.Bodies)
	if err != nil {
		return nil, fmt.Errorf("discovery in Kubernetes: %w", err)
	}
	logger := env.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &source{discovery: *d, collector: env.Name, address: address, client: client, logger: logger}, nil
}
