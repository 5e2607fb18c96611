package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/fakes"
)

// Collecting often makes the demo answer while one watches; a real profile asks
// every 10 s.
const (
	demoInterval = model.Duration(2 * time.Second)
	demoTimeout  = model.Duration(time.Second)
	// demoIdle ends a watch without events or bookmarks, which the fake sends
	// every second. It is longer than the ten seconds after which a watch counts as
	// one that worked: else one that is opened anew and stays silent would count as
	// failed, and ready would come and go, which no shipped interval can bring about.
	demoIdle = model.Duration(12 * time.Second)
)

// runDemo is the command demo: the controller profile against fakes.
func (p *program) runDemo() int {
	logger := p.logger()
	cloud, err := fakes.Start(fakes.Options{BookmarkInterval: time.Second, Slow: 2 * time.Second})
	if err != nil {
		return p.fail(fmt.Errorf("start the fakes: %w", err))
	}
	defer cloud.Close()
	kubeconfig, remove, err := temporary("vitals-demo", "kubeconfig", cloud.Kubeconfig())
	if err != nil {
		return p.fail(err)
	}
	defer remove()

	p.profile = "kuryr-controller"
	p.adjust = func(c *Config) { pointAt(c, cloud, kubeconfig) }
	l, errs := p.load()
	if len(errs) > 0 {
		return p.fail(errs...)
	}
	d, err := p.newDaemon(l, logger)
	if err != nil {
		return p.fail(err)
	}
	w := newWorkload(d.report, workloadPace)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.run(ctx)
	}()
	defer func() {
		cancel()
		<-done
	}()
	p.welcome = demoWelcome
	return d.serve(p, demoRoutes(cloud, w))
}

// demoRoutes are the paths that only the demo has: the switches of its faults.
func demoRoutes(cloud *fakes.Cloud, w *workload) map[string]http.Handler {
	return map[string]http.Handler{"/demo/faults": fakes.Handler(cloud, w)}
}

const demoWelcome = `
  The demo runs: the Kuryr controller's profile against fakes of the
  Kubernetes API, Keystone and Neutron inside this process.

    status page   %[1]s/            buttons break and heal each fake
    probes        %[1]s/ready       %[1]s/alive?verbose
    metrics       %[1]s/metrics

  Break something from the shell:
    curl -d '{"dependency":"keystone","fault":"hang"}' %[1]s/demo/faults
    curl '%[1]s/ready?verbose'

  Stop with Ctrl-C: ready fails, and the process ends 5 s later, or at a second one.

`

// pointAt points the profile's collectors to the fakes.
func pointAt(c *Config, cloud *fakes.Cloud, kubeconfig string) {
	for i := range c.Collectors {
		col := &c.Collectors[i]
		col.Interval, col.Timeout = demoInterval, demoTimeout
		switch {
		case col.Kubernetes != nil:
			col.Kubernetes.Kubeconfig = kubeconfig
			col.Kubernetes.WatchIdleTimeout = demoIdle
		case col.Keystone != nil:
			auth := &col.Keystone.Auth
			auth.AuthURL, auth.Region = cloud.KeystoneURL(), cloud.Region()
			auth.Username, auth.Password = cloud.Username(), collectors.Secret(cloud.Password())
			auth.ProjectName = cloud.Project()
			auth.UserDomainName, auth.ProjectDomainName = cloud.Domain(), cloud.Domain()
		case col.Components != nil:
			col.Components.Expect = workloadComponents()
			col.Components.Deadline = workloadDeadline
		}
	}
}

// temporary writes a file into a directory of its own and returns how to remove both.
func temporary(dir, name string, data []byte) (path string, remove func(), err error) {
	full, err := os.MkdirTemp("", dir)
	if err != nil {
		return "", nil, err
	}
	path = filepath.Join(full, name)
	remove = func() { _ = os.RemoveAll(full) }
	if err := os.WriteFile(path, data, 0o600); err != nil {
		remove()
		return "", nil, err
	}
	return path, remove, nil
}
