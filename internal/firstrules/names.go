package firstrules

import (
	"strconv"
	"strings"

	"github.com/vitals-health/vitals/rules"
)

// names are the names of alerts that are in use.
type names map[string]bool

func newNames(files []*rules.File) names {
	used := names{}
	for _, r := range each(files) {
		used[r.Alert] = true
	}
	return used
}

// unique returns the name of a collector in camel case, with a number where an alert would
// otherwise have a name that is in use. The names of the alerts are then in use.
func (n names) unique(collector string, made []rule) string {
	first := camel(collector)
	for i := 1; ; i++ {
		name := first
		if i > 1 {
			name += strconv.Itoa(i)
		}
		free := true
		for _, r := range made {
			free = free && !n[alert(r, name)]
		}
		if !free {
			continue
		}
		for _, r := range made {
			n[alert(r, name)] = true
		}
		return name
	}
}

func alert(r rule, name string) string { return strings.ReplaceAll(r.Alert, placeholder, name) }
