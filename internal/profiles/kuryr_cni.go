package profiles

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
	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/profiles/kuryrconf"
)

// failureBucket is the bucket of the daemon's histogram that the rules of
// kuryr-cni-histogram count as failures. A request that times out waiting for Kuryr's
// controller has to take longer, or it would count although a restart does not cure it.
const failureBucket = 50 * time.Second

// adjustKuryrCNI applies kuryr.conf and --set to the CNI daemon's profile.
func adjustKuryrCNI(o *Options, from *config.Sources, c *config.Config) []error {
	errs := o.setVariables(c, componentsVariable(), interfacesVariable(), kubeconfigVariable(), originalVariable(":8092"), processVariable(), sharedBooleansVariable())
	if o.KuryrConf == "" {
		return errs
	}
	conf, mistakes := o.loadKuryrConf(from)
	if len(mistakes) > 0 {
		return append(errs, mistakes...)
	}
	o.setKuryrPort(c, fmt.Sprintf(":%d", conf.CNIHealth.Port))
	if conf.CNIHealth.MaxMemoryUsage > 0 {
		c.RuleFiles = append(c.RuleFiles, config.BuiltinPrefix+"kuryr-cni-memory")
	}
	if conf.CNIDaemon.VIFAnnotationTimeout <= failureBucket {
		c.RuleFiles = slices.DeleteFunc(c.RuleFiles, func(f string) bool { return f == config.BuiltinPrefix+"kuryr-cni-histogram" })
	}
	for i := range c.Collectors {
		for _, text := range o.useKuryrCNIConf(&c.Collectors[i], conf) {
			errs = append(errs, fmt.Errorf("%s: %s", o.KuryrConf, text))
		}
	}
	return errs
}

// useKuryrCNIConf configures a collector of the CNI daemon's profile from kuryr.conf, and
// returns the errors in the values.
func (o *Options) useKuryrCNIConf(c *kinds.Config, conf *kuryrconf.Config) []string {
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
	case "netlink":
		bridge := conf.NeutronDefaults.OVSBridge
		if bridge != "" && conf.Kubernetes.PodVIFDriver == "neutron-vif" && c.Netlink.Interfaces == nil {
			c.Netlink.Interfaces = []string{bridge}
		}
	case "cni-metrics":
		c.Scrape.URL = fmt.Sprintf("http://127.0.0.1:%d/metrics", conf.PrometheusExporter.CNIExporterPort)
	case "kuryr-conf":
		if path, err := filepath.Abs(o.KuryrConf); err == nil {
			c.File.Path = path
		}
	}
	return nil
}

// useKuryrMemory applies the memory limit, and the cgroup unless --set process selects
// the process.
func useKuryrMemory(k *cgroup.Config, conf kuryrconf.CNIHealth) {
	const mebibyte = 1 << 20
	if conf.MaxMemoryUsage > 0 {
		k.Limit = new(collectors.Size(conf.MaxMemoryUsage) * mebibyte)
	}
	if k.Process == nil {
		k.Path = conf.CgPath
	}
}

// interfacesVariable sets the interfaces that have to exist.
func interfacesVariable() variable {
	return variable{"interfaces", func(c *config.Config, value string) error {
		eachKind(c, func(k *kinds.Kinds) {
			if k.Netlink != nil {
				k.Netlink.Interfaces = strings.Split(value, ",")
			}
		})
		return nil
	}}
}

// processVariable sets the name of the daemon's processes. Their capabilities, their memory
// and whether they run are then measured, instead of those of Vitals itself.
func processVariable() variable {
	return variable{"process", func(c *config.Config, value string) error {
		daemon := process.Selector{Name: value, PIDNamespace: "any"} // with hostPID, another container
		eachKind(c, func(k *kinds.Kinds) {
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

// sharedBooleansVariable sets the files whose first bytes report whether components are
// alive.
func sharedBooleansVariable() variable {
	return variable{"shared_booleans", func(c *config.Config, value string) error {
		shared := map[string]components.SharedBoolean{}
		for text := range strings.SplitSeq(value, ",") {
			name, boolean, err := parseSharedBoolean(text)
			if err != nil {
				return err
			}
			shared[name] = boolean
		}
		eachKind(c, func(k *kinds.Kinds) {
			if k.Components != nil {
				k.Components.SharedBooleans = shared
			}
		})
		return nil
	}}
}

// parseSharedBoolean parses NAME:PATH or NAME:PATH:DEADLINE. Text without a slash after the
// last colon is a deadline.
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
