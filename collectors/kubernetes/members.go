package kubernetes

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
)

const (
	// maxObjects and maxEndpoints bound what is held. They are beyond any useful number of
	// targets.
	maxObjects, maxEndpoints = 10_000, 10_000
	// pageSize is the number of objects that one request of a list returns, and pageLimit bounds
	// its response in bytes: an EndpointSlice has at most 1,000 endpoints, and 100 as a rule.
	pageSize, pageLimit = 100, 16 << 20
)

// members has the endpoints of all objects. It implements follower. found and lacking are safe for
// concurrent use with the other methods.
type members struct {
	discovery *Discovery
	role      role
	client    *client
	// changed is called after each change. It does not block.
	changed func()

	mu sync.Mutex // guards what follows
	held
}

// held is what one list and the events after it have shown.
type held struct {
	// listed is set after a complete list.
	listed bool
	// objects are by namespace and name. At most maxObjects have at most maxEndpoints.
	objects map[string]member
	// endpoints is the number of endpoints of all objects.
	endpoints int
	// beyond is the number of objects that are not held.
	beyond int
}

// member is what is held of one object.
type member struct {
	endpoints []endpoint
	// beyond is the number of its endpoints that are not held, and lacking of those that lack
	// the port.
	beyond, lacking int
}

// selection implements follower.
func (m *members) selection() url.Values { return url.Values{"labelSelector": {m.discovery.Selector}} }

// list implements follower. It replaces what is held. Objects beyond the limit are not requested.
func (m *members) list(ctx context.Context, path string) (string, error) {
	now := held{listed: true, objects: map[string]member{}}
	query := m.selection()
	query.Set("limit", strconv.Itoa(pageSize))
	for {
		var p page
		_, err := m.client.do(ctx, request{
			path: path, query: query, accept: anyJSON, limit: pageLimit,
			parse: func(body []byte) (err error) { p, err = m.role.page(body); return err },
		})
		if err != nil {
			return "", err
		}
		for _, o := range p.objects {
			m.put(&now, o)
		}
		if p.next != "" && len(now.objects) < maxObjects {
			query.Set("continue", p.next)
			continue
		}
		if p.next != "" {
			now.beyond += max(p.remaining, 1)
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		m.held = now
		m.changed()
		return p.position, nil
	}
}

// change implements follower.
func (m *members) change(eventType string, data []byte) error {
	o, err := m.role.object(data)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if eventType == eventDeleted {
		m.remove(o)
	} else {
		m.put(&m.held, o)
	}
	m.changed()
	return nil
}

// put adds or replaces an object.
func (m *members) put(h *held, o object) {
	key := keyOf(o)
	before, exists := h.objects[key]
	if !exists && len(h.objects) >= maxObjects {
		h.beyond++
		return
	}
	found, lacking := o.endpoints(m.discovery)
	h.endpoints -= len(before.endpoints)
	now := member{lacking: lacking, endpoints: found[:min(len(found), maxEndpoints-h.endpoints)]}
	now.beyond = len(found) - len(now.endpoints)
	now.endpoints = slices.Clone(now.endpoints)
	h.endpoints += len(now.endpoints)
	h.objects[key] = now
}

// remove removes an object.
func (m *members) remove(o object) {
	key := keyOf(o)
	before, exists := m.objects[key]
	if !exists {
		m.beyond = max(m.beyond-1, 0)
		return
	}
	m.endpoints -= len(before.endpoints)
	delete(m.objects, key)
}

func keyOf(o object) string {
	namespace, name := o.key()
	return namespace + "/" + name
}

// found returns one endpoint for each name, in their order, and the number of those that are not
// held or lack the port. ok is false before the first list.
func (m *members) found() (found []endpoint, beyond, lacking int, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.listed {
		return nil, 0, 0, false
	}
	all := make([]endpoint, 0, m.endpoints)
	beyond = m.beyond
	for _, o := range m.objects {
		all = append(all, o.endpoints...)
		beyond += o.beyond
		lacking += o.lacking
	}
	return oneOfEach(all), beyond, lacking, true
}

// oneOfEach returns one endpoint for each name. Of a pod that has several, it is the one with IPv4
// before IPv6, and then with the lowest address and port.
func oneOfEach(all []endpoint) []endpoint {
	slices.SortFunc(all, func(a, b endpoint) int {
		return cmp.Or(strings.Compare(a.name, b.name), a.addr.Compare(b.addr), strings.Compare(a.host, b.host), cmp.Compare(a.port, b.port))
	})
	return slices.CompactFunc(all, func(a, b endpoint) bool { return a.name == b.name })
}
