//go:build e2e

package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// dashboardsWithin is how long the first scrapes and the "for" of the rules may take until
// every query that can have a result has one.
const dashboardsWithin = 90 * time.Second

// dashboardQuery is one query of a panel or an annotation.
type dashboardQuery struct {
	// file is the dashboard's, and what the title with the query's letter.
	file, what, expr string
	// instant queries one moment, as stats and tables do.
	instant bool
}

// unanswered returns the queries without a result in this test, with the reason.
func unanswered() map[string]string {
	return map[string]string{
		"Restarts":                             "nothing restarts",
		"Why watches are closed, A":            "no watch fails",
		"Waiting for memory, A":                "cgroup v1 has no pressure metrics",
		"Memory against the limit, C":          "the kernel may have no limit for it",
		"Certificates expire in, A":            "no http or tcp collector measures certificates",
		"Certificates expire in, B":            "the client has a token instead of a certificate",
		"Memory of cgroups, C":                 "the kernel may have no limit for it",
		"Time without memory, A":               "cgroup v1 has no pressure metrics",
		"Exit codes, B":                        "no signal ends a script",
		"Not well now, A":                      "nothing on the host fails",
		"Age of files, B":                      "no file has a time in it",
		"Age of files, C":                      "no file has an age limit",
		"Agents missing, A":                    "agents are queried only if the configuration names them",
		"API extensions, A":                    "extensions are queried only if the configuration names them",
		"Agents without a recent heartbeat, A": "agents are queried only if the configuration names them",
		"ComponentNotReady: compared value, A": "no component reports to the controller's",
		"ComponentMissing: compared value, A":  "no component reports to the controller's",
		"ComponentDead: compared value, A":     "no component reports to the controller's",
	}
}

// notHere are the beginnings of metrics that no collector of this test exports, with the
// reason. TestQueriesAnswer of the package dashboards has samples of them.
func notHere() map[string]string {
	return map[string]string{
		"vitals_supervisor_":            "no supervisord runs",
		"vitals_systemd_":               "no systemd runs",
		"vitals_mysql_":                 "no MySQL server runs",
		"vitals_postgres_":              "no PostgreSQL server runs",
		"vitals_redis_":                 "no Redis runs",
		"vitals_memcached_":             "no memcached runs",
		"vitals_query_":                 "no database runs",
		"vitals_prometheus_":            "no Prometheus server is queried",
		"vitals_tcp_":                   "the checks use HTTP",
		"vitals_dns_":                   "no DNS server is queried",
		"vitals_ntp_":                   "no NTP server is queried",
		"vitals_icmp_":                  "no echo requests are sent",
		"vitals_certificate_":           "no files of certificates are read",
		"vitals_grpc_":                  "no gRPC server is called",
		"vitals_neutron_subnet_":        "no subnets are configured",
		"vitals_openstack_":             "Keystone and Neutron are the only services",
		"vitals_discovery_":             "no targets are discovered",
		"vitals_netlink_write_":         "links are not created unless configured",
		"vitals_textfile_":              "no files with metrics are read",
		"vitals_file_active_lines":      "no file is a crontab",
		"vitals_file_uncommented_lines": "no file is a crontab",
		"vitals_script_object_ok":       "the script's convention has no objects",
		"vitals_process_connections":    "no connections are configured",
		"vitals_process_listening":      "no ports are configured",
		"vitals_process_unix_socket":    "no sockets are configured",
		"vitals_http_expectation_met":   "no expectations are configured",
		"vitals_rule_silenced":          "no rule is silenced",
		"vitals_state_maintenance":      "no state is under maintenance",
		"vitals_storage_writable":       "events are kept in memory only",
		"vitals_notifications":          "Vitals sends no alerts",
		"vitals_kubernetes_report":      "Vitals does not report to Kubernetes",
	}
}

// cannotAnswer reports whether a query can have no result in this test.
func cannotAnswer(q dashboardQuery) bool {
	if unanswered()[q.what] != "" {
		return true
	}
	for name := range notHere() {
		if strings.Contains(q.expr, name) {
			return true
		}
	}
	return false
}

// whileBroken are the titles of panels that are empty while all is healthy.
func whileBroken() []string {
	return []string{
		"Firing alerts", "Rules that are not ok now", "Rules over time", "The same alert in Prometheus",
		"Reasons", "Collectors that fail now", "Failures by reason now", "Alerts that fire now",
	}
}

// TestDashboardsAnswer sends all queries of the dashboards to a Prometheus that scrapes the
// controller's Vitals and that of a CNI daemon. "vitals generate dashboards" writes the
// dashboards, with one of the controller's own rules. Panels that show faults are queried
// while Keystone is stopped, all others while all is healthy.
func TestDashboardsAnswer(t *testing.T) {
	controller, shipped := startVitals(t), shippedRules(t)
	controller.awaitHealthy(t)
	node := startReportingCNI(t)
	prometheus := scrapeBoth(t, shipped.path, controller, node.daemon)
	var always, broke []dashboardQuery
	for _, q := range generatedQueries(t, shipped.path) {
		title, _, _ := strings.Cut(q.what, ", ")
		switch {
		case cannotAnswer(q):
		case slices.Contains(whileBroken(), title):
			broke = append(broke, q)
		default:
			always = append(always, q)
		}
	}
	awaitAnswers(t, prometheus, always)
	heal := broken(t, "openstack", "keystone-stopped")
	defer heal()
	awaitAnswers(t, prometheus, broke)
}

// awaitAnswers waits until each of the queries has found something.
func awaitAnswers(t *testing.T, p *program, left []dashboardQuery) {
	t.Helper()
	all := len(left)
	took := await(t, "every query answers", dashboardsWithin, func() error {
		var silent []dashboardQuery
		var problems []error
		for _, q := range left {
			n, err := seriesOf(p, q)
			if err != nil {
				t.Fatalf("%s, %s: %v\n%s", q.file, q.what, err, q.expr)
			}
			if n == 0 {
				silent = append(silent, q)
				problems = append(problems, fmt.Errorf("%s, %s has no result: %s", q.file, q.what, q.expr))
			}
		}
		left = silent
		return errors.Join(problems...)
	})
	t.Logf("%d queries answered within %s", all, took.Round(time.Second))
}

// startReportingCNI runs the profile of the CNI daemon with everything that it can
// measure on this host, and a server that reports requests, both ways.
func startReportingCNI(t *testing.T) *cniManager {
	t.Helper()
	exporter := address(t)
	_, port, err := net.SplitHostPort(exporter)
	if err != nil {
		t.Fatal(err)
	}
	m := startCNI(t, cniOptions{collectors: `
cni-metrics: {scrape: {url: "http://` + exporter + `/metrics"}}
components: {components: {expect: [server], deadline: 3s}}
netlink: {netlink: {interfaces: [lo]}}
memory: {cgroup: {limit: 64GiB}}
root: {disk: {paths: [/]}}
itself: {process: {name: vitals}}
check: {script: {command: [/bin/echo, "OK | load=1;2;3"], convention: nagios}}
exporter: {http: {url: "http://` + exporter + `/metrics"}}
`})
	server := newPart(t, "server", nil, append(m.environment("server", "http"), "CNI_EXPORTER_PORT="+port)...)
	await(t, "healthy", cniWithin, m.healthy)
	server.send(t, "add", "success")
	server.send(t, "add", "failure", "netlink")
	return m
}

// scrapeBoth runs a Prometheus that scrapes two daemons every second.
func scrapeBoth(t *testing.T, rules string, daemons ...daemon) *program {
	t.Helper()
	var targets []string
	for _, d := range daemons {
		targets = append(targets, strings.TrimPrefix(d.url, "http://"))
	}
	config, err := json.Marshal(map[string]any{
		"global":     map[string]any{"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
		"rule_files": []string{rules},
		"scrape_configs": []any{map[string]any{
			"job_name": "vitals", "static_configs": []any{map[string]any{"targets": targets}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	dir, listen := t.TempDir(), address(t)
	file := filepath.Join(dir, "prometheus.yml") // JSON is YAML
	if err := os.WriteFile(file, config, 0o600); err != nil {
		t.Fatal(err)
	}
	p := launch(t, listen, filepath.Join(env(t).prometheus, "prometheus"),
		"--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+listen)
	await(t, "prometheus is ready", time.Minute, p.ready)
	return p
}

// generatedQueries are those of all dashboards that the program writes, with one of a rule
// file.
func generatedQueries(t *testing.T, rules string) []dashboardQuery {
	t.Helper()
	dir := t.TempDir()
	generate := exec.Command(env(t).vitals, "generate", "dashboards", "--rules="+rules, "--out="+dir)
	if out, err := generate.CombinedOutput(); err != nil {
		t.Fatalf("vitals generate dashboards: %v\n%s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) < 8 {
		t.Fatalf("Glob() = %v, %v, want eight dashboards", files, err)
	}
	var all []dashboardQuery
	for _, file := range files {
		var d struct {
			Panels      []dashboardPanel
			Annotations struct {
				List []struct{ Name, Expr string }
			}
		}
		if err := json.Unmarshal([]byte(read(t, file)), &d); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		name := filepath.Base(file)
		for _, p := range d.Panels {
			for _, p := range append(p.Panels, p) { // a collapsed heading has panels
				for _, q := range p.Targets {
					all = append(all, dashboardQuery{name, p.Title + ", " + q.RefID, chosen(q.Expr), q.Instant})
				}
			}
		}
		for _, a := range d.Annotations.List {
			all = append(all, dashboardQuery{name, a.Name, chosen(a.Expr), false})
		}
	}
	return all
}

// dashboardPanel is a panel, or a heading with panels.
type dashboardPanel struct {
	Title   string
	Panels  []dashboardPanel
	Targets []struct {
		RefID, Expr string
		Instant     bool
	}
}

// chosen replaces the variables of Grafana: one rule, all jobs and instances, the last
// minute.
func chosen(expr string) string {
	return strings.NewReplacer("$__rate_interval", "10s", "$__range", "60s", "$__interval", "5s",
		"$job", ".+", "$namespace", ".*", "$pod", ".*", "$instance", ".+",
		"$collector", ".+", "$dependency", ".+", "$state", ".*", "$rule", "KeystoneDown").Replace(expr)
}

// seriesOf queries Prometheus and returns the number of series in its answer.
func seriesOf(p *program, q dashboardQuery) (int, error) {
	now := time.Now()
	path := "/api/v1/query?query=" + url.QueryEscape(q.expr)
	if !q.instant {
		path = fmt.Sprintf("/api/v1/query_range?start=%d&end=%d&step=5&query=%s", now.Add(-time.Minute).Unix(), now.Unix(), url.QueryEscape(q.expr))
	}
	status, body, err := p.get(path)
	if err != nil {
		return 0, err
	}
	if status != http.StatusOK {
		return 0, fmt.Errorf("status %d: %s", status, body)
	}
	var answer struct {
		Data struct{ Result []any }
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		return 0, err
	}
	return len(answer.Data.Result), nil
}
