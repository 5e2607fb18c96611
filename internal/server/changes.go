package server

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"
	"time"
)

// maxSeen bounds the generations that a page can have a status of and get only what changed
// since. A page requests the next one within seconds.
const maxSeen = 64

// changes are the encoded rules and collectors of the last status that a page got, each with
// the generation of its last change. So a page with thousands of rules gets only the few
// that changed.
type changes struct {
	mu sync.Mutex // guards what follows
	// seen are the generations for which a page has got a status, the oldest first.
	seen              []uint64
	started           time.Time
	rules, collectors []encoded
}

// encoded is a rule or a collector as JSON.
type encoded struct {
	body    json.RawMessage
	changed uint64
}

// Changes is the body of /api/v1/status?changes=STARTED: a status with only the rules and
// the collectors that changed since the generation of wait.
type Changes struct {
	Status
	// Complete is set if all rules and collectors are included.
	Complete bool `json:"complete"`
	// Overrides is how this client may begin and end silences and maintenance: "allowed"; "token",
	// which needs the operator token; or "denied".
	Overrides string `json:"overrides"`
	// Rules replace those at the positions RulesAt, and Collectors alike.
	Rules        []json.RawMessage `json:"rules"`
	RulesAt      []int             `json:"rules_at"`
	Collectors   []json.RawMessage `json:"collectors"`
	CollectorsAt []int             `json:"collectors_at"`
}

// renderChanges returns the status of a view for a page that has the status of a generation of
// the process that started then. All pages share a complete one.
func (s *Server) renderChanges(v *view, started string, since uint64, overrides string) *body {
	c := &s.changes
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.seen) > 0 && c.started.Equal(v.snap.Started) && c.seen[len(c.seen)-1] > v.snap.Generation {
		v = s.current() // another request has had a newer one since
	}
	out := Changes{Status: s.statusOf(v), Overrides: overrides}
	known := c.updateLocked(v) && started == out.Started.Format(time.RFC3339Nano) && slices.Contains(c.seen, since)
	c.seeLocked(v.snap.Generation)
	out.Complete = !known
	out.Rules, out.RulesAt = after(c.rules, since, known)
	out.Collectors, out.CollectorsAt = after(c.collectors, since, known)
	render := func() []byte { return compact(out) }
	if known {
		return newBody(render)
	}
	return s.shared.current(pathStatus+" "+overrides, v, s.opts.Now(), render)
}

// compact returns JSON in one line.
func compact(value any) []byte {
	body, err := json.Marshal(value)
	if err != nil {
		panic("internal error: " + err.Error())
	}
	return body
}

// updateLocked compares a view with the status before. It returns false if that had other numbers of
// rules or collectors, or was of another process.
func (c *changes) updateLocked(v *view) bool {
	rules, collectors := len(v.snap.Rules), len(v.snap.Collectors)
	same := len(c.rules) == rules && len(c.collectors) == collectors && c.started.Equal(v.snap.Started)
	if !same {
		c.seen, c.started = nil, v.snap.Started
		c.rules, c.collectors = make([]encoded, rules), make([]encoded, collectors)
	}
	for i := range c.rules {
		c.rules[i].update(ruleStatus(&v.snap.Rules[i]), v.snap.Generation)
	}
	for i := range c.collectors {
		c.collectors[i].update(collectorStatus(v.snap.Collectors[i]), v.snap.Generation)
	}
	return same
}

func (c *changes) seeLocked(generation uint64) {
	if slices.Contains(c.seen, generation) {
		return
	}
	c.seen = append(c.seen, generation)
	c.seen = slices.Delete(c.seen, 0, max(0, len(c.seen)-maxSeen))
}

// update encodes a rule or a collector, and notes whether it changed.
func (e *encoded) update(value any, generation uint64) {
	if body := compact(value); !bytes.Equal(body, e.body) {
		e.body, e.changed = body, generation
	}
}

// after returns what changed after a generation, or all unless that is known, and where it
// belongs.
func after(all []encoded, since uint64, known bool) ([]json.RawMessage, []int) {
	bodies, at := []json.RawMessage{}, []int{}
	for i, e := range all {
		if !known || e.changed > since {
			bodies, at = append(bodies, e.body), append(at, i)
		}
	}
	return bodies, at
}
