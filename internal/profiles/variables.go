package profiles

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/redact"
)

// variable is a variable of a profile, which --set NAME=VALUE sets.
type variable struct {
	name string
	// set applies a value. It returns an error only for a value that it cannot parse: the
	// rest is checked with the whole configuration.
	set func(c *config.Config, value string) error
}

// The environment variables for a profile and, as a prefix, for its variables.
const (
	NameVariable = "VITALS_PROFILE"
	SetPrefix    = "VITALS_SET_"
)

// setting returns how a variable of the profile was set, for messages.
func (o *Options) setting(name string) string {
	if o.FromEnvironment[name] {
		return SetPrefix + strings.ToUpper(name)
	}
	return "--set " + name
}

// setVariables applies --set; known are the variables of the profile.
func (o *Options) setVariables(c *config.Config, known ...variable) []error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(o.Set)) {
		i := slices.IndexFunc(known, func(v variable) bool { return v.name == name })
		if i < 0 {
			errs = append(errs, fmt.Errorf("%s=...: the profile has no such variable, expected %s", o.setting(name), variableNames(known)))
			continue
		}
		// The value is an unset variable of a shell or of a manifest. Accepting it would
		// select Vitals itself as the process, or the service account as the kubeconfig.
		if o.Set[name] == "" {
			errs = append(errs, fmt.Errorf("--set %s=: expected a value, or no such flag", name))
			continue
		}
		if err := known[i].set(c, o.Set[name]); err != nil {
			errs = append(errs, fmt.Errorf("%s=%s: %w", o.setting(name), redact.Text(o.Set[name]), err))
		}
	}
	return errs
}

// variableNames returns the names of variables as in "components, interfaces or kubeconfig".
func variableNames(known []variable) string {
	var names []string
	for _, v := range known {
		names = append(names, v.name)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// componentsVariable sets the components that have to report.
func componentsVariable() variable {
	return variable{"components", func(c *config.Config, value string) error {
		eachKind(c, func(k *kinds.Kinds) {
			if k.Components != nil {
				k.Components.Expect = strings.Split(value, ",")
			}
		})
		return nil
	}}
}

// kubeconfigVariable sets the kubeconfig for the Kubernetes API.
func kubeconfigVariable() variable {
	return variable{"kubeconfig", func(c *config.Config, value string) error {
		eachKind(c, func(k *kinds.Kinds) {
			if k.Kubernetes != nil {
				k.Kubernetes.Kubeconfig = value
			}
		})
		return nil
	}}
}

// eachKind calls f with the kind of every collector.
func eachKind(c *config.Config, f func(*kinds.Kinds)) {
	for i := range c.Collectors {
		f(&c.Collectors[i].Kinds)
	}
}
