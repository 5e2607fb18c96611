package configfile

import (
	"fmt"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/strictyaml"
)

// checkNames reports each name of a collector or a target that an earlier one has.
func (c *Config[E]) checkNames(doc *strictyaml.Document, report func(path, format string, args ...any)) {
	type named struct{ what, path string }
	first := map[string]named{}
	check := func(what, path, name string) {
		before, twice := first[name]
		switch {
		case name == "":
		case twice:
			line, _ := doc.Position(before.path)
			report(path, "%s %q: the %s in line %d has this name, expected a unique name", what, name, before.what, line)
		default:
			first[name] = named{what, path}
		}
	}
	for i, col := range c.Collectors {
		name, _, _ := col.Common()
		check("collector", fmt.Sprintf("collectors[%d].name", i), name)
	}
	for i, col := range c.Collectors {
		names, _ := targetNames(col)
		for _, t := range names {
			check("target", fmt.Sprintf("collectors[%d].%s", i, t.Path), t.Name)
		}
	}
}

// targetNames returns the names of the targets of a collector, as collectors.Several does with the
// paths from the entry of the collector on.
func targetNames[E Entry[E]](c E) (names []collectors.TargetName, several bool) {
	name, _, _ := c.Common()
	key, kind := c.Kind()
	if s, ok := kind.(collectors.Several); ok {
		names, several = s.TargetNames(name)
	}
	for i := range names {
		names[i].Path = key + "." + names[i].Path
	}
	return names, several
}
