package main

import (
	"net"
	"os"
)

// hosts returns the names under which browsers may use the server: that of the machine,
// and those that it listens on, if it does.
func (p *program) hosts() []string {
	var hosts []string
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
