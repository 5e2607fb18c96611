package firstconfig

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// The files that show what a host is.
const (
	kuryrConf      = "etc/kuryr/kuryr.conf"
	accountToken   = "var/run/secrets/kubernetes.io/serviceaccount/token"
	systemBus      = "run/dbus/system_bus_socket"
	runningUnits   = "run/systemd/units"
	ownUnits       = "etc/systemd/system"
	invocationMark = "invocation:"
)

func (h Host) has(name string) bool {
	_, err := fs.Stat(h.Root, name)
	return err == nil
}

// kuryr finds a kuryr.conf, whose deployment has profiles.
func (f *Found) kuryr(h Host) {
	if !h.has(kuryrConf) {
		return
	}
	f.Kuryr, f.Profile = "/"+kuryrConf, "kuryr-controller"
	names, _ := fs.Glob(h.Root, "proc/[0-9]*/comm")
	if slices.ContainsFunc(names, func(name string) bool {
		return strings.HasPrefix(string(h.read(name, 64)), "kuryr-daemon")
	}) {
		f.Profile = "kuryr-cni"
	}
}

// kubernetes adds the API server of the cluster.
func (f *Found) kubernetes(h Host, env variables, watch []string) {
	keys := ""
	if len(watch) > 0 {
		keys = "watch: " + list(watch)
	}
	c := Collector{Name: "kubernetes", Kind: "kubernetes", target: "kubernetes"}
	better := []string{"What the workload watches and may do is checked, too:", "  kubernetes: {watch: [pods], access: [{verb: list, resource: pods}]}"}
	if keys == "" {
		c.Better = better
	}
	config := env["KUBECONFIG"]
	if home := strings.TrimPrefix(path.Join(env["HOME"], ".kube/config"), "/"); config == "" && len(watch) > 0 && h.has(home) {
		config = "/" + home
	}
	switch {
	case env["KUBERNETES_SERVICE_HOST"] != "" && h.has(accountToken):
		c.Source, c.Keys = "KUBERNETES_SERVICE_HOST is set, and there is a service account", keys
	case path.IsAbs(config) && !strings.Contains(config, ":"):
		c.Source, c.Keys = config+" exists", strings.TrimPrefix(keys+", "+flow("kubeconfig", config), ", ")
		if env["KUBECONFIG"] != "" {
			c.Source = "KUBECONFIG is set"
		}
	case env["KUBERNETES_SERVICE_HOST"] != "":
		f.remark("KUBERNETES_SERVICE_HOST is set, and there is no token of a service account: mount it to check the Kubernetes API")
		return
	case len(watch) > 0:
		f.remark("--watch needs a service account or a kubeconfig: set KUBECONFIG to an absolute path")
		return
	default:
		return
	}
	f.add(c)
}

// ownService are beginnings of the names of units that are not part of an operating system.
func ownService() []string {
	return []string{
		"apache2", "cinder-", "containerd.", "devstack@", "docker.", "etcd.", "glance-", "haproxy.", "heat-", "httpd.", "ironic-", "keystone",
		"kubelet.", "kuryr-", "libvirtd.", "mariadb.", "memcached.", "mysql.", "mysqld.", "neutron-", "nginx.", "nova-", "octavia-", "openvswitch", "ovn-",
		"ovs-vswitchd.", "postgresql@", "rabbitmq-server.", "redis-server.", "redis.", "swift-", "tripleo_", "virtlogd.", "virtqemud.",
	}
}

// units adds the services that systemd runs and that the operator installed. systemd has a
// link for each running unit.
func (f *Found) units(h Host) {
	if !h.has(systemBus) {
		return
	}
	entries, _ := fs.ReadDir(h.Root, runningUnits)
	var units []string
	for _, e := range entries {
		unit, ok := strings.CutPrefix(e.Name(), invocationMark)
		if !ok || !strings.HasSuffix(unit, ".service") {
			continue
		}
		own := slices.ContainsFunc(ownService(), func(begin string) bool { return strings.HasPrefix(unit, begin) })
		if info, err := fs.Stat(h.Root, path.Join(ownUnits, unit)); own || err == nil && info.Mode().IsRegular() {
			units = append(units, unit)
		}
	}
	if len(units) > 0 {
		slices.Sort(units)
		f.add(Collector{Name: "units", Kind: "systemd", Keys: "units: " + list(units), Source: "systemd runs them", target: "systemd"})
	}
}
