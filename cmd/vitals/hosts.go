package main

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/vitals-health/vitals/internal/server/access"
)

// hosts returns the names under which clients may use the server: the names of the flag, the name
// of the machine, the names of the listen addresses, and SERVICE.NAMESPACE for the namespace of the
// pod. A namespace such as "dev" is a domain of the public DNS as well, so its names need the flag.
func (p *program) hosts() []string {
	hosts := slices.Clone(p.allowedHosts)
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
	if err := access.CheckHost(value); err != nil {
		return fmt.Errorf("--web.allowed-host=%w", err)
	}
	*a = append(*a, value)
	return nil
}
