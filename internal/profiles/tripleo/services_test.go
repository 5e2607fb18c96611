package tripleo_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/internal/profiles/tripleo"
)

func find(t *testing.T, name string) tripleo.Service {
	t.Helper()
	s, err := tripleo.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TripleO had 71 scripts when it was retired. Each service has a check and a rule file.
func TestServicesAreComplete(t *testing.T) {
	all := tripleo.Services()
	if len(all) != 71 {
		t.Errorf("Services() = %d services, want 71", len(all))
	}
	for _, s := range all {
		checks := len(s.Processes) + len(s.HTTP) + len(s.Queries) + len(s.Files)
		if checks == 0 && s.Arguments != tripleo.Daemon || len(s.Rules) == 0 || s.Kind == "" {
			t.Errorf("%s has the kind %q, %d checks and the rules %v, want some of each", s.Name, s.Kind, checks, s.Rules)
		}
		names := map[string]bool{}
		for _, name := range slices.Concat(each(s.Processes, func(p tripleo.Process) string { return p.Name }),
			each(s.HTTP, func(h tripleo.HTTP) string { return h.Name }), each(s.Queries, func(q tripleo.Query) string { return q.Name }),
			each(s.Files, func(f tripleo.File) string { return f.Name })) {
			if name == "" || names[name] {
				t.Errorf("%s: the name %q is empty or taken, want one for each", s.Name, name)
			}
			names[name] = true
		}
	}
}

func each[T any](all []T, f func(T) string) []string {
	var texts []string
	for _, x := range all {
		texts = append(texts, f(x))
	}
	return texts
}

func TestFindSuggestsTheNearestName(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"nova-compuet", `there is no such service: did you mean "nova-compute"?`},
		{"", "there is no such service: expected one of aodh-api, "},
		{"zaqar", "there is no such service: expected one of aodh-api, "},
	} {
		if _, err := tripleo.Find(c.name); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("Find(%q) = %v, want %s...", c.name, err, c.want)
		}
	}
}

func TestArguments(t *testing.T) {
	for _, c := range []struct {
		name, service, arguments string
		want                     string
	}{
		{"the default ports", "nova-scheduler", "", "nova-scheduler [5671 5672] [] [] []"},
		{"other ports", "nova-scheduler", " 5673\t5674 5673", "nova-scheduler [5673 5674] [] [] []"},
		{"the ports of the southbound database", "ovn-controller", "16642", "ovn-controller [16642] [] [] []"},
		{"ports of several processes", "nova-compute", "2222", "nova-compute [2222] [] [] [], sshd [] [2222] [] []"},
		{"a port of UDP", "octavia-health-manager", "5556", "octavia-health-manager [] [] [5556] []"},
		{"a daemon", "nova-libvirt", "virtlogd", "virtlogd [] [] [] [/run/libvirt/virtlogd-sock /var/run/libvirt/virtlogd-sock]"},
		{"the daemon of old", "nova-libvirt", "libvirtd", "libvirtd [] [] [] [/run/libvirt/libvirt-sock /var/run/libvirt/libvirt-sock]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := find(t, c.service).WithArguments(c.arguments)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(each(s.Processes, func(p tripleo.Process) string {
				return fmt.Sprint(p.Name, " ", p.Connections, p.Listen, p.UDP, p.UnixSockets)
			}), ", ")
			if got = strings.ReplaceAll(got, "][", "] ["); got != c.want {
				t.Errorf("WithArguments(%q) = %s, want %s", c.arguments, got, c.want)
			}
		})
	}
	s, err := find(t, "cron").WithArguments("heat")
	if err != nil || s.Files[0].Path != "/var/spool/cron/heat" {
		t.Errorf("WithArguments(heat) = %v, %v, want the crontab of heat", s.Files, err)
	}
	if got := find(t, "cron").Files[0].Path; got != "/var/spool/cron/root" {
		t.Errorf("the crontab is %s, want that of root", got)
	}
}

// E19: an invalid or missing argument is an error.
func TestInvalidArguments(t *testing.T) {
	for _, c := range []struct{ service, arguments, want string }{
		{"nova-scheduler", "amqp", `"amqp" is no port: expected numbers from 1 to 65535`},
		{"nova-scheduler", "0", `"0" is no port: expected numbers from 1 to 65535`},
		{"nova-scheduler", "65536", `"65536" is no port: expected numbers from 1 to 65535`},
		{"nova-libvirt", "", "expected the name of one daemon, such as virtlogd or libvirtd"},
		{"nova-libvirt", "virtlogd libvirtd", "expected the name of one daemon, such as virtlogd or libvirtd"},
		{"nova-libvirt", "qemu", `"qemu" is no daemon of libvirt: expected one such as virtlogd, virtqemud or libvirtd`},
		{"cron", "../../etc/passwd", "expected the name of one user"},
		{"cron", "root heat", "expected the name of one user"},
		{"keystone", "5000", "the service keystone takes no arguments"},
	} {
		if _, err := find(t, c.service).WithArguments(c.arguments); err == nil || err.Error() != c.want {
			t.Errorf("WithArguments(%q) of %s = %v, want %s", c.arguments, c.service, err, c.want)
		}
	}
}

// Services with the same entry in the file do not share data: arguments of one do not affect
// another.
func TestServicesShareNoData(t *testing.T) {
	s, err := find(t, "cinder-volume").WithArguments("1")
	if err != nil {
		t.Fatal(err)
	}
	other := find(t, "heat-engine")
	if diff := cmp.Diff([]int{5671, 5672}, other.Processes[0].Connections); diff != "" || other.Processes[0].Name != "heat-engine" {
		t.Errorf("heat-engine checks %s with other ports than the default (-want +got):\n%s", other.Processes[0].Name, diff)
	}
	if s.Processes[0].Name != "cinder-volume" {
		t.Errorf("cinder-volume checks %s, want cinder-volume", s.Processes[0].Name)
	}
}

// A process is identified by its name in the kernel or by an argument of its command line,
// not by both.
func TestProcessesAreIdentified(t *testing.T) {
	for _, c := range []struct{ service, comm, argument string }{
		{"nova-scheduler", "", "nova-scheduler"},
		{"neutron-ovs-agent", "", "neutron-openvswitch-agent"},
		{"nova-api", "", "nova_metadata"},
		{"swift-rsync", "rsync", ""},
		{"ovn-controller", "ovn-controller", ""},
	} {
		if p := find(t, c.service).Processes[0]; p.Comm != c.comm || p.Argument != c.argument {
			t.Errorf("%s has the name %q and the argument %q, want %q and %q", c.service, p.Comm, p.Argument, c.comm, c.argument)
		}
	}
	for _, s := range tripleo.Services() {
		for _, p := range s.Processes {
			// The kernel keeps 15 bytes of a name (TASK_COMM_LEN).
			if (p.Comm == "") == (p.Argument == "") || len(p.Comm) > 15 {
				t.Errorf("%s has the name %q and the argument %q, want one of them, and at most 15 bytes of a name", s.Name, p.Comm, p.Argument)
			}
		}
	}
}

func TestConfigFiles(t *testing.T) {
	for service, want := range map[string][]string{
		"keystone":             {"/etc/httpd/conf.d/10-keystone_wsgi.conf"},
		"swift-account-server": {"/etc/swift/account-server.conf"},
		"ironic-pxe":           {"/etc/ironic/ironic.conf", "/etc/httpd/conf.d/10-ipxe_vhost.conf"},
		"gnocchi-statsd":       {"/etc/gnocchi/gnocchi.conf"},
		"redis":                {"/etc/redis/redis.conf"},
		"rabbitmq":             nil,
		"mariadb":              {"/etc/sysconfig/clustercheck"},
		"nova-scheduler":       nil,
	} {
		if diff := cmp.Diff(want, find(t, service).ConfigFiles()); diff != "" {
			t.Errorf("ConfigFiles() of %s (-want +got):\n%s", service, diff)
		}
	}
}
