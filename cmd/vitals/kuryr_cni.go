package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/cgroup"
	"github.com/vitals-health/vitals/collectors/components"
	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/collectors/kubernetes"
	"github.com/vitals-health/vitals/collectors/process"
	"github.com/vitals-health/vitals/internal/kuryrconf"
)

// tellsTimeouts is the bucket of the daemon's histogram that the rules of
// kuryr-cni-histogram take failures from. A request that waits in vain for Kuryr's
// controller has to take longer, or it would count: a restart does not cure it.
const tellsTimeouts = 50 * time.Second

// adjustKuryrCNI applies kuryr.conf and --set to the CNI daemon's profile.
func adjustKuryrCNI(p *program, from *sources, c *Config) []error {
	errs := p.setVariables(c, componentsVariable(), interfacesVariable(), kubeconfigVariable(), processVariable(), sharedBooleansVariable())
	if p.kuryrConf == "" {
		return errs
	}
	conf, mistakes := p.loadKuryrConf(from)
	if len(mistakes) > 0 {
		return append(errs, mistakes...)
	}
	c.Server.ListenAddress = fmt.Sprintf(":%d", conf.CNIHealth.Port)
	if conf.CNIHealth.MaxMemoryUsage > 0 {
		c.RuleFiles = append(c.RuleFiles, builtinPrefix+"kuryr-cni-memory")
	}
	if conf.CNIDaemon.VIFAnnotationTimeout <= tellsTimeouts {
		c.RuleFiles = slices.DeleteFunc(c.RuleFiles, func(f string) bool { return f == builtinPrefix+"kuryr-cni-histogram" })
	}
	for i := range c.Collectors {
		for _, text := range p.useKuryrCNIConf(&c.Collectors[i], conf) {
			errs = append(errs, fmt.Errorf("%s: %s", p.kuryrConf, text))
		}
	}
	return errs
}

// useKuryrCNIConf takes over what a collector of the CNI daemon's profile needs of
// kuryr.conf, and returns what is wrong with it.
func (p *program) useKuryrCNIConf(c *kinds.Config, conf *kuryrconf.Config) []string {
	switch c.Name {
	case "kubernetes":
		return takeOver(c.Name, c.Kubernetes, func(k *kubernetes.Config) { useKuryrAPI(k, conf.Kubernetes) })
	case "memory":
		return takeOver("cni_health_server", c.Cgroup, func(k *cgroup.Config) { useKuryrMemory(k, conf.CNIHealth) })
	case "components":
		for name, event := range c.Components.Events {
			if event.Limit != nil {
				event.Limit = new(conf.CNIDaemon.FailuresCount)
				c.Components.Events[name] = event
			}
		}
	case "cni-metrics":
		c.Scrape.URL = fmt.Sprintf("http://127.0.0.1:%d/metrics", conf.PrometheusExporter.CNIExporterPort)
	case "kuryr-conf":
		if path, err := filepath.Abs(p.kuryrConf); err == nil {
			c.File.Path = path
		}
	}
	return nil
}

// useKuryrMemory takes over the limit of the memory, and whose memory it is unless
// --set process says that.
func useKuryrMemory(k *cgroup.Config, conf kuryrconf.CNIHealth) {
	const mebibyte = 1 << 20
	if conf.MaxMemoryUsage > 0 {
		k.Limit = new(collectors.Size(conf.MaxMemoryUsage) * mebibyte)
	}
	if k.Process == nil {
		k.Path = conf.CgPath
	}
}

// interfacesVariable names the interfaces that have to exist.
func interfacesVariable() variable {
	return variable{"interfaces", func(c *Config, value string) error {
		c.eachKind(func(k *kinds.Kinds) {
			if k.Netlink != nil {
				k.Netlink.Interfaces = strings.Split(value, ",")
			}
		})
		return nil
	}}
}

// processVariable names the daemon's processes: what they may do, what memory they use
// and whether they run is measured then, and not what Vitals itself does.
func processVariable() variable {
	return variable{"process", func(c *Config, value string) error {
		daemon := process.Selector{Name: value, PIDNamespace: "any"} // with hostPID, another container
		c.eachKind(func(k *kinds.Kinds) {
			switch {
			case k.Capability != nil:
				k.Capability.Process = &daemon
			case k.Cgroup != nil:
				k.Cgroup.Process = &daemon
			}
		})
		process := kinds.Config{Name: "daemon", Kinds: kinds.Kinds{Process: &process.Config{Selector: daemon}}}
		process.SetDefaults()
		c.Collectors = append(c.Collectors, process)
		return nil
	}}
}

// sharedBooleansVariable names the files with the bytes that say whether components
// are alive.
func sharedBooleansVariable() variable {
	return variable{"shared_booleans", func(c *Config, value string) error {
		shared := map[string]components.SharedBoolean{}
		for text := range strings.SplitSeq(value, ",") {
			name, boolean, err := parseSharedBoolean(text)
			if err != nil {
				return err
			}
			shared[name] = boolean
		}
		c.eachKind(func(k *kinds.Kinds) {
			if k.Components != nil {
				k.Components.SharedBooleans = shared
			}
		})
		return nil
	}}
}

// parseSharedBoolean reads NAME:PATH or NAME:PATH:DEADLINE. What stands behind the last
// colon without a slash is a deadline, or is meant to be one.
func parseSharedBoolean(text string) (name string, b components.SharedBoolean, err error) {
	name, b.Path, _ = strings.Cut(text, ":")
	if i := strings.LastIndex(b.Path, ":"); i >= 0 && !strings.Contains(b.Path[i:], "/") {
		if b.Deadline, err = model.ParseDuration(b.Path[i+1:]); err != nil {
			return "", b, fmt.Errorf("deadline %q: expected a duration such as 30s", b.Path[i+1:])
		}
		b.Path = b.Path[:i]
	}
	if name == "" || !filepath.IsAbs(b.Path) {
		return "", b, errors.New("expected NAME:/PATH or NAME:/PATH:DEADLINE, and commas between several")
	}
	return name, b, nil
}
