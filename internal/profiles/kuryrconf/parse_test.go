package kuryrconf_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/internal/profiles/kuryrconf"
)

// load reads a file and parses it.
func load(t *testing.T, path string) (*kuryrconf.Config, []error) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return kuryrconf.Parse(path, string(data))
}

func TestLoad(t *testing.T) {
	for _, c := range []struct {
		name string
		want func(*kuryrconf.Config)
	}{
		{"complete", complete},
		{"credential", func(c *kuryrconf.Config) {
			c.Neutron = kuryrconf.Neutron{
				AuthURL:                     "http://192.0.2.20:5000",
				ApplicationCredentialID:     "4c6e8a0b-3d5f-4b7c-9e1a-0d2f4b6c8e1a",
				ApplicationCredentialName:   "kuryr",
				ApplicationCredentialSecret: "s3cret with spaces ",
				ProjectName:                 "old", Username: "older",
				EndpointType: "public", CAFile: "/etc/ssl/ca.pem", Insecure: true,
			}
		}},
		{"dialect", func(c *kuryrconf.Config) {
			c.Kubernetes.VIFPoolDriver = "neutron"
			c.Kubernetes.APIRoot = new("http://127.0.0.1:8080/?a=b:c")
			c.Kubernetes.EnabledHandlers = []string{"vif", "service"}
			c.Kubernetes.TokenFile = ""
			c.Kubernetes.SSLCACrtFile = "/a # not a comment"
			c.NeutronDefaults.Project = "two"
			c.Neutron.Password = "`back$tick\n# not a comment either"
			c.Neutron.ProjectName = "it's"
			c.Neutron.UserDomainName = `'open"`
			c.Neutron.Username = "$5"
		}},
		{"dos", func(c *kuryrconf.Config) { c.Health.Port = 8091 }},
		{"empty", func(*kuryrconf.Config) {}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, errs := load(t, "testdata/"+c.name+".conf")
			if len(errs) != 0 {
				t.Fatalf("Parse() = %v, want no error", errs)
			}
			want := kuryrconf.Default()
			c.want(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Load() (-want +got):\n%s", diff)
			}
			if got.Neutron.Password != want.Neutron.Password || got.Neutron.ApplicationCredentialSecret != want.Neutron.ApplicationCredentialSecret {
				t.Error("a secret differs, want it as the file has it")
			}
		})
	}
}

func complete(c *kuryrconf.Config) {
	c.Health.Port = 8191
	c.CNIHealth = kuryrconf.CNIHealth{Port: 8190, MaxMemoryUsage: 1024, CgPath: "/sys/fs/cgroup/memory/kuryr.slice"}
	c.CNIDaemon = kuryrconf.CNIDaemon{FailuresCount: 5, VIFAnnotationTimeout: 500 * time.Second}
	c.Kubernetes = kuryrconf.Kubernetes{
		APIRoot: new("https://192.0.2.10:6443"), TokenFile: "/etc/kuryr/token",
		SSLCACrtFile: "/etc/kuryr/ca.crt", SSLClientCrtFile: "/etc/kuryr/client.crt", SSLClientKeyFile: "/etc/kuryr/client.key",
		SSLVerifyServerCrt: true, VIFPoolDriver: "nested", PodVIFDriver: "nested-vlan",
		EnabledHandlers: []string{
			"vif", "endpoints", "service", "kuryrloadbalancer", "kuryrport", "namespace", "pod_label", "policy",
			"kuryrnetworkpolicy", "kuryrnetwork",
		},
		ControllerHA: true, ControllerHAElectorPort: 16402,
	}
	c.NeutronDefaults = kuryrconf.NeutronDefaults{Project: "9d2c4b6a8f0e4d1c8b7a6f5e4d3c2b1a", OVSBridge: "br-int"}
	c.Neutron = kuryrconf.Neutron{
		AuthURL:  "https://keystone.example.org:5000/v3",
		Username: "kuryr", Password: `p%(a)s$w#rd;=:"quoted"`, UserDomainName: "Default",
		ProjectName: "k8s", ProjectID: "9d2c4b6a8f0e4d1c8b7a6f5e4d3c2b1a", ProjectDomainName: "Default",
		RegionName: "RegionOne", EndpointType: "internal", ValidInterfaces: []string{"internal", "public"},
		CAFile: "/var/lib/kuryr/ca.pem", CertFile: "/var/lib/kuryr/client.pem", KeyFile: "/var/lib/kuryr/client-key.pem",
		Timeout: 30 * time.Second,
	}
	c.PrometheusExporter = kuryrconf.PrometheusExporter{CNIExporterPort: 19655}
}

func TestLoadReportsEveryMistake(t *testing.T) {
	const port = "a port from 1 to 65535"
	const boolean = "true, false, yes, no, on, off, 1 or 0"
	want := []string{
		`1: an option before the first section: expected [DEFAULT] or another section above it`,
		`5: [health_server] port "eighty": expected ` + port,
		`6: bad section: expected "[name]" and nothing behind it`,
		`9: [cni_health_server] port "0": expected ` + port,
		`10: [cni_health_server] max_memory_usage "-2": expected a number of MiB, 1 or more, or -1 for no limit`,
		`12: [cni_daemon] cni_failures_count "3.5": expected a number of failures, 0 or more`,
		`14: an indented line that continues nothing: expected no space at its start, or an option right above it`,
		`16: [kubernetes] api_root: expected a URL such as https://host:port/path`,
		`17: [kubernetes] ssl_verify_server_crt "maybe": expected ` + boolean,
		`18: [kubernetes] controller_ha "": expected ` + boolean,
		`19: [kubernetes] controller_ha_elector_port "-1": expected ` + port,
		`21: no name before the "=" or ":": expected "name = value"`,
		`22: no "=" or ":": expected a section, "name = value", a comment or an indented continuation of the value above`,
		`25: [neutron] auth_url: expected a URL such as https://host:port/path`,
		`26: [neutron] endpoint_type "publicURL": expected one of public, internal, admin`,
		`27: [neutron] password refers to $two, which this file does not set: expected a value (a dollar sign is written $$)`,
		`28: [neutron] username refers to too many other options, or in a circle: expected a value (a dollar sign is written $$)`,
		`29: [neutron] insecure refers to $two, which this file does not set: expected a value (a dollar sign is written $$)`,
		`30: [neutron] timeout "-1": expected a number of seconds, 0 or more`,
		`31: bad section: expected "[name]" and nothing behind it`,
		`34: [prometheus_exporter] cni_exporter_port "99999999999999999999": expected ` + port,
		`36: [cni_health_server] cg_path "kuryr.slice": expected an absolute path`,
	}
	const path = "testdata/mistakes.conf"
	config, errs := load(t, path)
	if config != nil {
		t.Errorf("Parse() = %+v, want nil beside errors", config)
	}
	var got []string
	for _, err := range errs {
		text, ok := strings.CutPrefix(err.Error(), path+":")
		if !ok {
			t.Errorf("error %q, want it to begin with the file", err)
		}
		got = append(got, text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mistakes (-want +got):\n%s", diff)
	}
	if text := errors.Join(errs...).Error(); strings.Contains(text, "hunter") {
		t.Errorf("errors show a password:\n%s", text)
	}
}

func TestParseOfBytesThatAreNotUTF8(t *testing.T) {
	config, errs := kuryrconf.Parse("binary.conf", "[neutron]\npassword = \xff\xfe\n")
	if config != nil || len(errs) != 1 || !strings.Contains(errs[0].Error(), "binary.conf:2: bytes that are not UTF-8") {
		t.Errorf("Parse() = %v, %v, want one error about UTF-8", config, errs)
	}
}

func TestSecretIsNeverShown(t *testing.T) {
	config, errs := load(t, "testdata/complete.conf")
	if len(errs) != 0 {
		t.Fatal(errs)
	}
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	logger.Info("Loaded", "password", config.Neutron.Password, "all", config.Neutron)
	asJSON, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	asYAML, err := yaml.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"%v": fmt.Sprintf("%v", config), "%+v": fmt.Sprintf("%+v", config.Neutron), "%#v": fmt.Sprintf("%#v", config.Neutron),
		"%q": fmt.Sprintf("%q", config.Neutron.Password), "%x": fmt.Sprintf("%x", config.Neutron.Password),
		"Sprint": fmt.Sprint(config.Neutron.Password), "JSON": string(asJSON), "YAML": string(asYAML), "log": log.String(),
	} {
		if strings.Contains(text, "rd;=") || strings.Contains(text, "7264") {
			t.Errorf("%s shows the password: %s", name, text)
		}
	}
	if got := fmt.Sprint(config.Neutron.Password); got != "<secret>" {
		t.Errorf("Sprint = %q, want <secret>", got)
	}
	if !strings.HasPrefix(string(config.Neutron.Password), "p%(a)s$w") {
		t.Error("string(Password) is not the password, want it")
	}
}
