package profiles

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/collectors/kubernetes"
	"github.com/vitals-health/vitals/internal/config"
)

// load loads a profile with a kuryr.conf and with variables.
func load(t *testing.T, profile, conf string, set map[string]string) (*config.Loaded, []error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kuryr.conf")
	writeFile(t, path, conf)
	return Load(Options{Name: profile, KuryrConf: path, Set: set})
}

// mustLoad is load without errors.
func mustLoad(t *testing.T, profile, conf string, set map[string]string) *config.Loaded {
	t.Helper()
	l, errs := load(t, profile, conf, set)
	if len(errs) > 0 {
		t.Fatalf("Load() = %v, want no errors", errs)
	}
	return l
}

// writeFile writes a file.
func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// collectorNamed returns the configuration of the collector of a name.
func collectorNamed(l *config.Loaded, name string) kinds.Config {
	for _, c := range l.Config.Collectors {
		if c.Name == name {
			return c
		}
	}
	return kinds.Config{}
}

// minimalConf sets only options without a default.
const minimalConf = `[neutron]
auth_url = http://192.0.2.20:5000
username = kuryr
user_domain_name = Default
password = s3cret
project_name = k8s
project_domain_name = Default
`

func TestKuryrConfIsTakenOver(t *testing.T) {
	template, err := os.ReadFile("../../cmd/vitals/testdata/kuryr.conf")
	if err != nil {
		t.Fatal(err)
	}
	conf := strings.NewReplacer("@API_ROOT@", "https://192.0.2.10:6443", "@TOKEN_FILE@", "/etc/kuryr/token",
		"@CA_FILE@", "/etc/kuryr/ca.crt", "@AUTH_URL@", "https://keystone.example.org:5000/v3",
		"@PASSWORD@", "s3cret", "@PROJECT_ID@", "9d2c").Replace(string(template))
	l := mustLoad(t, "kuryr-controller", conf, nil)
	if got, want := l.Config.Server.ListenAddress, ":8191"; got != want {
		t.Errorf("listen address = %q, want %q", got, want)
	}
	list := func(resource string) kubernetes.Access {
		return kubernetes.Access{Verb: "list", Resource: resource}
	}
	wantKubernetes := kubernetes.Config{
		Server: "https://192.0.2.10:6443", TokenFile: "/etc/kuryr/token", CAFile: "/etc/kuryr/ca.crt",
		Watch: []string{"pods", "services"},
		Access: []kubernetes.Access{
			list("pods"), {Verb: "watch", Resource: "pods"}, {Verb: "watch", Resource: "services"},
			{Verb: "patch", Resource: "openstack.org/kuryrports"},
			list("openstack.org/kuryrports"), list("openstack.org/kuryrloadbalancers"),
			list("openstack.org/kuryrnetworks"), list("openstack.org/kuryrnetworkpolicies"),
		},
		CRDs: []string{
			"kuryrports.openstack.org", "kuryrloadbalancers.openstack.org",
			"kuryrnetworks.openstack.org", "kuryrnetworkpolicies.openstack.org",
		},
	}
	wantKubernetes.WatchIdleTimeout = collectorNamed(l, "kubernetes").Kubernetes.WatchIdleTimeout
	if diff := cmp.Diff(&wantKubernetes, collectorNamed(l, "kubernetes").Kubernetes); diff != "" {
		t.Errorf("kubernetes (-want +got):\n%s", diff)
	}
	auth := collectorNamed(l, "keystone").Keystone.Auth
	if auth.AuthURL != "https://keystone.example.org:5000/v3" || auth.Username != "kuryr" || auth.Password.Value() != "s3cret" ||
		auth.UserDomainName != "Default" || auth.ProjectName != "k8s" || auth.ProjectDomainName != "Default" ||
		auth.Region != "RegionOne" || auth.Interface != "public" {
		t.Errorf("keystone = %+v, want the values of [neutron]", auth)
	}
	if got := collectorNamed(l, "neutron").Neutron.Project; got != "9d2c" {
		t.Errorf("project of the quota = %q, want that of [neutron_defaults]", got)
	}
	if got := collectorNamed(l, "pools").File; got == nil || got.Path != "/tmp/pools_loaded" {
		t.Errorf("pools = %+v, want the marker that the controller writes", got)
	}
}

func TestKuryrConfThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large.conf")
	writeFile(t, large, strings.Repeat("# comment\n", 9<<20/10))
	for _, tt := range []struct{ name, path, want string }{
		{"missing", filepath.Join(dir, "missing.conf"), "there is no such file"},
		{"a directory", dir, "is a directory, expected a file"},
		{"a device", os.DevNull, "is not a regular file, expected one"},
		{"9 MiB", large, "has more than 8388608 bytes, expected at most that"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, errs := Load(Options{Name: "kuryr-controller", KuryrConf: tt.path})
			if want := tt.path + ": " + tt.want; len(errs) != 1 || errs[0].Error() != want {
				t.Errorf("Load() = %v, want one error: %s", errs, want)
			}
		})
	}
}

func TestKuryrConfDefaults(t *testing.T) {
	l := mustLoad(t, "kuryr-controller", minimalConf, nil)
	if got, want := l.Config.Server.ListenAddress, ":8082"; got != want {
		t.Errorf("listen address = %q, want %q", got, want)
	}
	if got, want := l.Config.Server.FailingStatus, 500; got != want {
		t.Errorf("failing status = %d, want %d", got, want)
	}
	want := []string{"kuryrports.openstack.org", "kuryrloadbalancers.openstack.org"}
	if diff := cmp.Diff(want, collectorNamed(l, "kubernetes").Kubernetes.CRDs); diff != "" {
		t.Errorf("definitions for the default handlers (-want +got):\n%s", diff)
	}
	if collectorNamed(l, "pools").Name != "" {
		t.Error("there is a collector of the pools' marker, want none without pools")
	}
}

func TestKuryrConfHandlers(t *testing.T) {
	for _, tt := range []struct{ handlers, want string }{
		{"vif", "list openstack.org/kuryrports, patch openstack.org/kuryrports"},
		{"service,endpoints", "list openstack.org/kuryrloadbalancers"},
		{"kuryrnetwork_population", "list openstack.org/kuryrnetworks"},
		{"pod_label", ""},
	} {
		t.Run(tt.handlers, func(t *testing.T) {
			l := mustLoad(t, "kuryr-controller", "[kubernetes]\nenabled_handlers = "+tt.handlers+"\n"+minimalConf, nil)
			var got []string
			for _, a := range collectorNamed(l, "kubernetes").Kubernetes.Access {
				if strings.HasPrefix(a.Resource, "openstack.org/") {
					got = append(got, a.Verb+" "+a.Resource)
				}
			}
			slices.Sort(got)
			if text := strings.Join(got, ", "); text != tt.want {
				t.Errorf("rights on custom resources = %q, want %q", text, tt.want)
			}
		})
	}
}

// The controller's profile does not have the variables of the CNI daemon's.
func TestControllerVariables(t *testing.T) {
	if _, errs := Load(Options{Name: "kuryr-controller", Set: map[string]string{"process": "x"}}); len(errs) != 1 || !strings.HasSuffix(errs[0].Error(), "expected components, kubeconfig or original") {
		t.Errorf("Load() = %v, want an error that names the variables", errs)
	}
}
