package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/capability"
	"github.com/vitals-health/vitals/collectors/components"
	"github.com/vitals-health/vitals/collectors/file"
	httpkind "github.com/vitals-health/vitals/collectors/http"
	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/collectors/kubernetes"
	"github.com/vitals-health/vitals/collectors/netlink"
	"github.com/vitals-health/vitals/collectors/openstack"
	"github.com/vitals-health/vitals/collectors/process"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/scrape"
	"github.com/vitals-health/vitals/collectors/script"
	"github.com/vitals-health/vitals/collectors/tcp"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/fakes"
	"github.com/vitals-health/vitals/rules"
)

// exhibit is one collector of each kind with something to measure.
type exhibit struct {
	sources []evaluator.Source
	// loaded is the configuration that they are made of.
	loaded *config.Loaded
}

// newExhibit makes the collectors, against the fakes, and starts none of them.
func newExhibit(t *testing.T) *exhibit {
	t.Helper()
	cloud, err := fakes.Start(fakes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cloud.Close() })
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		fmt.Fprintln(w, "app_requests 1")
	}))
	t.Cleanup(target.Close)
	secured := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secured.Close)
	dir := t.TempDir()
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(kubeconfig, cloud.Kubeconfig(), 0o600); err != nil {
		t.Fatal(err)
	}
	listed := []kinds.Kinds{
		{Kubernetes: &kubernetes.Config{
			Kubeconfig: kubeconfig, Watch: []string{"pods"}, WatchIdleTimeout: model.Duration(time.Minute),
			Access: []kubernetes.Access{{Verb: "list", Resource: "pods", Namespace: "default"}},
			CRDs:   []string{"kuryrports.openstack.org"},
		}},
		{Keystone: &openstack.KeystoneConfig{Endpoints: []string{"network"}, Auth: openstack.Auth{
			AuthURL: cloud.KeystoneURL(), Region: cloud.Region(), Username: cloud.Username(),
			Password: collectors.Secret(cloud.Password()), ProjectName: cloud.Project(), Reauthenticate: model.Duration(time.Hour),
			UserDomainName: cloud.Domain(), ProjectDomainName: cloud.Domain(),
		}}},
		{Neutron: &openstack.NeutronConfig{Keystone: "keystone", Extensions: []string{"trunk"}, Agents: []string{"DHCP agent"}}},
		{HTTP: &httpkind.Config{URL: target.URL, IPFamily: "any", Method: "GET", Status: []string{"200"}, BodySizeLimit: 1 << 20}},
		{Components: &components.Config{Expect: []string{"watcher"}, Events: map[string]components.Events{"cni_add": {Limit: new(3)}}}},
		{Scrape: &scrape.Config{
			URL: target.URL, BodySizeLimit: 1 << 20, SampleLimit: 10, LabelLimit: 10, LabelValueLengthLimit: 100,
		}},
		{TCP: &tcp.Config{
			Address: strings.TrimPrefix(secured.URL, "https://"), TLS: &remote.ClientTLS{InsecureSkipVerify: true},
			QueryResponse: []tcp.Step{{Send: "GET / HTTP/1.0\r\n\r\n"}, {Expect: "^HTTP"}},
		}},
		{Process: &process.Config{}},
		{Capability: &capability.Config{Capabilities: []string{"NET_ADMIN"}}},
		{Netlink: &netlink.Config{Interfaces: []string{"lo"}, Socket: "fresh", WriteTest: "off"}},
		{Cgroup: exhibitCgroup(t)},
		{Supervisor: exhibitSupervisor(t)},
		{Script: &script.Config{Command: []string{"/bin/true"}, Convention: "plain", Missing: "fail", OutputLimit: 1 << 10, ObjectLimit: 1}},
		{File: &file.Config{Path: kubeconfig, Format: "yaml", Keys: []string{"clusters"}, SizeLimit: 1 << 20}},
		{Systemd: exhibitSystemd(t)},
	}
	e := &exhibit{loaded: &config.Loaded{Rules: []*rules.File{exhibitRules(t)}}}
	for _, k := range listed {
		name, kind := k.Kind()
		c, err := kind.New(collectors.Env{Name: name, Logger: discard(), Peer: e.collector})
		if err != nil {
			t.Fatalf("New() of %s = %v, want no error", name, err)
		}
		e.loaded.Config.Collectors = append(e.loaded.Config.Collectors, kinds.Config{Name: name, Interval: model.Duration(100 * time.Millisecond), Kinds: k})
		e.sources = append(e.sources, evaluator.Source{
			Name: name, Kind: name, External: kind.External(), Interval: 100 * time.Millisecond, Timeout: 5 * time.Second, Collector: c,
		})
	}
	return e
}

func (e *exhibit) collector(name string) collectors.Collector {
	for _, s := range e.sources {
		if s.Name == name {
			return s.Collector
		}
	}
	return nil
}

func exhibitRules(t *testing.T) *rules.File {
	t.Helper()
	file, errs := rules.Parse("rules.yml", []byte(`{groups: [{name: g, rules: [
		{alert: Gone, expr: vitals_file_exists == 0, labels: {state: ready}},
		{alert: Tried, expr: vitals_file_exists == 0, labels: {state: ready}, annotations: {mode: observe, no_data: pass}}]}]}`), []string{evaluator.Ready})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return file
}

// run collects and evaluates until every collector has succeeded, and returns the
// snapshot.
func (e *exhibit) run(t *testing.T) *evaluator.Snapshot {
	t.Helper()
	eval, err := evaluator.New(evaluator.Config{Files: e.loaded.Rules, Sources: e.sources}, evaluator.Options{Logger: discard(), Overrides: []evaluator.Override{
		{Rule: "Gone", Until: time.Now().Add(time.Hour)}, {State: evaluator.Ready},
	}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		eval.Run(ctx)
	}()
	defer func() {
		cancel()
		<-done
	}()
	alive := true
	parts, _ := e.collector("components").(*components.Collector)
	if err := parts.Report("watcher", collectors.Report{Alive: &alive, Ready: &alive}); err != nil {
		t.Fatal(err)
	}
	for {
		changed := eval.Changed()
		s := eval.Snapshot()
		if allOf(s, "vitals_kubernetes_watch_connected", "vitals_component_ready") {
			return s
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("the collectors are %+v, want all to succeed", s.Collectors)
		}
	}
}

// allOf reports whether all collectors have succeeded and the metrics exist.
func allOf(s *evaluator.Snapshot, names ...string) bool {
	for _, c := range s.Collectors {
		if !c.Success {
			return false
		}
	}
	for _, batch := range s.Batches {
		for _, sample := range batch.Samples {
			names = slices.DeleteFunc(names, func(n string) bool { return n == sample.Labels.Get(model.MetricNameLabel) })
		}
	}
	return len(names) == 0
}
