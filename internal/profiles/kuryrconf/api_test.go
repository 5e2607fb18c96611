package kuryrconf_test

import (
	"strings"
	"testing"

	"github.com/vitals-health/vitals/internal/profiles/kuryrconf"
)

func TestAPI(t *testing.T) {
	pod := func(host string) map[string]string {
		return map[string]string{"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT_HTTPS": "6443", "KUBERNETES_SERVICE_PORT": "443"}
	}
	with := func(root string, environment map[string]string) map[string]string {
		environment["K8S_API"] = root
		return environment
	}
	for _, tt := range []struct {
		name, conf  string
		environment map[string]string
		want        string
	}{
		{"not set", "", nil, "https://localhost:6443"},
		{"not set, in a pod", "", pod("10.96.0.1"), "https://localhost:6443"},
		{"not set, and K8S_API", "", with("http://192.0.2.7:8080", pod("10.96.0.1")), "http://192.0.2.7:8080"},
		{"not set, and an empty K8S_API", "", with("", pod("10.96.0.1")), "https://10.96.0.1:6443"},
		{"set, and K8S_API", "api_root = https://192.0.2.8:6443", with("http://192.0.2.7:8080", pod("10.96.0.1")), "https://192.0.2.8:6443"},
		{"quotes around nothing", `api_root = ""`, pod("10.96.0.1"), "https://10.96.0.1:6443"},
		{"nothing", "api_root =", pod("10.96.0.1"), "https://10.96.0.1:6443"},
		{"empty, and K8S_API", `api_root = ""`, with("http://192.0.2.7:8080", pod("10.96.0.1")), "https://10.96.0.1:6443"},
		{"IPv6", `api_root = ""`, pod("fd00:10:96::1"), "https://[fd00:10:96::1]:6443"},
		{"a host name", `api_root = ""`, pod("kubernetes.default.svc"), "https://kubernetes.default.svc:6443"},
		{"empty outside of a pod", `api_root = ""`, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			conf, errs := kuryrconf.Parse("kuryr.conf", "[kubernetes]\n"+tt.conf+"\n")
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			got, err := conf.Kubernetes.API(lookup(tt.environment))
			if err != nil || got != tt.want {
				t.Errorf("API() = %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestAPIThatIsNoURL(t *testing.T) {
	got, err := kuryrconf.Default().Kubernetes.API(lookup(map[string]string{"K8S_API": "user:hunter2@192.0.2.7:8080"}))
	if err == nil || got != "" || !strings.Contains(err.Error(), "K8S_API: expected a URL") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("API() = %q, %v, want an error that names the variable and not its value", got, err)
	}
}

// lookup returns os.LookupEnv for an environment.
func lookup(environment map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := environment[name]
		return value, ok
	}
}
