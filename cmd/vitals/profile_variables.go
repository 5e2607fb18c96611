package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/collectors"
)

// variable is something that --set NAME=VALUE may say to a profile.
type variable struct {
	name string
	// set applies a value. It returns an error only for one that cannot be read:
	// what it means is checked with the whole configuration.
	set func(c *Config, value string) error
}

// setVariables applies --set; known are the variables of the profile.
func (p *program) setVariables(c *Config, known ...variable) []error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(p.set)) {
		i := slices.IndexFunc(known, func(v variable) bool { return v.name == name })
		if i < 0 {
			errs = append(errs, fmt.Errorf("--set %s=...: the profile has no such variable, expected %s", name, variableNames(known)))
			continue
		}
		// A variable of a shell or of a manifest that is not set: an empty process would be
		// Vitals itself, and an empty kubeconfig the service account.
		if p.set[name] == "" {
			errs = append(errs, fmt.Errorf("--set %s=: expected a value, or no such flag", name))
			continue
		}
		if err := known[i].set(c, p.set[name]); err != nil {
			errs = append(errs, fmt.Errorf("--set %s=%s: %w", name, p.set[name], err))
		}
	}
	return errs
}

// variableNames lists variables as in "components, interfaces or kubeconfig".
func variableNames(known []variable) string {
	var names []string
	for _, v := range known {
		names = append(names, v.name)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// componentsVariable names the components that have to report.
func componentsVariable() variable {
	return variable{"components", func(c *Config, value string) error {
		c.eachKind(func(k *collectors.Kinds) {
			if k.Components != nil {
				k.Components.Expect = strings.Split(value, ",")
			}
		})
		return nil
	}}
}

// kubeconfigVariable names the file that says how to reach the Kubernetes API.
func kubeconfigVariable() variable {
	return variable{"kubeconfig", func(c *Config, value string) error {
		c.eachKind(func(k *collectors.Kinds) {
			if k.Kubernetes != nil {
				k.Kubernetes.Kubeconfig = value
			}
		})
		return nil
	}}
}

// eachKind calls f with the kind of every collector.
func (c *Config) eachKind(f func(*collectors.Kinds)) {
	for i := range c.Collectors {
		f(&c.Collectors[i].Kinds)
	}
}
