// Package states defines the names of the states that every configuration has, and the
// paths at which they are served.
package states

import "slices"

// The states that every configuration has.
const (
	Ready   = "ready"
	Alive   = "alive"
	Started = "started"
)

// Names returns the names under which a state is served: its own, then those that
// Kubernetes uses. /healthz, which Kubernetes has deprecated in favour of /livez and
// /readyz, is an alias of /ready: it is the union of both, and ready implies alive.
func Names(state string) []string {
	switch state {
	case Ready:
		return []string{Ready, "readyz", "healthz"}
	case Alive:
		return []string{Alive, "livez"}
	case Started:
		return []string{Started, "startupz"}
	}
	return []string{state}
}

// Kubernetes returns the name that Kubernetes uses for a state, or the state's own.
func Kubernetes(state string) string {
	names := Names(state)
	return names[min(1, len(names)-1)]
}

// Reserved reports whether no state can have this name: it is an alias, or Path.
func Reserved(name string) bool {
	for _, state := range []string{Ready, Alive, Started} {
		if slices.Contains(Names(state)[1:], name) {
			return true
		}
	}
	return Path(name)
}

// Path reports whether name is the first part of another path of the server.
func Path(name string) bool {
	return slices.Contains([]string{"", "-", "metrics", "api", "assets", "config", "demo", "badge", "plain", "wall"}, name)
}
