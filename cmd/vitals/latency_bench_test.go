package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/exporter-toolkit/web"

	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/listen"
)

// maxReportLatency is the budget from a component's report to the changed probe answer.
const maxReportLatency = 50 * time.Millisecond

// latencyConfig has rules for one component that reports in three ways. The interval is
// long, so that nothing but the report itself can change the answer.
const latencyConfig = `
evaluation_interval: 1h
rule_files: [rules.yml]
collectors:
  - name: components
    interval: 1h
    components:
      accept: any
      notify_directory: %[1]s
      expect: [watcher]
      shared_booleans: {shared: %[1]s/shared}
`

const latencyRules = `
groups:
  - name: components
    rules:
      - {alert: NotReady, expr: vitals_component_ready == 0, labels: {state: ready}, annotations: {no_data: pass}}
      - {alert: Dead, expr: vitals_component_alive == 0, labels: {state: alive}}
`

// reporting is a running evaluator and server with all ways to report to it.
type reporting struct {
	probe, socket, notify string
	shared                []byte
}

// startReporting wires the program as the command run does. More collectors and rules follow those
// for the component; series are what a file with metrics has.
func startReporting(b *testing.B, moreCollectors, moreRules, series string) *reporting {
	b.Helper()
	dir := b.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
		return path
	}
	r := &reporting{socket: filepath.Join(dir, "vitals.sock"), notify: filepath.Join(dir, "watcher.sock")}
	r.shared = mapByte(b, write("shared", "\x01"))
	write("rules.yml", latencyRules+moreRules)
	write("series.prom", series)
	l, errs := config.LoadFile(write("vitals.yml", fmt.Sprintf(latencyConfig+moreCollectors, dir)))
	if len(errs) > 0 {
		b.Fatal(errs)
	}
	systemd := false
	p := &program{socket: listen.Socket{Path: r.socket, Mode: "0660"}, web: &web.FlagConfig{WebListenAddresses: &[]string{"127.0.0.1:0"}, WebSystemdSocket: &systemd, WebConfigFile: new(string)}}
	logger := slog.New(slog.DiscardHandler)
	d, err := p.newDaemon(l, logger)
	if err != nil {
		b.Fatal(err)
	}
	open, err := listen.Open(d.newServer(p, nil), listen.Options{Web: p.web, Socket: p.socket, Logger: logger})
	if err != nil {
		b.Fatal(err)
	}
	open.Serve()
	r.probe = "http://" + open.WebAddress() + "/ready"
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.eval.Run(ctx)
	}()
	b.Cleanup(func() {
		cancel()
		<-done
		open.Close()
	})
	return r
}

// mapByte maps a file's first byte, as a process that shares a boolean does.
func mapByte(b *testing.B, path string) []byte {
	b.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	shared, err := syscall.Mmap(int(f.Fd()), 0, 1, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = syscall.Munmap(shared) })
	return shared
}

// BenchmarkReport is the time from a component's report to the changed answer of
// /ready, over real connections: median and 99th percentile. One operation is 100
// reports; every second one reports that the component is healthy again.
func BenchmarkReport(b *testing.B) {
	for _, way := range []struct {
		name   string
		report func(b *testing.B, r *reporting, well bool)
	}{{"http", reportByHTTP}, {"datagram", reportByDatagram}, {"shared-boolean", reportByBoolean}} {
		b.Run(way.name, func(b *testing.B) {
			r := startReporting(b, "", "", "")
			r.await(b, http.StatusOK)
			var took []float64
			for b.Loop() {
				// A pause that is no multiple of any interval makes the reports meet
				// the polls at any moment.
				pause := time.NewTicker(37 * time.Millisecond)
				for i := range 100 {
					<-pause.C
					took = append(took, milliseconds(r.change(b, i%2 == 1, way.report)))
				}
				pause.Stop()
			}
			slices.Sort(took)
			p50 := took[len(took)/2]
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(p50, "p50-ms")
			b.ReportMetric(took[len(took)*99/100], "p99-ms")
			if p50 > milliseconds(maxReportLatency) {
				b.Errorf("median = %.1f ms, want at most %s", p50, maxReportLatency)
			}
		})
	}
}

// change reports and returns how long it took until /ready changed.
func (r *reporting) change(b *testing.B, well bool, report func(*testing.B, *reporting, bool)) time.Duration {
	b.Helper()
	want := http.StatusServiceUnavailable
	if well {
		want = http.StatusOK
	}
	begin := time.Now()
	report(b, r, well)
	r.await(b, want)
	return time.Since(begin)
}

func reportByBoolean(_ *testing.B, r *reporting, well bool) {
	r.shared[0] = 0
	if well {
		r.shared[0] = 1
	}
}

func reportByHTTP(b *testing.B, r *reporting, well bool) {
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", r.socket)
		},
	}}
	body := bytes.NewReader(fmt.Appendf(nil, `{"ready":%t}`, well))
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPut, "http://localhost/api/v1/components/watcher", body)
	if err != nil {
		b.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode >= http.StatusMultipleChoices {
		b.Fatalf("PUT = %s, want success", resp.Status)
	}
}

func reportByDatagram(b *testing.B, r *reporting, well bool) {
	c, err := net.Dial("unixgram", r.notify)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	text := "STOPPING=1"
	if well {
		text = "READY=1"
	}
	if _, err := c.Write([]byte(text)); err != nil {
		b.Fatal(err)
	}
}

// await queries /ready every half millisecond until it answers with a status.
func (r *reporting) await(b *testing.B, status int) {
	b.Helper()
	client := &http.Client{Timeout: time.Second}
	defer client.CloseIdleConnections()
	poll := time.NewTicker(time.Millisecond / 2)
	defer poll.Stop()
	for begin := time.Now(); time.Since(begin) < startDeadline; <-poll.C {
		resp, err := client.Get(r.probe)
		if err != nil {
			b.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode == status {
			return
		}
	}
	b.Fatalf("/ready did not answer %d within %s", status, startDeadline)
}
