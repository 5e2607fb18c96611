package profiles

import (
	"embed"
	"fmt"
	"strings"

	"github.com/vitals-health/vitals/internal/config"
)

//go:embed *.yml
var shippedProfiles embed.FS

// Profile is a shipped configuration.
type Profile struct {
	Name, About string
	// adjust applies the options to the configuration. It reads files through from, so that
	// a change of one is a change of the configuration.
	adjust func(o *Options, from *config.Sources, c *config.Config) []error
	// made is set if the variable service selects the collectors and rule files.
	made bool
	// needs describes how to set what the collectors require.
	needs string
}

// inCluster is what the profiles of Kuryr require outside of a pod.
const inCluster = "give --kuryr.conf=/etc/kuryr/kuryr.conf, or --set kubeconfig=FILE"

// All returns the shipped configurations.
func All() []Profile {
	return []Profile{
		{"kuryr-controller", "the Kuryr-Kubernetes controller's health manager: /ready and /alive on port 8082", adjustKuryrController, false, inCluster + ", and OS_CLOUD=NAME with a clouds.yaml, or OS_AUTH_URL and the other OS_* variables"},
		{"kuryr-cni", "the health manager of Kuryr-Kubernetes' CNI daemon: /ready and /alive on port 8090", adjustKuryrCNI, false, inCluster},
		{"sonic", "a SONiC container: the checks of readiness_probe.sh and of the listener for critical processes, with their exit codes", adjustSonic, false, ""},
		{"tripleo", "a container of TripleO, by the name of its service: the checks of its /openstack/healthcheck", adjustTripleo, true, ""},
	}
}

// Find returns the profile with a name.
func Find(name string) (Profile, error) {
	var names []string
	for _, pr := range All() {
		if pr.Name == name {
			return pr, nil
		}
		names = append(names, pr.Name)
	}
	return Profile{}, fmt.Errorf("there is no profile %q: expected one of %s", name, strings.Join(names, ", "))
}

// config returns the profile's configuration file.
func (pr Profile) config() []byte {
	data, err := shippedProfiles.ReadFile(pr.Name + ".yml")
	if err != nil {
		panic("internal error: " + err.Error())
	}
	return data
}

// Options configure a profile.
type Options struct {
	// Name is the name of the profile.
	Name string
	// KuryrConf is the path of the kuryr.conf to read; empty for none.
	KuryrConf string
	// Set holds the values of the profile's variables.
	Set map[string]string
	// Rules are further rule files: paths, globs, or builtin:NAME for a shipped one.
	Rules []string
	// FromEnvironment holds the names in Set that come from the environment, for messages.
	FromEnvironment map[string]bool
	// Adjust changes the configuration after the profile has adjusted it; may be nil.
	Adjust func(*config.Config)
	// Debug is called where the environment of a profile requests debug logs; may be nil.
	Debug func()
}

// Load loads a profile. The result is never nil.
func Load(o Options) (*config.Loaded, []error) {
	pr, err := Find(o.Name)
	if err != nil {
		return &config.Loaded{Sources: config.NewSources()}, []error{err}
	}
	from := config.NewSources()
	l, errs := config.Load(from, config.BuiltinPrefix+pr.Name, pr.config(), func(c *config.Config) []error {
		errs := pr.adjust(&o, from, c)
		c.RuleFiles = append(c.RuleFiles, o.Rules...)
		if o.Adjust != nil {
			o.Adjust(c)
		}
		return errs
	})
	if o.KuryrConf == "" {
		l.Needs = pr.needs
	}
	return l, errs
}
