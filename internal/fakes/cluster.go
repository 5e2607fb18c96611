package fakes

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"
)

// maxLog bounds the changes of a collection that a watch can resume from.
const maxLog = 64

// object is an object of the Kubernetes API. It is immutable.
type object struct {
	Kind       string         `json:"kind"`
	APIVersion string         `json:"apiVersion"`
	Metadata   metadata       `json:"metadata"`
	Spec       map[string]any `json:"spec,omitempty"`
	Status     map[string]any `json:"status,omitempty"`
}

type metadata struct {
	Name              string            `json:"name,omitempty"`
	Namespace         string            `json:"namespace,omitempty"`
	UID               string            `json:"uid,omitempty"`
	ResourceVersion   string            `json:"resourceVersion,omitempty"`
	CreationTimestamp *time.Time        `json:"creationTimestamp"`
	Annotations       map[string]string `json:"annotations,omitempty"`
}

// change is one change of a collection: ADDED, MODIFIED or DELETED.
type change struct {
	kind    string
	object  object
	version int64
}

// collection is the objects of one resource.
type collection struct {
	resource
	objects   []object
	log       []change
	compacted int64 // the version up to which changes were dropped
}

// cluster is the state behind the Kubernetes API: a few objects of every resource,
// one counter of versions, and the latest changes.
type cluster struct {
	collections map[string]*collection // by path; the map is never changed

	mu      sync.Mutex // guards what follows and what the collections hold
	version int64
	changed chan struct{} // closed at every change
}

func newCluster(created time.Time) *cluster {
	c := &cluster{collections: make(map[string]*collection), version: 1000, changed: make(chan struct{})}
	for _, r := range resources() {
		col := &collection{resource: r, compacted: c.version}
		for _, name := range r.names {
			col.objects = append(col.objects, r.object(name, created, c.version))
		}
		c.collections[r.path()] = col
	}
	return c
}

// run changes objects every interval until ctx ends.
func (c *cluster) run(ctx context.Context, interval time.Duration) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case now := <-tick.C:
			c.step(n, now.UTC().Truncate(time.Second))
		case <-ctx.Done():
			return
		}
	}
}

// step makes the n-th change of every collection that is not fixed: an object is
// modified twice, one is added, and that one is deleted.
func (c *cluster) step(n int, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range resources() {
		if r.fixed {
			continue
		}
		c.version++
		col := c.collections[r.path()]
		switch last := len(col.objects) - 1; n % 4 {
		case 2:
			added := r.object(fmt.Sprintf("%s-%d", r.names[0], n), at, c.version)
			col.objects = append(col.objects, added)
			col.record("ADDED", added, c.version)
		case 3:
			deleted := col.objects[last].at(c.version)
			col.objects = slices.Clone(col.objects[:last])
			col.record("DELETED", deleted, c.version)
		default:
			i := n % len(r.names)
			col.objects = slices.Clone(col.objects)
			col.objects[i] = col.objects[i].at(c.version)
			col.record("MODIFIED", col.objects[i], c.version)
		}
	}
	close(c.changed)
	c.changed = make(chan struct{})
}

// list returns the objects of a resource and their version.
func (c *cluster) list(r resource) ([]object, int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clip(c.collections[r.path()].objects), c.version
}

// since returns the changes of a resource after a version, the version after them, and
// a channel that is closed at the next change. It returns false if some of the changes
// were dropped.
func (c *cluster) since(r resource, version int64) (changes []change, now int64, changed <-chan struct{}, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	col := c.collections[r.path()]
	for _, e := range col.log {
		if e.version > version {
			changes = append(changes, e)
		}
	}
	return changes, c.version, c.changed, version >= col.compacted
}

// record appends a change to the log and drops the oldest beyond maxLog.
func (col *collection) record(kind string, o object, version int64) {
	col.log = append(col.log, change{kind: kind, object: o, version: version})
	if extra := len(col.log) - maxLog; extra > 0 {
		col.compacted = col.log[extra-1].version
		col.log = slices.Clone(col.log[extra:])
	}
}

// at returns the object with another version.
func (o object) at(version int64) object {
	o.Metadata.ResourceVersion = strconv.FormatInt(version, 10)
	return o
}
