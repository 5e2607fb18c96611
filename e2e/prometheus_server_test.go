//go:build e2e

package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// prometheusUsers is a web configuration with the user vitals, whose password is the text
// "test-password". Prometheus reads the file with every request.
const prometheusUsers = `basic_auth_users: {vitals: $2a$04$vnEuEN6xq2MNWGmAU3NdcO/nlBFcdap8JYVIk.N2HmxSQ96UQ6GqO}`

const prometheusWell = " up"

// heavyQuery takes a second of a processor and few samples: it computes the median of 3,600
// samples 3,600 times.
const heavyQuery = `quantile_over_time(0.5, quantile_over_time(0.5, vector(1)[1h:1s])[1h:1s])`

// queriedPrometheus is a Prometheus that scrapes itself, and a Vitals that queries it.
type queriedPrometheus struct {
	*tcpServer
	a           tcpAsking
	listen, dir string
}

// queryPrometheus starts both. The server runs one query at a time, and reads at most 50,000
// samples for it.
func queryPrometheus(t *testing.T) queriedPrometheus {
	t.Helper()
	p := queriedPrometheus{listen: address(t), dir: shortDirectory(t, "")}
	p.write(t, "password", "test-password")
	p.write(t, "web.yml", prometheusUsers)
	p.write(t, "prometheus.yml", "global: {scrape_interval: 1s, scrape_timeout: 1s}\nscrape_configs: [{job_name: prometheus, static_configs: [{targets: ['"+p.listen+
		"']}], basic_auth: {username: vitals, password: test-password}}]")
	p.tcpServer = tcpServe(t, filepath.Join(env(t).prometheus, "prometheus"), "--config.file="+p.dir+"/prometheus.yml", "--web.config.file="+p.dir+"/web.yml",
		"--storage.tsdb.path="+p.dir+"/data", "--web.listen-address="+p.listen, "--query.max-concurrency=1", "--query.max-samples=50000")
	p.serves(t)
	block := "url: 'http://" + p.listen + "'"
	login := ", basic_auth: {username: vitals, password_file: " + p.dir + "/password}"
	p.a = watch(t, map[string]string{
		"prometheus": "prometheus: {" + block + login + ", queries: {up: count(up == 1), version: {expr: prometheus_build_info, labels: [version]}}}",
		"limits":     "prometheus: {" + block + login + ", queries: {samples: 'count_over_time(vector(1)[1d:1s])', missing: no_function_of_any_server}}",
		"none":       "prometheus: {" + block + "}",
	},
		`{alert: MonitoringDown, expr: 'vitals_dependency_up{dependency="prometheus"} == 0', labels: {state: ready}}`,
		`{alert: TargetsMissing, expr: 'vitals_query_value{dependency="prometheus", query="up"} < 1', labels: {state: ready}, annotations: {depends_on: MonitoringDown}}`)
	p.a.staysAlive(t)
	return p
}

func (p queriedPrometheus) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// query runs a query.
func (p queriedPrometheus) query(ctx context.Context, expr string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.listen+"/api/v1/query?query="+url.QueryEscape(expr), nil)
	if err != nil {
		return err
	}
	req.SetBasicAuth("vitals", "test-password")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("query %s = %d, want 200", expr, res.StatusCode)
	}
	return nil
}

// serves waits until the server answers a query.
func (p queriedPrometheus) serves(t *testing.T) {
	t.Helper()
	await(t, "Prometheus serves", startsWithin, func() error { return p.query(t.Context(), "1") })
}

// recovers waits until the server is up again, and ready.
func (p queriedPrometheus) recovers(t *testing.T) {
	t.Helper()
	p.serves(t)
	p.a.recovers(t, "prometheus", prometheusWell, time.Now())
}

// overload has queries wait for each other until the function that it returns is called.
func (p queriedPrometheus) overload(t *testing.T) (end func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var users sync.WaitGroup
	for range 3 {
		users.Go(func() {
			for ctx.Err() == nil {
				_ = p.query(ctx, heavyQuery)
			}
		})
	}
	end = func() { cancel(); users.Wait() }
	t.Cleanup(end)
	return end
}

// Each fault of a Prometheus has its reason, ready follows, and alive stays.
func TestPrometheusServer(t *testing.T) {
	t.Parallel()
	p := queryPrometheus(t)
	t.Run("healthy", func(t *testing.T) {
		await(t, "ready", tcpWithin, func() error { return p.a.want("/ready", http.StatusOK) }) // its first scrape is a second after its start
		p.a.hasQuery(t, "prometheus", "up", "")
		p.a.hasQuery(t, "prometheus", "version", "")
		await(t, "the values of queries", tcpWithin, func() error {
			lines, err := p.a.queryValues()
			values := strings.Join(lines, "\n")
			if err == nil && (!strings.Contains(values, `vitals_query_value{dependency="prometheus",query="up"} 1`) ||
				!strings.Contains(values, `vitals_query_value{dependency="prometheus",query="version",version="2.`)) {
				err = fmt.Errorf("the values are\n%s\nwant one of up and one with the version", values)
			}
			return err
		})
	})
	t.Run("limits", func(t *testing.T) {
		p.a.sees(t, "limits", "", "query samples: the server reports execution: query processing would load too many samples")
		p.a.hasQuery(t, "limits", "samples", "client_error")
		p.a.hasQuery(t, "limits", "missing", "") // no series
	})
	t.Run("wrong credentials", func(t *testing.T) {
		p.a.sees(t, "none", "auth", "401")
		p.write(t, "password", "test-password-old")
		p.a.breaks(t, "prometheus", "auth", "401")
		p.write(t, "password", "test-password")
		p.recovers(t)
	})
	t.Run("frozen", func(t *testing.T) {
		p.signal(t, syscall.SIGSTOP)
		p.a.breaks(t, "prometheus", "timeout", "timeout")
		p.signal(t, syscall.SIGCONT)
		p.recovers(t)
	})
	t.Run("overloaded", func(t *testing.T) {
		end := p.overload(t)
		p.a.breaks(t, "prometheus", "timeout", "timeout")
		end()
		p.recovers(t)
	})
	t.Run("stopped", func(t *testing.T) {
		p.kill()
		p.a.breaks(t, "prometheus", "refused", "connection refused")
		p.start(t)
		p.recovers(t)
	})
}
