//go:build e2e

package e2e_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// notified are the alerts of testdata/notified.yml.
var notified = []string{"FewShards", "NoSpare", "ShardDown", "Weak"}

// notifyingTarget serves metrics for which all alerts of testdata/notified.yml fire, until they
// are healed.
func notifyingTarget(t *testing.T) (url string, heal func()) {
	t.Helper()
	var healthy atomic.Bool
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		text := "app_up{shard=\"a\"} 0\napp_up{shard=\"b\"} 1\n"
		if healthy.Load() {
			text = "app_up{shard=\"a\"} 1\napp_up{shard=\"b\"} 1\napp_spare 1\n"
		}
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(s.Close)
	return s.URL, func() { healthy.Store(true) }
}

// notifyingVitals runs Vitals on testdata/notified.yml, which sends to Alertmanager.
func notifyingVitals(t *testing.T, target string, alertmanager *program) (d daemon, rules string) {
	t.Helper()
	rules, err := filepath.Abs("testdata/notified.yml")
	if err != nil {
		t.Fatal(err)
	}
	dir, listen := shortDirectory(t, ""), address(t)
	config := filepath.Join(dir, "vitals.yml")
	text := fmt.Sprintf("rule_files: [%q]\ncollectors:\n  - {name: app, interval: 1s, timeout: 1s, scrape: {url: %q}}\n", rules, target+"/metrics")
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d = daemon{launch(t, listen, os.Getenv("VITALS_BIN"), "run", "--config.file="+config, "--web.listen-address="+listen,
		"--web.unix-socket="+filepath.Join(dir, "vitals.sock"), "--web.shutdown-delay=0s", "--web.external-url=http://"+listen,
		"--alertmanager.url="+alertmanager.url, "--alertmanager.external-label=cluster=e2e",
		"--alertmanager.target-label=job=vitals", "--alertmanager.target-label=instance="+listen)}
	await(t, "vitals listens", time.Minute, func() error { return d.want("/alive", http.StatusOK) })
	return d, rules
}

// hasAlerts returns an error if Alertmanager does not hold exactly one alert of each name.
func hasAlerts(p *program, names ...string) error {
	held, err := allHeld(p)
	if err != nil {
		return err
	}
	var got []string
	for _, a := range held {
		got = append(got, a.Labels["alertname"])
	}
	slices.Sort(got)
	if !slices.Equal(got, names) {
		return fmt.Errorf("alertmanager holds %q, want %q: %+v", got, names, held)
	}
	return nil
}

// sentAlerts returns how many alerts a program has sent with success, by its metrics.
func sentAlerts(p *program) (string, error) {
	_, body, err := p.get("/metrics")
	if err != nil {
		return "", err
	}
	m := regexp.MustCompile(`(?m)^(?:vitals|prometheus)_notifications_sent_total\{.*\} (\S+)$`).FindStringSubmatch(body)
	if m == nil {
		return "", errors.New("no notifications_sent_total")
	}
	return m[1], nil
}

// TestAlertsDeduplicate has Vitals and a Prometheus that scrapes it send the alerts of one rule
// file to a real Alertmanager: each alert is there once, and is resolved.
func TestAlertsDeduplicate(t *testing.T) {
	t.Parallel()
	hook := newWebhook(t)
	alertmanager := startAlertmanager(t, hook)
	target, heal := notifyingTarget(t)
	vitals, rules := notifyingVitals(t, target, alertmanager)
	await(t, "alertmanager holds the alerts of Vitals", time.Minute, func() error { return hasAlerts(alertmanager, notified...) })
	before, err := heldAlerts(alertmanager)
	if err != nil {
		t.Fatal(err)
	}

	dir, listen := t.TempDir(), address(t)
	config := filepath.Join(dir, "prometheus.yml")
	text := fmt.Sprintf(`
global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s, external_labels: {cluster: e2e}}
rule_files: [%q]
alerting: {alertmanagers: [{static_configs: [{targets: [%q]}]}]}
scrape_configs: [{job_name: vitals, static_configs: [{targets: [%q]}]}]
`, rules, strings.TrimPrefix(alertmanager.url, "http://"), strings.TrimPrefix(vitals.url, "http://"))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	prometheus := launch(t, listen, prometheusTool(t, "prometheus"), "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+listen)
	for name, p := range map[string]*program{"vitals": vitals.program, "prometheus": prometheus} {
		// Prometheus drops what it sends before it has found Alertmanager, and sends it again a minute later.
		await(t, name+" has sent all alerts", 2*time.Minute, func() error {
			sent, err := sentAlerts(p)
			if err == nil && len(sent) == 1 && sent < fmt.Sprint(len(notified)) {
				err = fmt.Errorf("it has sent %s", sent)
			}
			return err
		})
	}
	await(t, "alertmanager holds each alert once", time.Minute, func() error {
		after, err := heldAlerts(alertmanager)
		for key, a := range before {
			if after[key].Fingerprint != a.Fingerprint {
				err = errors.Join(err, fmt.Errorf("%s has the fingerprint %s with the alerts of Prometheus, want that of Vitals: %s, labels %v", key, after[key].Fingerprint, a.Fingerprint, a.Labels))
			}
		}
		return errors.Join(err, hasAlerts(alertmanager, notified...))
	})
	await(t, "the webhook receives it", alertWait+2*slack, func() error { return hook.wants("ShardDown", "firing") })
	heal()
	await(t, "all alerts are resolved", time.Minute, func() error { return hasAlerts(alertmanager) })
	await(t, "the webhook receives that it is over", 2*alertWait+2*slack, func() error { return hook.wants("ShardDown", "resolved") })
}

// TestAlertsAfterRestartOfAlertmanager loses all alerts: Vitals sends those that fire again, and
// the end of the others.
func TestAlertsAfterRestartOfAlertmanager(t *testing.T) {
	t.Parallel()
	hook := newWebhook(t)
	alertmanager := startAlertmanager(t, hook)
	target, heal := notifyingTarget(t)
	vitals, _ := notifyingVitals(t, target, alertmanager)
	await(t, "alertmanager holds the alerts", time.Minute, func() error { return hasAlerts(alertmanager, notified...) })
	alertmanager.stop(t)
	alertmanager = launch(t, strings.TrimPrefix(alertmanager.url, "http://"), alertmanager.cmd.Args...)
	await(t, "alertmanager listens again", time.Minute, func() error { return alertmanager.ready() })
	await(t, "the alerts are sent again", 90*time.Second, func() error { return hasAlerts(alertmanager, notified...) })
	if err := vitals.want("/alive", http.StatusOK); err != nil {
		t.Error(err)
	}
	await(t, "the webhook receives it", alertWait+2*slack, func() error { return hook.wants("ShardDown", "firing") })
	alertmanager.stop(t)
	heal()
	await(t, "vitals notices", time.Minute, func() error { return vitals.want("/ready", http.StatusOK) })
	_, body, err := vitals.get("/metrics")
	if err != nil || !strings.Contains(body, `vitals_notifications_success{alertmanager="`+alertmanager.url+`"} `) {
		t.Errorf("GET /metrics = %v, want vitals_notifications_success of %s", err, alertmanager.url)
	}
	alertmanager = launch(t, strings.TrimPrefix(alertmanager.url, "http://"), alertmanager.cmd.Args...)
	await(t, "alertmanager listens at last", time.Minute, func() error { return alertmanager.ready() })
	await(t, "the webhook receives that it is over", 90*time.Second, func() error { return hook.wants("ShardDown", "resolved") })
	await(t, "no alert is left", time.Minute, func() error { return hasAlerts(alertmanager) })
	if log := read(t, vitals.log); !strings.Contains(log, "cannot send alerts to Alertmanager") || !strings.Contains(log, "alerts reach Alertmanager again") {
		t.Errorf("log = %s, want that the alerts could not be sent, and that they can", log)
	}
}
