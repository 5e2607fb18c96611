package targets

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/collectors"
)

// take takes over what a Source has found.
func (g *group) take(source int, targets []Target, err error) {
	g.mu.Lock()
	f := &g.found[source]
	f.ran, f.err = true, err
	if err == nil {
		f.targets = slices.Clone(targets)
	}
	g.mu.Unlock()
	select {
	case g.updated <- struct{}{}:
	default:
	}
}

// update compares the members with the targets that are configured and found now, and publishes
// the new members. complete is set when each Source has found its targets once.
func (s *schedule) update() (added, removed []*member, complete bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.members
	s.members = map[string]*member{}
	complete = true
	s.dropped, s.mistake = 0, nil
	add := func(t Target) {
		m := before[t.Name]
		if m == nil || m.Target != t {
			var err error
			if m, err = s.newMember(t); err != nil {
				s.dropLocked(fmt.Errorf("%s: %w", t.Name, err))
				return
			}
			added = append(added, m)
		}
		s.members[t.Name] = m
	}
	for _, t := range s.opts.Targets {
		add(t)
	}
	var all []Target
	for _, f := range s.group.found {
		complete = complete && f.ran
		all = append(all, f.targets...)
	}
	slices.SortStableFunc(all, func(a, b Target) int { return cmp.Compare(a.Name, b.Name) })
	used := 0
	for _, t := range all {
		switch known := s.members[t.Name]; {
		case known != nil && known.Address == t.Address: // the same target, found twice
		case known != nil:
			s.dropLocked(fmt.Errorf("%s is the name of two targets, %s and %s", t.Name, shownAddress(known.Address), shownAddress(t.Address)))
		case used == s.opts.Limit:
			s.dropLocked(fmt.Errorf("the limit is %d", s.opts.Limit))
		default:
			used++
			add(t)
		}
	}
	for name, m := range before {
		if s.members[name] != m {
			removed = append(removed, m)
		}
	}
	s.publishLocked()
	return added, removed, complete
}

// dropLocked counts a target that is not checked. The first reason is kept.
func (g *group) dropLocked(reason error) {
	g.dropped++
	if g.mistake == nil {
		g.mistake = reason
	}
}

// publishLocked replaces the members of the group. One that was there before, with the same address,
// leaves its result.
func (s *schedule) publishLocked() {
	last := map[Target]result{}
	for _, m := range s.group.members {
		last[m.Target] = m.result
	}
	all := make([]*member, 0, len(s.members))
	for _, m := range s.members {
		if r, ok := last[m.Target]; ok && !m.result.ran {
			m.result = r
		}
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b *member) int { return cmp.Compare(a.Name, b.Name) })
	s.group.members = all
}

// newMember makes the collector of a target.
func (g *group) newMember(t Target) (*member, error) {
	kind := g.opts.Kind(t.Address)
	for _, p := range append(collectors.NameProblem("", t.Name), kind.Problems()...) {
		return nil, errors.New(p.Text)
	}
	env := g.env
	env.Name = t.Name
	c, err := kind.New(env)
	if err != nil {
		return nil, err
	}
	return &member{Target: t, collector: c, index: -1}, nil
}

// shownAddress returns an address without its query, which may have a secret.
func shownAddress(address string) string {
	plain, _, _ := strings.Cut(address, "?")
	return plain
}
