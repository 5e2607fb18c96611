//go:build !race

package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/profiles/tripleo"
	"github.com/vitals-health/vitals/internal/rulecheck"
	"github.com/vitals-health/vitals/rules"
	"github.com/vitals-health/vitals/rules/lint"
)

// shippedLoad is a profile with settings.
type shippedLoad struct {
	name string
	load func(t *testing.T) (*config.Loaded, []error)
}

// shippedLoads are the profiles in all ways that change their rules or collectors.
func shippedLoads() []shippedLoad {
	var all []shippedLoad
	add := func(profile, conf string, set map[string]string) {
		all = append(all, shippedLoad{strings.TrimSpace(fmt.Sprintf("%s %q %v", profile, conf, set)), func(t *testing.T) (*config.Loaded, []error) {
			p := &program{profile: profile, set: set}
			if conf != "" {
				p.kuryrConf = filepath.Join(t.TempDir(), "kuryr.conf")
				writeFile(t, p.kuryrConf, conf)
			}
			return p.load()
		}})
	}
	add("kuryr-controller", "[kubernetes]\nvif_pool_driver = neutron\n", map[string]string{"components": "watcher,leader"})
	add("kuryr-controller", "", original())
	add("kuryr-controller", "[kubernetes]\nvif_pool_driver = neutron\ncontroller_ha = True\n", map[string]string{"components": "watcher"})
	add("kuryr-cni", "", nil)
	add("kuryr-cni", "[cni_health_server]\nmax_memory_usage = 512\n", map[string]string{"process": "kuryr-daemon", "interfaces": "br-int", "components": "watcher,server"})
	add("sonic", "", nil)
	add("sonic", "", map[string]string{"critical_programs": "show"})
	add("sonic", "", map[string]string{"auto_restart": "disabled", "hook_not_executable": "fail"})
	for _, disabled := range []string{"pass", "fail"} {
		all = append(all, shippedLoad{"tripleo disabled " + disabled, func(t *testing.T) (*config.Loaded, []error) {
			return newContainer(t).program(nil, "service=swift-proxy", "disabled="+disabled).load()
		}})
	}
	for _, s := range tripleo.Services() {
		all = append(all, shippedLoad{"tripleo " + s.Name, func(t *testing.T) (*config.Loaded, []error) {
			c := newContainer(t)
			c.install(t)
			return c.program(nil, append(tripleoArguments(s), "service="+s.Name)...).load()
		}})
	}
	return all
}

// The shipped rules have no findings other than accepted ones, with every setting of their
// profile.
func TestShippedProfilesAreLinted(t *testing.T) {
	var seen []string
	for _, s := range shippedLoads() {
		t.Run(s.name, func(t *testing.T) {
			l, errs := s.load(t)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			for _, f := range l.Rules {
				seen = append(seen, f.Name)
			}
			unaccepted(t, lint.Check(l.Rules, lint.Options{Vocabulary: rulecheck.Vocabulary(l), Complete: true, States: l.Config.StateNames()}))
		})
	}
	for _, name := range config.ShippedRules() {
		if !slices.Contains(seen, name) {
			t.Errorf("no profile loads %s, want each shipped file in one", name)
		}
	}
}

// The controller's profile without any setting has a liveness that cannot fail, because no
// component is expected. That is its only finding.
func TestControllerWithoutEvidenceIsFound(t *testing.T) {
	p := &program{profile: "kuryr-controller"}
	l, errs := p.load()
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var got []string
	for _, f := range rulecheck.OfConfig(l).Findings() {
		if f.Accepted == "" {
			got = append(got, f.Severity.String()+" "+f.Code+" "+f.Where)
		}
	}
	if want := []string{`warning V029 group "kuryr-controller-components", rule "ComponentDead"`}; !slices.Equal(got, want) {
		t.Errorf("findings = %q, want %q", got, want)
	}
}

// The same for each file alone, as users copy single files.
func TestShippedRuleFilesAreLinted(t *testing.T) {
	for _, f := range shippedRuleFiles(t) {
		unaccepted(t, lint.Check([]*rules.File{f}, lint.Options{Vocabulary: rulecheck.AnyVocabulary(), States: []string{"ready", "alive", "started"}}))
	}
}

func unaccepted(t *testing.T, found []lint.Finding) {
	t.Helper()
	for _, f := range found {
		if f.Accepted == "" && f.Severity != lint.Info {
			t.Errorf("%s:%d:%d: %s %s %s: %s: %s", f.File, f.Line, f.Col, f.Severity, f.Code, f.Name, f.Where, f.Text)
		}
	}
}
