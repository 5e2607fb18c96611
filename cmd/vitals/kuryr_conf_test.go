package main

import (
	"bytes"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/internal/config"
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
func loadKuryr(t *testing.T, conf string, set ...map[string]string) *config.Loaded {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kuryr.conf")
	writeFile(t, path, conf)
	p := &program{profile: "kuryr-controller", kuryrConf: path}
	for _, s := range set {
		p.set = s
	}
	l, errs := p.load()
	if len(errs) > 0 {
		t.Fatalf("load() = %v, want no mistakes", errs)
	}
	if !l.Sources.Has(path) {
		t.Errorf("the configuration does not consist of %s, want it to: a change of it is a change of the configuration", path)
	}
	return l
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

func TestKuryrConfDecidesWhoseQuotaIsRead(t *testing.T) {
	t.Parallel()
	conf := strings.Replace(testdata(t, "kuryr.conf"), "@PROJECT_ID@", "another", 1)
	lab := startKuryrLab(t, labOptions{kuryrConf: conf})
	lab.await(t, "ready", fails(neutronDown))
	failure("neutron", "forbidden")(t, lab)
}

// vitals runs a command line and returns its exit code and output.
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
		{"no such file", "nowhere/kuryr.conf", "nowhere/kuryr.conf: there is no such file\n"},
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
	const want = "builtin:kuryr-controller:26:5: collectors[0]: collector \"kubernetes\": kubernetes: read token_file: open /nowhere/token: no such file or directory\n"
	if code != exitConfig || stderr != want {
		t.Errorf("once ready = %d %q, want %d %q", code, stderr, exitConfig, want)
	}
}

// One evaluation with the shipped profile and a kuryr.conf, from the command line to the
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
	if got := collectorNamed(l, "kubernetes").Kubernetes; got.Kubeconfig != kubeconfig || got.Server != "" || len(got.CRDs) == 0 {
		t.Errorf("kubernetes = %+v, want the kubeconfig, no server, and the handlers' definitions", got)
	}
	p.set = map[string]string{"kubeconfgi": kubeconfig}
	if _, errs := p.load(); len(errs) != 1 || !strings.Contains(errs[0].Error(), "expected components, kubeconfig or original") {
		t.Errorf("load() = %v, want a mistake that names the variables", errs)
	}
}

// A Kuryr in a pod has an empty api_root: the API is that of the pod's cluster.
func TestKuryrConfInAPod(t *testing.T) {
	cloud := newCloud(t)
	api, err := url.Parse(cloud.KubernetesURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBERNETES_SERVICE_HOST", api.Hostname())
	t.Setenv("KUBERNETES_SERVICE_PORT_HTTPS", api.Port())
	path := filepath.Join(t.TempDir(), "kuryr.conf")
	conf := strings.NewReplacer("@API_ROOT@", `""`, "vif_pool_driver = nested", "").Replace(testdata(t, "kuryr.conf"))
	writeFile(t, path, fillIn(t, conf, cloud, t.TempDir()))
	code, stdout, stderr := vitals("once", "ready", "--profile=kuryr-controller", "--kuryr.conf="+path)
	if code != exitOK || !strings.HasPrefix(stdout, "ok 0 ready: ") {
		t.Errorf("once ready = %d %q %s, want 0 and ok", code, stdout, stderr)
	}
}
