package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/demo"
	"github.com/vitals-health/vitals/internal/fakes"
)

// demoCommand declares the command demo.
func (p *program) demoCommand(app *kingpin.Application, do func(func() int) kingpin.Action) {
	cmd := app.Command("demo", "Run the controller profile against fakes of the Kubernetes API, Keystone and Neutron inside the program, with buttons that break and repair them.")
	p.webFlags(cmd, "127.0.0.1:8080")
	cmd.Action(do(p.runDemo))
}

// runDemo is the command demo: the controller profile against fakes.
func (p *program) runDemo() int {
	defer p.queueLog()()
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
	p.adjust = func(c *config.Config) { demo.PointAt(c, cloud, kubeconfig) }
	l, errs := p.load()
	if len(errs) > 0 {
		return p.fail(errs...)
	}
	d, err := p.newDaemon(l, logger)
	if err != nil {
		return p.fail(err)
	}
	w := demo.NewWorkload(d.report, demo.ReportInterval)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Run(ctx)
	}()
	defer func() {
		cancel()
		<-done
	}()
	p.welcome = demoWelcome
	return d.serve(p, demo.Routes(cloud, w))
}

const demoWelcome = `
  The demo runs: the Kuryr controller's profile against fakes of the
  Kubernetes API, Keystone and Neutron inside this process.

    status page   %[1]s/            buttons break and repair each fake
    probes        %[1]s/ready       %[1]s/alive?verbose
    metrics       %[1]s/metrics

  Break something from the shell:
    curl -d '{"dependency":"keystone","fault":"hang"}' %[1]s/demo/faults
    curl '%[1]s/ready?verbose'

  Stop with Ctrl-C: ready fails, and the process ends 5 s later, or at once on
  a second Ctrl-C.

`

// temporary writes a file into a new directory. remove removes both.
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
