package openstack

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// setEnvironment sets these OS_ variables and clears all others.
func setEnvironment(t *testing.T, variables map[string]string) {
	t.Helper()
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "OS_") {
			t.Setenv(name, "")
		}
	}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for name, value := range variables {
		t.Setenv(name, value)
	}
}

func TestConfigProblems(t *testing.T) {
	const login = "auth_url: http://k:5000, username: u, user_domain_name: d, password: p"
	for _, test := range []struct {
		name, yaml string
		want       []string
	}{
		{"a cloud", "{cloud: mycloud, region: r, interface: internalURL}", nil},
		{"nothing", "{}", nil},
		{"a password", "{" + login + ", project_name: p, project_domain_id: default}", nil},
		{"a user and a project by id", "{auth_url: https://k/identity, user_id: u, password: p, project_id: p}", nil},
		{"an application credential", "{auth_url: https://k, application_credential_id: a, application_credential_secret: s}", nil},
		{"an application credential by name", "{auth_url: https://k, application_credential_name: a, application_credential_secret: s, username: u, user_domain_id: d}", nil},
		{"a cloud and a login", "{cloud: c, username: u}", []string{"username: username beside a cloud"}},
		{"no address", "{username: u, user_domain_name: d, password: p}", []string{"auth_url: no auth_url: expected the address"}},
		{"an invalid address", "{auth_url: 'http://[::1', username: u, user_domain_name: d, password: p}", []string{"auth_url: auth_url is not a URL"}},
		{"an address without a scheme", "{auth_url: 'k:5000', username: u, user_domain_name: d, password: p}", []string{`auth_url: auth_url has the scheme "k"`}},
		{"an address without a host", "{auth_url: 'http:///v3', username: u, user_domain_name: d, password: p}", []string{"auth_url: auth_url has no host"}},
		{"an address with a password", "{auth_url: 'http://u:p@k', username: u, user_domain_name: d, password: p}", []string{"auth_url: auth_url contains a user"}},
		{"an address with a port beyond", "{auth_url: 'http://k:50000000', username: u, user_domain_name: d, password: p}", []string{"auth_url: auth_url has the port 50000000: expected 1 to 65535"}},
		{"an address with a query", "{auth_url: 'http://k?a=b', username: u, user_domain_name: d, password: p}", []string{"auth_url: auth_url has a query"}},
		{"no user", "{auth_url: http://k, password: p}", []string{"username: username and user_id: expected exactly one"}},
		{"two users", "{" + login + ", user_id: u}", []string{"username: username and user_id", "user_domain_name: user_id with a domain"}},
		{"no domain", "{auth_url: http://k, username: u, password: p}", []string{"user_domain_name: username without its domain"}},
		{"no password", "{auth_url: http://k, user_id: u}", []string{"password: no password"}},
		{"two projects", "{" + login + ", project_name: p, project_id: p}", []string{"project_name: project_name and project_id"}},
		{"a project without its domain", "{" + login + ", project_name: p}", []string{"project_domain_name: project_name without"}},
		{"a domain without its project", "{" + login + ", project_domain_id: p}", []string{"project_domain_name: a project domain without"}},
		{"no application credential for the secret", "{auth_url: http://k, application_credential_secret: s}", []string{"application_credential_id: "}},
		{"no secret", "{auth_url: http://k, application_credential_id: a, password: p}", []string{"application_credential_secret: ", "password: password beside"}},
		{"a certificate without its key", "{cert_file: c.pem}", []string{"cert_file: cert_file and key_file"}},
		{"an unknown interface", "{interface: private}", []string{`interface: interface "private"`}},
		{"no time between authentications", "{reauthenticate: 0s}", []string{"reauthenticate: reauthenticate 0s"}},
		{"endpoints", "{endpoints: [network, Network, network]}", []string{`endpoints[1]: endpoints "Network"`, `endpoints[2]: endpoints "network": expected it once`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			config := new(KeystoneConfig)
			config.SetDefaults()
			decode(t, test.yaml, config)
			wantProblems(t, config, test.want)
		})
	}
}

func TestNeutronConfigProblems(t *testing.T) {
	for _, test := range []struct {
		name, yaml string
		want       []string
	}{
		{"a shared token", "{keystone: ks, region: r, interface: internal, project: abc, agents: [Open vSwitch agent, NIC Switch agent]}", nil},
		{"a cloud", "{cloud: mycloud}", nil},
		{"a shared token and a login", "{keystone: ks, cloud: c, password: p, insecure: true}", []string{"cloud: cloud beside keystone", "insecure: ", "password: "}},
		{"an invalid name", "{keystone: 'a b'}", []string{`keystone: name "a b"`}},
		{"a project that is a path", "{project: ../../x}", []string{`project: project "../../x"`}},
		{"lists", "{keystone: ks, resources: ['a b'], extensions: [trunk, trunk], agents: ['']}", []string{"resources[0]: ", "extensions[1]: ", "agents[0]: "}},
		{"an unknown interface", "{keystone: ks, interface: x}", []string{"interface: "}},
	} {
		t.Run(test.name, func(t *testing.T) {
			config := new(NeutronConfig)
			config.SetDefaults()
			decode(t, test.yaml, config)
			wantProblems(t, config, test.want)
		})
	}
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	decoder := yaml.NewDecoder(strings.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(into); err != nil {
		t.Fatal(err)
	}
}

// wantProblems compares problems, each as "path: text", with prefixes.
func wantProblems(t *testing.T, kind collectors.Kind, want []string) {
	t.Helper()
	problems := kind.Problems()
	if len(problems) != len(want) {
		t.Fatalf("Problems() = %q, want %q", problems, want)
	}
	for i, p := range problems {
		if got := p.Path + ": " + p.Text; !strings.HasPrefix(got, want[i]) {
			t.Errorf("problem = %q, want %q", got, want[i])
		}
	}
}

func TestConfigPrintsNoSecrets(t *testing.T) {
	config := &KeystoneConfig{}
	config.SetDefaults()
	decode(t, "{auth_url: http://k, username: u, user_domain_name: d, password: "+testPassword+", application_credential_secret: "+testPassword+"}", config)
	for _, shown := range []any{config, *config, struct{ Keystone *KeystoneConfig }{config}, config.Problems()} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
			wantNoSecrets(t, "config", fmt.Sprintf(verb, shown))
		}
		text, err := yaml.Marshal(shown)
		if err != nil {
			t.Fatal(err)
		}
		wantNoSecrets(t, "yaml", string(text))
	}
}

func TestIdentityEndpoint(t *testing.T) {
	for given, want := range map[string]string{
		"http://k:5000":                "http://k:5000/v3/",
		"http://k:5000/":               "http://k:5000/v3/",
		"http://k:5000/v3":             "http://k:5000/v3/",
		"http://k:5000/v3/":            "http://k:5000/v3/",
		"http://k:5000/v2.0/":          "http://k:5000/v3/",
		"https://k/identity":           "https://k/identity/v3/",
		"https://k/identity/v3.14//":   "https://k/identity/v3/",
		"https://k/v1-old/identity/v3": "https://k/v1-old/identity/v3/",
		"https://v3":                   "https://v3/v3/",
	} {
		if got := identityEndpoint(given); got != want {
			t.Errorf("identityEndpoint(%q) = %q, want %q", given, got, want)
		}
	}
}

func TestEnvironment(t *testing.T) {
	const address = "http://k:5000/v3"
	for _, test := range []struct {
		name      string
		given     Auth
		variables map[string]string
		want      Auth
	}{
		{
			"as Horizon writes openrc files", Auth{},
			map[string]string{
				"OS_AUTH_URL": address, "OS_USERNAME": "u", "OS_USER_DOMAIN_NAME": "Default", "OS_PASSWORD": "p", "OS_PROJECT_ID": "id",
				"OS_PROJECT_NAME": "p", "OS_PROJECT_DOMAIN_ID": "default", "OS_REGION_NAME": "R", "OS_INTERFACE": "internal",
			},
			Auth{AuthURL: address, Username: "u", UserDomainName: "Default", Password: "p", ProjectID: "id", Region: "R", Interface: "internal"},
		},
		{
			"one domain for both, and the old names", Auth{},
			map[string]string{"OS_AUTH_URL": address, "OS_USERNAME": "u", "OS_DOMAIN_NAME": "d", "OS_PASSWORD": "p", "OS_TENANT_NAME": "t", "OS_ENDPOINT_TYPE": "adminURL"},
			Auth{AuthURL: address, Username: "u", UserDomainName: "d", Password: "p", ProjectName: "t", ProjectDomainName: "d", Interface: "adminURL"},
		},
		{
			"a domain by name and by id", Auth{},
			map[string]string{"OS_AUTH_URL": address, "OS_USERNAME": "u", "OS_USER_DOMAIN_NAME": "d", "OS_USER_DOMAIN_ID": "i", "OS_PASSWORD": "p"},
			Auth{AuthURL: address, Username: "u", UserDomainID: "i", Password: "p"},
		},
		{
			"an application credential", Auth{},
			map[string]string{"OS_AUTH_URL": address, "OS_APPLICATION_CREDENTIAL_ID": "a", "OS_APPLICATION_CREDENTIAL_SECRET": "s", "OS_USERNAME": "u", "OS_USER_DOMAIN_NAME": "d"},
			Auth{AuthURL: address, ApplicationCredentialID: "a", ApplicationCredentialSecret: "s"},
		},
		{
			"TLS", Auth{},
			map[string]string{"OS_AUTH_URL": address, "OS_USER_ID": "u", "OS_PASSWORD": "p", "OS_CACERT": "ca", "OS_CERT": "c", "OS_KEY": "k", "OS_INSECURE": "True"},
			Auth{AuthURL: address, UserID: "u", Password: "p", CAFile: "ca", CertFile: "c", KeyFile: "k", Insecure: true},
		},
		{
			"a cloud before all others", Auth{},
			map[string]string{"OS_CLOUD": "c", "OS_AUTH_URL": address, "OS_USERNAME": "u"},
			Auth{Cloud: "c"},
		},
		{
			"a region of the configuration", Auth{Region: "mine"},
			map[string]string{"OS_AUTH_URL": address, "OS_USER_ID": "u", "OS_PASSWORD": "p", "OS_REGION_NAME": "R"},
			Auth{AuthURL: address, UserID: "u", Password: "p", Region: "mine"},
		},
		{
			"a login of the configuration", Auth{AuthURL: "http://mine"},
			map[string]string{"OS_AUTH_URL": address, "OS_CLOUD": "c"},
			Auth{AuthURL: "http://mine"},
		},
	} {
		got := test.given.fromEnvironment(func(name string) string { return test.variables[name] })
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// writeClouds writes a clouds.yaml, and a secure.yaml with the password.
func writeClouds(t *testing.T, authURL string) (cloudsFile, secureFile string) {
	t.Helper()
	dir := t.TempDir()
	cloudsFile, secureFile = filepath.Join(dir, "clouds.yaml"), filepath.Join(dir, "secure.yaml")
	writeFile(t, cloudsFile, `clouds:
  mine:
    auth: {auth_url: "`+authURL+`", username: healthcheck, user_domain_name: Default, project_name: health, project_domain_name: Default}
    region_name: RegionTwo
    interface: public
  authless: {region_name: RegionOne}
  incomplete:
    auth: {auth_url: "`+authURL+`", username: healthcheck, project_name: health}
`)
	writeFile(t, secureFile, "clouds: {mine: {auth: {password: "+testPassword+"}}}\n")
	return cloudsFile, secureFile
}

func writeFile(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestCloudsFile(t *testing.T) {
	cloud := newFakeCloud(t)
	file, _ := writeClouds(t, cloud.keystone.URL)
	setEnvironment(t, nil)
	n := cloud.newNeutron(nil, func(c *NeutronConfig) {
		c.Auth = Auth{Cloud: "mine", CloudsFile: file}.withDefaults()
	})
	wantUp(t, n, "neutron")
	if calls := cloud.neutronCalls(); len(calls) != 1 || !strings.HasPrefix(calls[0], "GET /two/") {
		t.Errorf("calls = %v, want one in the region of clouds.yaml", calls)
	}
	n = cloud.newNeutron(nil, func(c *NeutronConfig) {
		c.Auth = Auth{Cloud: "mine", CloudsFile: file, Region: "RegionOne", Interface: "internal"}.withDefaults()
	})
	wantUp(t, n, "neutron")
	if calls := cloud.neutronCalls(); len(calls) != 1 || !strings.HasPrefix(calls[0], "GET /internal/") {
		t.Errorf("calls = %v, want one in the region and interface of the configuration", calls)
	}
}

func TestCloudsFileOfTheEnvironment(t *testing.T) {
	cloud := newFakeCloud(t)
	file, _ := writeClouds(t, cloud.keystone.URL)
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, "openstack"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"clouds.yaml", "secure.yaml"} {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(file), name))
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(home, "openstack", name), string(text))
	}
	for _, variables := range []map[string]string{
		{"OS_CLOUD": "mine", "OS_CLIENT_CONFIG_FILE": file},
		{"OS_CLOUD": "mine", "XDG_CONFIG_HOME": home},
	} {
		setEnvironment(t, variables)
		k := cloud.newKeystone(func(c *KeystoneConfig) { c.Auth = Auth{}.withDefaults() })
		wantUp(t, k, "keystone")
	}
}

func TestInvalidCloudsFile(t *testing.T) {
	setEnvironment(t, nil)
	file, secure := writeClouds(t, "http://127.0.0.1:1")
	bad := filepath.Join(t.TempDir(), "clouds.yaml")
	writeFile(t, bad, "clouds:\n  mine: "+testPassword+"\n")
	for _, test := range []struct {
		name, cloud, file, want string
	}{
		{"absent", "mine", file + ".not", "no clouds.yaml: expected it at"},
		{"a directory", "mine", filepath.Dir(file), "is not a file"},
		{"another cloud", "other", file, `cloud "other" of ` + file},
		{"no block auth", "authless", file, "has no block auth"},
		{"no domain and no password", "incomplete", file, "credentials: "},
		{"invalid format", "mine", bad, "not valid as clouds.yaml or secure.yaml: line 2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := (&KeystoneConfig{Auth: Auth{Cloud: test.cloud, CloudsFile: test.file}.withDefaults()}).New(collectors.Env{})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("New() = %v, want an error with %q", err, test.want)
			}
			wantNoSecrets(t, "error", err.Error())
			if strings.Contains(err.Error(), testPassword[:5]) {
				t.Errorf("error quotes the file: %v", err)
			}
		})
	}
	writeFile(t, secure, "clouds: {mine: "+testPassword+"}\n")
	_, err := (&KeystoneConfig{Auth: Auth{Cloud: "mine", CloudsFile: file}.withDefaults()}).New(collectors.Env{})
	if err == nil || strings.Contains(err.Error(), testPassword[:5]) {
		t.Errorf("New() with a bad secure.yaml = %v, want an error that does not quote it", err)
	}
}

func TestNewDoesNotUseTheNetwork(t *testing.T) {
	setEnvironment(t, nil)
	c := Auth{AuthURL: "http://192.0.2.1:5000", UserID: "u", Password: "p"}.withDefaults()
	for _, kind := range []collectors.Kind{&KeystoneConfig{Auth: c}, &NeutronConfig{Auth: c}, &NeutronConfig{Keystone: "ks"}} {
		if _, err := kind.New(collectors.Env{Name: "x"}); err != nil {
			t.Errorf("New() of an unreachable cloud = %v, want no error", err)
		}
	}
}

func TestRotatedPasswordIsReloaded(t *testing.T) {
	cloud := newFakeCloud(t)
	setEnvironment(t, nil)
	file, secure := writeClouds(t, cloud.keystone.URL)
	k := cloud.newKeystone(func(c *KeystoneConfig) {
		c.Auth = Auth{Cloud: "mine", CloudsFile: file}.withDefaults()
	})
	wantUp(t, k, "keystone")

	// The file changes first: the next collection reads it, and the cloud rejects the password.
	writeFile(t, secure, "clouds: {mine: {auth: {password: the-second-one}}}\n")
	faultCase{want: remote.ReasonAuth, text: "401"}.check(t, k, "keystone")
	cloud.set(func(c *fakeCloud) { c.password = "the-second-one" })
	wantUp(t, k, "keystone")

	// The cloud changes first, and the new file has the size and time of the old one.
	info, err := os.Stat(secure)
	if err != nil {
		t.Fatal(err)
	}
	cloud.set(func(c *fakeCloud) { c.password = "a-third-one..."; clear(c.tokens) })
	faultCase{want: remote.ReasonAuth, text: "401"}.check(t, k, "keystone")
	writeFile(t, secure, "clouds: {mine: {auth: {password: a-third-one...}}}\n")
	if err := os.Chtimes(secure, time.Time{}, info.ModTime()); err != nil {
		t.Fatal(err)
	}
	wantUp(t, k, "keystone")
}

func TestCloudsFileThatBecomesInvalid(t *testing.T) {
	cloud := newFakeCloud(t)
	setEnvironment(t, nil)
	file, _ := writeClouds(t, cloud.keystone.URL)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	k := cloud.newKeystone(func(c *KeystoneConfig) {
		c.Auth = Auth{Cloud: "mine", CloudsFile: file}.withDefaults()
	})
	wantUp(t, k, "keystone")
	writeFile(t, file, "clouds: [")
	for range 3 {
		series, err := collect(t, k)
		if got := downReason(t, series, "keystone"); got != "" || err == nil || !strings.Contains(err.Error(), "reload the credentials") {
			t.Errorf("reason %q, error %v, want up with the last good credentials, and an error", got, err)
		}
	}
	if issued, _ := cloud.counts(); issued != 2 {
		t.Errorf("%d tokens, want 2: one for the change of the file", issued)
	}
	writeFile(t, file, string(text))
	wantUp(t, k, "keystone")
}
