package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/vitals-health/vitals/internal/server"
	"github.com/vitals-health/vitals/internal/text"
)

// namespaceFile has the namespace of a pod with a service account
// (https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/).
const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// maxName bounds a name on the page, in bytes. Names of Kubernetes have at most 253.
const maxName = 253

// about returns whose health this process evaluates. The variables are those with which
// manifests usually pass the names of the pod.
func (p *program) about() server.About {
	host := os.Getenv("POD_NAME")
	if host == "" {
		host, _ = os.Hostname() // the page has no name then
	}
	source := "profile " + p.profile
	if p.configFile != "" {
		source = filepath.Base(p.configFile)
	}
	return server.About{
		Title:         text.Line(p.pageTitle, maxName),
		Host:          text.Line(host, maxName),
		Namespace:     text.Line(cmp.Or(os.Getenv("POD_NAMESPACE"), namespaceIn(namespaceFile)), maxName),
		Configuration: text.Line(source, maxName),
	}
}

// namespaceIn reads the namespace of the pod; empty outside of a pod.
func namespaceIn(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	name, _ := io.ReadAll(io.LimitReader(f, maxName)) // what could be read
	return strings.TrimSpace(string(name))
}

// frameAncestors are the values of --web.frame-ancestor.
type frameAncestors []string

// String implements kingpin.Value.
func (a *frameAncestors) String() string { return strings.Join(*a, " ") }

// IsCumulative lets the flag be repeated.
func (a *frameAncestors) IsCumulative() bool { return true }

// Set takes one value.
func (a *frameAncestors) Set(value string) error {
	origin := regexp.MustCompile(`^https?://[a-zA-Z0-9.*\[\]:-]+$`)
	if value != "*" && value != "self" && !origin.MatchString(value) {
		return fmt.Errorf("--web.frame-ancestor=%.100q: expected an origin such as https://grafana.example.org, self, or *", value)
	}
	if value == "self" {
		value = "'self'"
	}
	*a = append(*a, value)
	return nil
}
