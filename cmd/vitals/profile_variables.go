package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/collectors/kinds"
)

// variable is something that --set NAME=VALUE may say to a profile.
type variable struct {
	name string
	// set applies a value. It returns an error only for one that cannot be read:
	// what it means is checked with the whole configuration.
	set func(c *Config, value string) error
}

// The variables of the environment that say what no flag does.
const (
	profileEnvironment = "VITALS_PROFILE"
	setEnvironment     = "VITALS_SET_"
)

// environment takes over what no flag says: the profile where no configuration is
// named, and with a profile its variables, as in VITALS_SET_SERVICE for --set service.
// An empty value says nothing.
func (p *program) environment(environ []string) {
	given := map[string]string{}
	for _, pair := range environ {
		if name, value, _ := strings.Cut(pair, "="); value != "" {
			given[name] = value
		}
	}
	if p.configFile == "" && p.profile == "" {
		p.profile = given[profileEnvironment]
	}
	if p.profile == "" {
		return
	}
	for name, value := range given {
		name, ours := strings.CutPrefix(name, setEnvironment)
		name = strings.ToLower(name)
		if _, flag := p.set[name]; ours && !flag {
			p.set[name], p.fromEnvironment[name] = value, true
		}
	}
}

// setting is how a variable of the profile was given, for messages.
func (p *program) setting(name string) string {
	if p.fromEnvironment[name] {
		return setEnvironment + strings.ToUpper(name)
	}
	return "--set " + name
}

// setVariables applies --set; known are the variables of the profile.
func (p *program) setVariables(c *Config, known ...variable) []error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(p.set)) {
		i := slices.IndexFunc(known, func(v variable) bool { return v.name == name })
		if i < 0 {
			errs = append(errs, fmt.Errorf("%s=...: the profile has no such variable, expected %s", p.setting(name), variableNames(known)))
			continue
		}
		// A variable of a shell or of a manifest that is not set: an empty process would be
		// Vitals itself, and an empty kubeconfig the service account.
		if p.set[name] == "" {
			errs = append(errs, fmt.Errorf("--set %s=: expected a value, or no such flag", name))
			continue
		}
		if err := known[i].set(c, p.set[name]); err != nil {
			errs = append(errs, fmt.Errorf("%s=%s: %w", p.setting(name), p.set[name], err))
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
		c.eachKind(func(k *kinds.Kinds) {
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
		c.eachKind(func(k *kinds.Kinds) {
			if k.Kubernetes != nil {
				k.Kubernetes.Kubeconfig = value
			}
		})
		return nil
	}}
}

// eachKind calls f with the kind of every collector.
func (c *Config) eachKind(f func(*kinds.Kinds)) {
	for i := range c.Collectors {
		f(&c.Collectors[i].Kinds)
	}
}
