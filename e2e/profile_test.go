//go:build e2e

package e2e_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

// kuryrConf is what a deployed controller has; the placeholders are the port, the
// Kubernetes API, the directory of its files, and Keystone's address and password.
const kuryrConf = `[DEFAULT]
debug = false

[health_server]
port = %s

[kubernetes]
api_root = %s
token_file = %[3]s/viewer.token
ssl_ca_crt_file = %[3]s/ca.crt
ssl_verify_server_crt = True
enabled_handlers = vif,endpoints,service,kuryrloadbalancer,kuryrport,namespace,policy

[neutron]
auth_type = password
auth_url = %[4]s
username = healthcheck
password = %[5]s
project_name = health
user_domain_name = Default
project_domain_name = Default
region_name = RegionOne
`

// TestProfileReadsKuryrConf runs the controller's profile, as it is shipped, with
// nothing but the kuryr.conf of a controller.
func TestProfileReadsKuryrConf(t *testing.T) {
	e := env(t)
	where := address(t)
	_, port, err := net.SplitHostPort(where)
	if err != nil {
		t.Fatal(err)
	}
	conf := filepath.Join(t.TempDir(), "kuryr.conf")
	keystone, password := openstackLogin(t, e.state)
	text := fmt.Sprintf(kuryrConf, port, kubernetesServer(t, e.state), filepath.Join(e.state, "kubernetes"), keystone, password)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := launch(t, where, e.vitals, "run", "--profile=kuryr-controller", "--kuryr.conf="+conf,
		"--web.unix-socket=", "--web.shutdown-delay=0s")
	await(t, "the profile is ready", time.Minute, func() error { return answers(p, "/ready", 200, "ok") })
	if err := answers(p, "/alive", 200, "ok"); err != nil {
		t.Error(err)
	}
	heal := broken(t, "openstack", "neutron-stopped")
	await(t, "the profile shows that Neutron is down", time.Minute, func() error { return answers(p, "/ready", 500, "NeutronDown failing") })
	if err := answers(p, "/alive", 200, "ok"); err != nil {
		t.Error(err)
	}
	heal()
	await(t, "the profile is ready again", time.Minute, func() error { return answers(p, "/ready", 200, "ok") })
}

// answers compares the status, and the beginning of the body.
func answers(p *program, path string, status int, start string) error {
	code, body, err := p.get(path)
	if err != nil {
		return err
	}
	if code != status || len(body) < len(start) || body[:len(start)] != start {
		return fmt.Errorf("%s = %d %q, want %d %q...", path, code, body, status, start)
	}
	return nil
}

// kubernetesServer is the address of the API, from the kubeconfig.
func kubernetesServer(t *testing.T, state string) string {
	t.Helper()
	var config struct {
		Clusters []struct{ Cluster struct{ Server string } }
	}
	readYAML(t, filepath.Join(state, "kubernetes", "kubeconfig"), &config)
	return config.Clusters[0].Cluster.Server
}

// openstackLogin is Keystone's address and the health user's password.
func openstackLogin(t *testing.T, state string) (url, password string) {
	t.Helper()
	var config struct {
		Clouds map[string]struct {
			Auth struct {
				URL      string `yaml:"auth_url"`
				Password string
			}
		}
	}
	readYAML(t, filepath.Join(state, "openstack", "clouds.yaml"), &config)
	cloud := config.Clouds["health"]
	return cloud.Auth.URL, cloud.Auth.Password
}

func readYAML(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}
