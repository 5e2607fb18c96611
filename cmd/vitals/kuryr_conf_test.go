package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/collectors/kubernetes"
)

func testdata(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// loadKuryr loads the profile with a kuryr.conf, as vitals run does.
func loadKuryr(t *testing.T, conf string) *loaded {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kuryr.conf")
	writeFile(t, path, conf)
	p := &program{profile: "kuryr-controller", kuryrConf: path}
	l, errs := p.load()
	if len(errs) > 0 {
		t.Fatalf("load() = %v, want no mistakes", errs)
	}
	if _, ok := l.sources.seen[path]; !ok {
		t.Errorf("the configuration does not consist of %s, want it to: a change of it is a change of the configuration", path)
	}
	return l
}

// collector returns the configuration of the collector of a name.
func (l *loaded) collector(name string) kinds.Config {
	for _, c := range l.cfg.Collectors {
		if c.Name == name {
			return c
		}
	}
	return kinds.Config{}
}

func TestKuryrConfIsTakenOver(t *testing.T) {
	conf := strings.NewReplacer("@API_ROOT@", "https://192.0.2.10:6443", "@TOKEN_FILE@", "/etc/kuryr/token",
		"@CA_FILE@", "/etc/kuryr/ca.crt", "@AUTH_URL@", "https://keystone.example.org:5000/v3",
		"@PASSWORD@", "s3cret", "@PROJECT_ID@", "9d2c").Replace(testdata(t, "kuryr.conf"))
	l := loadKuryr(t, conf)
	if got, want := l.cfg.Server.ListenAddress, ":8191"; got != want {
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
	wantKubernetes.WatchIdleTimeout = l.collector("kubernetes").Kubernetes.WatchIdleTimeout
	if diff := cmp.Diff(&wantKubernetes, l.collector("kubernetes").Kubernetes); diff != "" {
		t.Errorf("kubernetes (-want +got):\n%s", diff)
	}
	auth := l.collector("keystone").Keystone.Auth
	if auth.AuthURL != "https://keystone.example.org:5000/v3" || auth.Username != "kuryr" || auth.Password.Value() != "s3cret" ||
		auth.UserDomainName != "Default" || auth.ProjectName != "k8s" || auth.ProjectDomainName != "Default" ||
		auth.Region != "RegionOne" || auth.Interface != "public" {
		t.Errorf("keystone = %+v, want what [neutron] says", auth)
	}
	if got := l.collector("neutron").Neutron.Project; got != "9d2c" {
		t.Errorf("project of the quota = %q, want that of [neutron_defaults]", got)
	}
	if got := l.collector("pools").File; got == nil || got.Path != "/tmp/pools_loaded" {
		t.Errorf("pools = %+v, want the marker that the controller writes", got)
	}
}

// minimalConf says no more than what has no default.
const minimalConf = `[neutron]
auth_url = http://192.0.2.20:5000
username = kuryr
user_domain_name = Default
password = s3cret
project_name = k8s
project_domain_name = Default
`

func TestKuryrConfDefaults(t *testing.T) {
	l := loadKuryr(t, minimalConf)
	if got, want := l.cfg.Server.ListenAddress, ":8082"; got != want {
		t.Errorf("listen address = %q, want %q", got, want)
	}
	if got, want := l.cfg.Server.FailingStatus, 500; got != want {
		t.Errorf("failing status = %d, want %d", got, want)
	}
	want := []string{"kuryrports.openstack.org", "kuryrloadbalancers.openstack.org"}
	if diff := cmp.Diff(want, l.collector("kubernetes").Kubernetes.CRDs); diff != "" {
		t.Errorf("definitions for the default handlers (-want +got):\n%s", diff)
	}
	if l.collector("pools").Name != "" {
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
			l := loadKuryr(t, "[kubernetes]\nenabled_handlers = "+tt.handlers+"\n"+minimalConf)
			var got []string
			for _, a := range l.collector("kubernetes").Kubernetes.Access {
				if strings.HasPrefix(a.Resource, kuryrGroup+"/") {
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

func TestKuryrConfDecidesWhoseQuotaIsRead(t *testing.T) {
	t.Parallel()
	conf := strings.Replace(testdata(t, "kuryr.conf"), "@PROJECT_ID@", "another", 1)
	lab := startKuryrLab(t, labOptions{kuryrConf: conf})
	lab.await(t, "ready", fails(neutronDown))
	failure("neutron", "forbidden")(t, lab)
}

// vitals runs a command line and returns its exit code and what it printed.
func vitals(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestKuryrConfMistakes(t *testing.T) {
	file := filepath.Join("testdata", "kuryr_mistakes.conf")
	incomplete := filepath.Join(t.TempDir(), "kuryr.conf")
	writeFile(t, incomplete, "[neutron_defaults]\nproject = k8s/1\n"+strings.ReplaceAll(minimalConf, "_domain_name = Default", "_domain_name ="))
	for _, tt := range []struct{ name, path, want string }{
		{"values that mean nothing", file, file + `:2: [health_server] port "eighty": expected a port from 1 to 65535
` + file + `:4: [kubernetes] ssl_verify_server_crt "perhaps": expected true, false, yes, no, on, off, 1 or 0
` + file + `:6: [neutron] auth_url: expected a URL such as https://host:port/path
3 mistakes
`},
		{"options that are missing", incomplete, incomplete + `: [neutron] user_domain_name: username without its domain: expected exactly one of user_domain_name and user_domain_id
` + incomplete + `: [neutron] project_domain_name: project_name without its domain: expected exactly one of project_domain_name and project_domain_id
` + incomplete + `: [neutron_defaults] project: project "k8s/1": expected the id of a project
3 mistakes
`},
		{"no such file", "nowhere/kuryr.conf", "read kuryr.conf: stat nowhere/kuryr.conf: no such file or directory\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, _, stderr := vitals("run", "--profile=kuryr-controller", "--kuryr.conf="+tt.path)
			if code != exitConfig || stderr != tt.want {
				t.Errorf("run = %d, want %d (-want +got):\n%s", code, exitConfig, cmp.Diff(tt.want, stderr))
			}
		})
	}
}

func TestKuryrConfWithoutServiceAccount(t *testing.T) {
	conf := strings.Replace(testdata(t, "kuryr.conf"), "@TOKEN_FILE@", "/nowhere/token", 1)
	cloud := newCloud(t)
	path := filepath.Join(t.TempDir(), "kuryr.conf")
	writeFile(t, path, fillIn(t, conf, cloud, t.TempDir()))
	code, _, stderr := vitals("once", "ready", "--profile=kuryr-controller", "--kuryr.conf="+path)
	const want = "builtin:kuryr-controller:23:5: collectors[0]: collector \"kubernetes\": kubernetes: read token_file: open /nowhere/token: no such file or directory\n"
	if code != exitConfig || stderr != want {
		t.Errorf("once ready = %d %q, want %d %q", code, stderr, exitConfig, want)
	}
}

// One look with the shipped profile and a kuryr.conf, from the command line to the
// exit code.
func TestKuryrConfOnce(t *testing.T) {
	t.Parallel()
	cloud := newCloud(t)
	conf := strings.Replace(testdata(t, "kuryr.conf"), "vif_pool_driver = nested", "vif_pool_driver = noop", 1)
	path := filepath.Join(t.TempDir(), "kuryr.conf")
	writeFile(t, path, fillIn(t, conf, cloud, t.TempDir()))
	once := func(state string) (int, string) {
		code, stdout, _ := vitals("once", state, "--log.level=error", "--profile=kuryr-controller", "--kuryr.conf="+path)
		return code, stdout
	}
	if code, stdout := once("ready"); code != exitOK || !strings.HasPrefix(stdout, "ok 0 ready: ") {
		t.Errorf("once ready = %d %q, want 0 and ok", code, stdout)
	}
	if err := cloud.Set("keystone", "500"); err != nil {
		t.Fatal(err)
	}
	if code, stdout := once("ready"); code != exitFailing || !strings.HasPrefix(stdout, "failing 1 "+keystoneDown) {
		t.Errorf("once ready without Keystone = %d %q, want 1 and KeystoneDown", code, stdout)
	}
	if code, stdout := once("alive"); code != exitOK || !strings.HasPrefix(stdout, "ok 0 alive: ") {
		t.Errorf("once alive without Keystone = %d %q, want 0 and ok", code, stdout)
	}
}

func TestKuryrConfWithAKubeconfig(t *testing.T) {
	cloud := newCloud(t)
	dir := t.TempDir()
	conf, kubeconfig := filepath.Join(dir, "kuryr.conf"), filepath.Join(dir, "kubeconfig")
	writeFile(t, conf, fillIn(t, testdata(t, "kuryr.conf"), cloud, dir))
	writeFile(t, kubeconfig, string(cloud.Kubeconfig()))
	p := &program{profile: "kuryr-controller", kuryrConf: conf, set: map[string]string{"kubeconfig": kubeconfig}}
	l, errs := p.load()
	if len(errs) > 0 {
		t.Fatalf("load() = %v, want no mistakes", errs)
	}
	if got := l.collector("kubernetes").Kubernetes; got.Kubeconfig != kubeconfig || got.Server != "" || len(got.CRDs) == 0 {
		t.Errorf("kubernetes = %+v, want the kubeconfig, no server, and the handlers' definitions", got)
	}
	p.set = map[string]string{"kubeconfgi": kubeconfig}
	if _, errs := p.load(); len(errs) != 1 || !strings.Contains(errs[0].Error(), "expected components or kubeconfig") {
		t.Errorf("load() = %v, want a mistake that names the variables", errs)
	}
}
