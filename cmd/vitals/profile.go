package main

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed profiles/*.yml
var shippedProfiles embed.FS

// profile is a shipped configuration.
type profile struct {
	name, about string
	// adjust applies what the flags say to the configuration. What else it reads, it
	// reads as a part of the configuration's sources.
	adjust func(p *program, from *sources, c *Config) []error
	// made says that the collectors and rule files follow from the variable service.
	made bool
	// needs says how to give what the collectors cannot be made without.
	needs string
}

// inCluster is what the profiles of Kuryr need outside of a pod.
const inCluster = "give --kuryr.conf=/etc/kuryr/kuryr.conf, or --set kubeconfig=FILE"

// profiles returns the shipped configurations.
func profiles() []profile {
	return []profile{
		{"kuryr-controller", "the Kuryr-Kubernetes controller's health manager: /ready and /alive on port 8082", adjustKuryrController, false, inCluster + ", and OS_CLOUD=NAME with a clouds.yaml, or OS_AUTH_URL and the other OS_* variables"},
		{"kuryr-cni", "the health manager of Kuryr-Kubernetes' CNI daemon: /ready and /alive on port 8090", adjustKuryrCNI, false, inCluster},
		{"sonic", "a SONiC container: what readiness_probe.sh and the listener for critical processes watch, with their exit codes", adjustSonic, false, ""},
		{"tripleo", "a container of TripleO, by the name of its service: what its /openstack/healthcheck told", adjustTripleo, true, ""},
	}
}

func findProfile(name string) (profile, error) {
	var names []string
	for _, pr := range profiles() {
		if pr.name == name {
			return pr, nil
		}
		names = append(names, pr.name)
	}
	return profile{}, fmt.Errorf("there is no profile %q: expected one of %s", name, strings.Join(names, ", "))
}

// config is the profile's configuration file.
func (pr profile) config() []byte {
	data, err := shippedProfiles.ReadFile("profiles/" + pr.name + ".yml")
	if err != nil {
		panic("internal error: " + err.Error())
	}
	return data
}

// loadProfile loads the profile that the flags name.
func (p *program) loadProfile() (*loaded, []error) {
	pr, err := findProfile(p.profile)
	if err != nil {
		return &loaded{sources: newSources()}, []error{err}
	}
	from := newSources()
	l, errs := load(from, builtinPrefix+pr.name, pr.config(), func(c *Config) []error {
		errs := pr.adjust(p, from, c)
		if p.adjust != nil {
			p.adjust(c)
		}
		return errs
	})
	if p.kuryrConf == "" { // who gives one knows it
		l.needs = pr.needs
	}
	return l, errs
}

// listProfiles is the command profiles list.
func (p *program) listProfiles() int {
	for _, pr := range profiles() {
		fmt.Fprintf(p.stdout, "%-18s %s\n", pr.name, pr.about)
	}
	return exitOK
}
