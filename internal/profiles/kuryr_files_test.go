package profiles

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/collectors/kubernetes"
)

// The files that Kuryr's own tools write lead to the Kubernetes API as they lead Kuryr there.
func TestFilesOfKuryrsTools(t *testing.T) {
	const account = "/var/run/secrets/kubernetes.io/serviceaccount/"
	inCluster := func(server string) kubernetes.Config {
		return kubernetes.Config{Server: server, TokenFile: account + "token", InsecureSkipVerify: true}
	}
	for _, tt := range []struct {
		name, file, host string
		want             kubernetes.Config
	}{
		{"a pod of devstack", "devstack-pod", "10.0.0.129", inCluster("https://10.0.0.129:443")},
		{"a pod of devstack over IPv6", "devstack-pod", "fd00:10:96::1", inCluster("https://[fd00:10:96::1]:443")},
		{"a pod of devstack, read outside of the pod", "devstack-pod", "", kubernetes.Config{}},
		{"a unit of devstack", "devstack-host", "", kubernetes.Config{
			Server: "https://192.0.2.10:6443", CAFile: "/etc/kubernetes/pki/ca.crt",
			CertFile: "/etc/kubernetes/pki/kuryr.crt", KeyFile: "/etc/kubernetes/pki/kuryr.key",
		}},
		{"the definitions with their defaults", "definitions", "10.0.0.129", inCluster("https://127.0.0.1:6443")},
	} {
		for _, profile := range []string{"kuryr-controller", "kuryr-cni"} {
			t.Run(tt.name+", "+profile, func(t *testing.T) {
				t.Setenv("KUBERNETES_SERVICE_HOST", tt.host)
				t.Setenv("KUBERNETES_SERVICE_PORT_HTTPS", "443")
				data, err := os.ReadFile(filepath.Join("testdata", tt.file+".conf"))
				if err != nil {
					t.Fatal(err)
				}
				k := *collectorNamed(mustLoad(t, profile, string(data), nil), "kubernetes").Kubernetes
				k.Watch, k.Access, k.CRDs, k.WatchIdleTimeout = nil, nil, nil, 0
				if diff := cmp.Diff(tt.want, k); diff != "" {
					t.Errorf("kubernetes (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// Plain files compare the leader with the name of the host that uses them: they may be written on
// another one, on which each replica would be a standby for ever.
func TestPlainFilesHaveNoHostName(t *testing.T) {
	conf := filepath.Join(t.TempDir(), "kuryr.conf")
	writeFile(t, conf, minimalConf+"\n[kubernetes]\ncontroller_ha = True\n")
	pr, err := Find("kuryr-controller")
	if err != nil {
		t.Fatal(err)
	}
	files, _, err := pr.Files(Options{Name: pr.Name, KuryrConf: conf}, true, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if want := "                name: \"${file:/etc/hostname}\"\n"; !strings.Contains(files["vitals.yml"], want) {
		t.Errorf("vitals.yml = %s, want a line %q", files["vitals.yml"], want)
	}
}
