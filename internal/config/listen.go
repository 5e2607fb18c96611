package config

import (
	"cmp"
	"net"
	"strconv"
)

// Reachable returns the port of the listen address, and whether other hosts may connect to it.
// Both are zero for a port that is chosen at the start, and for an address without one.
func (c *ServerConfig) Reachable() (port int, remote bool) {
	host, text, err := net.SplitHostPort(cmp.Or(c.ListenAddress, DefaultListen))
	number, wrong := strconv.ParseUint(text, 10, 16)
	if err != nil || wrong != nil || number == 0 {
		return 0, false
	}
	ip := net.ParseIP(host)
	return int(number), host != "localhost" && (ip == nil || !ip.IsLoopback())
}
