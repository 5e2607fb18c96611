package fakes

import "sync/atomic"

// traffic counts what has reached a fake, whatever the response was.
type traffic struct{ connections, requests atomic.Uint64 }

// Traffic returns how many connections a dependency has accepted and how many
// requests it has received since Start; zero for a name that does not exist.
func (c *Cloud) Traffic(dependency string) (connections, requests uint64) {
	for _, s := range c.services() {
		if s.name == dependency {
			return s.traffic.connections.Load(), s.traffic.requests.Load()
		}
	}
	return 0, 0
}
