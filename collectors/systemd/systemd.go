// Package systemd reads the states of systemd units from the bus.
package systemd

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/vitals-health/vitals/collectors"
)

// Config configures the kind systemd: the states of units, read over D-Bus.
type Config struct {
	// Units are full names of units, such as nova-compute.service. They become labels.
	Units []string `yaml:"units"`
	// Bus is the absolute path of the socket of the D-Bus daemon. The default is that of
	// the system bus.
	Bus string `yaml:"bus"`
}

// SetDefaults sets the defaults of a block before it is decoded.
func (c *Config) SetDefaults() { c.Bus = "/run/dbus/system_bus_socket" }

// maxUnitName is UNIT_NAME_MAX of systemd's basic/unit-name.h without the final zero.
const maxUnitName = 255

// validUnit is unit_name_is_valid of systemd's basic/unit-name.c for what can be started:
// a template, whose name has nothing between '@' and the type, cannot.
var validUnit = regexp.MustCompile(`^[a-zA-Z0-9:_.\\-]+(@[a-zA-Z0-9:_.\\@-]+)?\.([a-z]+)$`)

// unitResults returns the types of units and the D-Bus interface of their result, "" for
// none: org.freedesktop.systemd1(5).
func unitResults() map[string]string {
	return map[string]string{
		"service": "Service", "socket": "Socket", "mount": "Mount", "automount": "Automount", "swap": "Swap",
		"path": "Path", "timer": "Timer", "scope": "Scope", "target": "", "device": "", "slice": "",
	}
}

// unitType returns the last part of the name of a unit, "" for an invalid name.
func unitType(unit string) string {
	parts := validUnit.FindStringSubmatch(unit)
	if parts == nil || len(unit) > maxUnitName {
		return ""
	}
	if _, ok := unitResults()[parts[2]]; !ok {
		return ""
	}
	return parts[2]
}

// Problems implements Kind.
func (c *Config) Problems() []collectors.Problem {
	var problems []collectors.Problem
	if len(c.Units) == 0 {
		problems = append(problems, collectors.Problem{Path: "units", Text: "no unit: expected at least one, such as nova-compute.service"})
	}
	for i, unit := range c.Units {
		path := fmt.Sprintf("units[%d]", i)
		if unitType(unit) == "" {
			problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf("unit %q: expected the full name of one unit, such as nova-compute.service: no pattern, and no template without its instance", unit)})
		}
		if slices.Index(c.Units, unit) < i {
			problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf("unit %q is named twice", unit)})
		}
	}
	if !filepath.IsAbs(c.Bus) {
		problems = append(problems, collectors.Problem{Path: "bus", Text: fmt.Sprintf("path %q: expected an absolute path", c.Bus)})
	}
	return problems
}

// External implements Kind: the units are on this host.
func (c *Config) External() bool { return false }

// Uses implements Kind.
func (c *Config) Uses() []string { return nil }

// New implements Kind.
func (c *Config) New(env collectors.Env) (collectors.Collector, error) {
	return &collector{name: env.Name, config: *c}, nil
}
