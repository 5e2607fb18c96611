package components

import "time"

// PartNotes implements collectors.PartNoter: the reasons of the components that are not
// known to be alive and ready.
func (c *Collector) PartNotes() (label string, notes map[string]string) {
	for _, s := range c.status(time.Now()) {
		if s.Reason == "" || well(&s) {
			continue
		}
		if notes == nil {
			notes = map[string]string{}
		}
		notes[s.Name] = s.Reason
	}
	return "component", notes
}

// well reports whether the component is known to be alive and ready.
func well(s *Status) bool {
	return s.Alive != nil && *s.Alive && s.Ready != nil && *s.Ready
}

// differs reports whether a verdict can depend on the change of s to after, or the note of one
// that fails.
func differs(s, after Status) bool {
	return s.Reported != after.Reported || !equal(s.Alive, after.Alive) || !equal(s.Ready, after.Ready) ||
		s.Reason != after.Reason && fails(&after)
}

// fails reports whether the component is known not to be alive or not to be ready.
func fails(s *Status) bool {
	return s.Alive != nil && !*s.Alive || s.Ready != nil && !*s.Ready
}
