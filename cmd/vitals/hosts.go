package main

import (
	"fmt"
	"net"
	"os"
	"regexp"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// hosts returns the names under which clients may use the server: those of the flag, that of the
// machine, those that it listens on, and SERVICE.NAMESPACE for the namespace of the pod. A
// namespace such as "dev" is a domain of the public DNS as well, so its names need the flag.
func (p *program) hosts() []string {
	hosts := append([]string{"localhost"}, p.allowedHosts...) // never empty: without hosts, the server does not check reading
	if namespace := p.about().Namespace; namespace != "" {
		if _, public := publicsuffix.PublicSuffix(namespace); !public {
			hosts = append(hosts, "."+namespace)
		}
	}
	if name, err := os.Hostname(); err == nil {
		hosts = append(hosts, name)
	}
	if p.web == nil {
		return hosts
	}
	for _, address := range *p.web.WebListenAddresses {
		if host, _, err := net.SplitHostPort(address); err == nil && host != "" {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// allowedHosts are the values of --web.allowed-host.
type allowedHosts []string

// String implements kingpin.Value.
func (a *allowedHosts) String() string { return strings.Join(*a, " ") }

// IsCumulative lets the flag be repeated.
func (a *allowedHosts) IsCumulative() bool { return true }

// Set takes one value.
func (a *allowedHosts) Set(value string) error {
	if name := regexp.MustCompile(`^\.?[a-zA-Z0-9_-]+(\.[a-zA-Z0-9_-]+)*$`); value != "*" && !name.MatchString(value) {
		return fmt.Errorf("--web.allowed-host=%.100q: expected a name without scheme and port such as vitals.example.org, .example.org for all names below, or *", value)
	}
	*a = append(*a, value)
	return nil
}
