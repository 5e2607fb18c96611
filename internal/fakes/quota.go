package fakes

import (
	"maps"
	"sync"
)

// usage is the quota of one resource; a limit of -1 is none.
type usage struct {
	Limit    int `json:"limit"`
	Used     int `json:"used"`
	Reserved int `json:"reserved"`
}

// quotas are the quotas of the project. They are safe for concurrent use.
type quotas struct {
	mu    sync.Mutex // guards what follows
	usage map[string]usage
}

func newQuotas() *quotas {
	return &quotas{usage: map[string]usage{
		"network":             {Limit: 100, Used: 2},
		"subnet":              {Limit: 100, Used: 4},
		"port":                {Limit: 100, Used: 5},
		"router":              {Limit: 10, Used: 1},
		"floatingip":          {Limit: 50, Used: 3, Reserved: 1},
		"security_group":      {Limit: 10, Used: 2},
		"security_group_rule": {Limit: -1, Used: 18},
	}}
}

// all returns every quota; the caller owns the result.
func (q *quotas) all() map[string]usage {
	q.mu.Lock()
	defer q.mu.Unlock()
	return maps.Clone(q.usage)
}

// set changes one quota and returns a function that undoes the change.
func (q *quotas) set(resource string, u usage) (undo func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	before, exists := q.usage[resource]
	q.usage[resource] = u
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.usage[resource] = before; !exists {
			delete(q.usage, resource)
		}
	}
}

// SetQuota changes the quota of a resource, such as "port": its limit (-1 for none), how
// many are used and how many are reserved. It returns a function that undoes the change.
// The faults of the quota of ports take precedence.
func (c *Cloud) SetQuota(resource string, limit, used, reserved int) (undo func()) {
	return c.neutron.quotas.set(resource, usage{Limit: limit, Used: used, Reserved: reserved})
}
