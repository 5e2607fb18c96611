//go:build !race

package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/collectors/process"
	"github.com/vitals-health/vitals/internal/config"
)

// TestCNIDayGrowsNothing runs the profile kuryr-cni for a day of simulated time, with
// its own rules and their patience, and with everything that happens on a node: rounds
// of the collectors, reports with events, probes and scrapes. What the process holds
// after a day is what it held after an hour, when the history of half an hour is full.
//
// The kinds kubernetes and scrape and the shared booleans are left out: what waits for
// a socket or for a timer of the kernel stops simulated time. BenchmarkSoak has them.
// So that the day takes seconds, what has no history is collected every 30 s, not every
// 10 s, and evaluations that nothing triggers are 10 s apart, not 1 s.
func TestCNIDayGrowsNothing(t *testing.T) {
	p := loadNode(t)
	synctest.Test(t, func(t *testing.T) {
		l, errs := p.load()
		if len(errs) > 0 {
			t.Fatalf("load() = %v, want no mistakes", errs)
		}
		d, err := p.newDaemon(l, discard())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			d.eval.Run(ctx)
		}()
		defer func() {
			cancel()
			<-done
		}()
		handler := d.newServer(p, nil).Handler()
		live := func(hours int) held {
			for i := range hours * 360 {
				d.useForTenSeconds(t, handler, i)
			}
			return takeStock(t)
		}
		const hours = 24
		first := live(1)
		last := live(hours - 1)
		if last.goroutines > first.goroutines || last.files > first.files || last.heap > first.heap+256<<10 {
			t.Errorf("after %d hours the process holds %+v, after one it held %+v: want no more but 256 KiB of the heap", hours, last, first)
		}
		t.Logf("after an hour %+v, after %d %+v", first, hours, last)
		for _, c := range d.eval.Snapshot().Collectors {
			if !c.Success || time.Since(c.LastSuccess) > time.Minute {
				t.Errorf("collector %s: %q, want it to work until the end", c.Name, c.Error)
			}
		}
	})
}

// loadNode is the command line for the profile on a node on which all is well, with
// the processes, the rights and the links of this machine.
func loadNode(t *testing.T) *program {
	t.Helper()
	n := newNode(t)
	conf := filepath.Join(t.TempDir(), "kuryr.conf")
	writeFile(t, conf, "[cni_health_server]\nmax_memory_usage = 512\n")
	p := &program{profile: "kuryr-cni", kuryrConf: conf, set: map[string]string{"components": "watcher,server", "process": "any"}}
	p.adjust = func(c *config.Config) {
		c.EvaluationInterval = model.Duration(10 * time.Second)
		for i := range c.Collectors {
			col := &c.Collectors[i]
			if col.Cgroup == nil && col.Components == nil {
				col.Interval = model.Duration(30 * time.Second)
			}
			switch col.Name {
			case "memory":
				col.Cgroup.Process = &process.Selector{PID: 4711, ProcFS: n.path("proc")}
			case "net-admin":
				col.Capability.Process = nil
			case "daemon":
				col.Process.Selector = process.Selector{}
			case "cni-config":
				col.File.Path = n.path("cni/net.d/10-kuryr.conflist")
			case "cni-plugin":
				col.File.Path = n.path("cni/bin/kuryr-cni")
			case "kuryr-conf":
				col.File.Path = n.path("kuryr/kuryr.conf")
			}
		}
		c.Collectors = slices.DeleteFunc(c.Collectors, func(col kinds.Config) bool {
			return col.Kubernetes != nil || col.Scrape != nil
		})
	}
	return p
}

// useForTenSeconds is what comes from outside in ten seconds: reports, probes, and
// every five minutes a scrape. Every tenth request of the container runtime fails.
func (d *daemon) useForTenSeconds(t *testing.T, handler http.Handler, i int) {
	t.Helper()
	event := collectors.Event{Event: "cni_add", Result: "success"}
	if i%10 == 0 {
		event.Result, event.Error = "failure", "netlink"
	}
	for _, name := range []string{"watcher", "server"} {
		if err := d.report(name, collectors.Report{Ready: new(true), Events: []collectors.Event{event}}); err != nil {
			t.Fatalf("report of %s = %v, want nil", name, err)
		}
	}
	paths := []string{"/ready", "/alive"}
	if i%30 == 0 {
		paths = append(paths, "/metrics")
	}
	for _, path := range paths {
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil))
	}
	time.Sleep(10 * time.Second)
}

// held is what the process holds.
type held struct {
	goroutines, files int
	// heap is what live objects take, in bytes.
	heap uint64
}

// takeStock counts while everything waits for time to pass.
func takeStock(t *testing.T) held {
	t.Helper()
	synctest.Wait()
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.GC() // what the first one only gave to finalizers, and pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return held{runtime.NumGoroutine(), len(names), m.HeapAlloc}
}
