package kubernetes_test

import (
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/kubernetes"
)

func TestDiscoveryProblems(t *testing.T) {
	valid := kubernetes.Discovery{Role: "pods", Selector: "app=api,tier in (a,b),!canary"}
	if problems := valid.Problems(); len(problems) > 0 {
		t.Errorf("Problems() = %v, want none", problems)
	}
	for _, test := range []struct {
		change func(*kubernetes.Discovery)
		want   string
	}{
		{func(d *kubernetes.Discovery) { d.Role = "" }, `role: role "": expected endpointslices, endpoints or pods`},
		{func(d *kubernetes.Discovery) { d.Role = "service" }, `role: role "service": expected endpointslices, endpoints or pods`},
		{func(d *kubernetes.Discovery) { d.Namespace = "a/b" }, `namespace: namespace "a/b": expected a name of at most 63 lower-case letters, digits and '-'`},
		{func(d *kubernetes.Discovery) { d.Selector = "" }, `selector: selector is missing: expected labels, such as app=api`},
		{func(d *kubernetes.Discovery) { d.Selector = "app=" + strings.Repeat("x", 64) }, `selector: selector `},
		{func(d *kubernetes.Discovery) { d.Port = "0" }, `port: port "0": expected a name of at most 15 lower-case letters, digits and '-', or 1 to 65535`},
		{func(d *kubernetes.Discovery) { d.Port = "65536" }, `port: port "65536": expected`},
		{func(d *kubernetes.Discovery) { d.Port = "-1" }, `port: port "-1": expected`},
		{func(d *kubernetes.Discovery) { d.Port = "HTTP" }, `port: port "HTTP": expected`},
		{func(d *kubernetes.Discovery) { d.IPFamily = "ipv4" }, `ip_family: ip_family "ipv4": expected IPv4 or IPv6`},
		{func(d *kubernetes.Discovery) { d.Scheme = "ftp" }, `scheme: scheme "ftp": expected http or https`},
		{func(d *kubernetes.Discovery) { d.Path = "healthz" }, `path: path "healthz": expected one that begins with /`},
		{func(d *kubernetes.Discovery) { d.Path = "//evil.example/" }, `path: path "//evil.example/": expected one that begins with /`},
		{func(d *kubernetes.Discovery) { d.Context = "lab" }, `context: context "lab" has no kubeconfig: expected kubeconfig with it`},
	} {
		d := valid
		test.change(&d)
		problems := d.Problems()
		if len(problems) != 1 || !strings.HasPrefix(problems[0].Path+": "+problems[0].Text, test.want) {
			t.Errorf("Problems() = %v, want %s", problems, test.want)
		}
	}
}

func TestDiscoveryReadsItsKubeconfig(t *testing.T) {
	d := kubernetes.Discovery{Role: "pods", Selector: "app=api", Kubeconfig: file(t, "kubeconfig", "{")}
	if _, err := d.Source(collectors.Env{}, nil); err == nil || !strings.HasPrefix(err.Error(), "discovery in Kubernetes: load kubeconfig: ") {
		t.Errorf("Source() = %v, want the error of the kubeconfig", err)
	}
}
