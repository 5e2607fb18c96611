//go:build e2e

package e2e_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

const (
	// alertWait is how long Alertmanager waits for more alerts before it sends the first,
	// and between two notifications: longer than a cause may fire after its consequence.
	alertWait = 10 * time.Second
	// lag is the longest time between a status in Vitals and the state of the same alert in
	// Prometheus: one scrape, one evaluation when the condition begins, one more when "for"
	// is over, and the delays of a busy machine.
	lag = 8 * time.Second
)

// tool runs promtool or amtool, which must succeed.
func tool(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(prometheusTool(t, name), args...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// TestAlertFilesAreGood checks the files of dashboards/alerts/ with the tools of Prometheus
// and Alertmanager.
func TestAlertFilesAreGood(t *testing.T) {
	t.Parallel()
	t.Run("rules", func(t *testing.T) { tool(t, "promtool", "check", "rules", "--lint=all", "--lint-fatal", alertsFile) })
	t.Run("unit tests", func(t *testing.T) { tool(t, "promtool", "test", "rules", alertTestsFile) })
	t.Run("inhibitions", func(t *testing.T) { tool(t, "amtool", "check-config", inhibitionsFile) })
	t.Run("objects", func(t *testing.T) {
		data, err := os.ReadFile("../dashboards/alerts/prometheusrule.yaml")
		if err != nil {
			t.Fatal(err)
		}
		d, n := yaml.NewDecoder(bytes.NewReader(data)), 0
		for ; ; n++ {
			var object struct{ Spec yaml.Node }
			if d.Decode(&object) != nil {
				break
			}
			text, err := yaml.Marshal(&object.Spec)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "rules.yml")
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			tool(t, "promtool", "check", "rules", path)
		}
		if n < 2 {
			t.Errorf("prometheusrule.yaml has %d objects, want those of the rule files too", n)
		}
	})
}

// TestAlertmanagerInhibits sends alerts to a real Alertmanager and checks which of them
// the shipped inhibitions hold back.
func TestAlertmanagerInhibits(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		// fire are alerts of the instance a, named with state and severity. The second one
		// fires on the instance b as well, where nothing holds it back.
		fire []string
		// held are the alerts of a that are held back, with their causes.
		held map[string]string
	}{
		{"a dead Vitals holds everything back", []string{"VitalsDown//critical", "KeystoneDown/ready/critical", "VitalsFlapping/ready/warning"}, map[string]string{"KeystoneDown": "VitalsDown", "VitalsFlapping": "VitalsDown"}},
		{"not alive is not ready", []string{"VitalsNotAlive/alive/critical", "VitalsNotReady/ready/critical", "KeystoneDown/ready/critical"}, map[string]string{"VitalsNotReady": "VitalsNotAlive", "KeystoneDown": "VitalsNotAlive"}},
		{"a rule of alive", []string{"ComponentDead/alive/critical", "ComponentNotReady/ready/critical"}, map[string]string{"ComponentNotReady": "ComponentDead"}},
		{"a rule of alive that warns holds nothing back", []string{"MemoryGrowsToLimit/alive/warning", "KeystoneDown/ready/critical"}, nil},
		{"a cause holds its consequences back", []string{"KeystoneDown/ready/critical", "NeutronDown/ready/critical", "QuotaLow/ready/warning", "KubernetesDown/ready/critical"}, map[string]string{"NeutronDown": "KeystoneDown", "QuotaLow": "KeystoneDown NeutronDown"}},
		{"a consequence holds no cause back", []string{"NeutronDown/ready/critical", "KubernetesDown/ready/critical"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := startAlertmanager(t, newWebhook(t))
			var alerts []map[string]any
			for i, text := range tt.fire {
				f := strings.Split(text, "/")
				labels := map[string]string{"alertname": f[0], "job": "vitals", "instance": "a", "severity": f[2]}
				if f[1] != "" {
					labels["state"] = f[1]
				}
				alerts = append(alerts, map[string]any{"labels": labels})
				if i == 1 {
					other := map[string]string{"alertname": f[0], "job": "vitals", "instance": "b", "severity": f[2], "state": f[1]}
					alerts = append(alerts, map[string]any{"labels": other})
				}
			}
			post(t, p.url+"/api/v2/alerts", alerts)
			await(t, "alertmanager holds the alerts, and inhibits some", time.Minute, func() error {
				held, err := heldAlerts(p)
				if len(held) != len(alerts) {
					err = errors.Join(err, fmt.Errorf("it holds %d, want %d", len(held), len(alerts)))
				}
				for key, a := range held {
					name, instance, _ := strings.Cut(key, " ")
					if causes := strings.Fields(tt.held[name]); len(causes) > 0 && instance == "a" {
						err = errors.Join(err, inhibited(p, instance, name, causes...))
					} else if a.Status.State != "active" {
						err = errors.Join(err, fmt.Errorf("%s is %+v, want it not held back", key, a.Status))
					}
				}
				return err
			})
		})
	}
}

func post(t *testing.T, url string, body any) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.Post(url, "application/json", bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Fatalf("POST %s = %d, want 200", url, res.StatusCode)
	}
}

// TestFaultReachesWebhook stops a real Keystone. Prometheus has loaded the rule file that
// Vitals obeys and the alerts about Vitals, both as they are shipped: the fault becomes
// pending and firing in both at the same time, reaches the webhook through Alertmanager,
// which holds back what only follows from it, and is taken back when it is over.
func TestFaultReachesWebhook(t *testing.T) {
	vitals, rules := startVitals(t), shippedRules(t)
	hold := time.Duration(rules.readiness(t, "KeystoneDown").For)
	vitals.awaitHealthy(t)
	vitals.staysAlive(t)
	hook := newWebhook(t)
	alertmanager := startAlertmanager(t, hook)
	prometheus := startAlerting(t, vitals, rules, alertmanager)
	instance := strings.TrimPrefix(vitals.url, "http://")
	expect := func(what string, within time.Duration, alerts map[string]string) {
		t.Helper()
		await(t, what, within, func() error { return alertsAre(prometheus, alerts) })
	}
	await(t, "quiet while healthy", time.Minute, func() error { return quiet(prometheus, len(rules.alerts)) })
	probes := watchProbe(t, vitals)
	begin := time.Now().Add(lag)
	await(t, "some time passes while healthy", 3*lag, func() error { return until(begin.Add(lag)) })

	heal := broken(t, "openstack", "keystone-stopped")
	expect("pending", collectionTime+slack, map[string]string{"KeystoneDown": "pending"})
	expect("firing", hold+collectionTime+2*slack, map[string]string{"KeystoneDown": "firing", "NeutronDown": "firing", "VitalsNotReady": "pending"})
	await(t, "the webhook receives it", alertWait+2*slack, func() error { return hook.wants("KeystoneDown", "firing") })
	await(t, "the consequence is held back", 2*slack, func() error { return inhibited(alertmanager, instance, "NeutronDown", "KeystoneDown") })
	for _, quiet := range []string{"NeutronDown", "VitalsNotReady", "VitalsDown"} {
		if at, ok := hook.first(quiet, "firing"); ok {
			t.Errorf("the webhook received %s at %s, want no notification", quiet, at)
		}
	}
	await(t, "the probe fails for some time", 3*enoughSamples*time.Second, func() error { return probes.failing(enoughSamples) })
	heal()
	expect("over", collectionTime+3*slack, map[string]string{"KeystoneDown": "inactive", "NeutronDown": "inactive", "VitalsNotReady": "inactive"})
	await(t, "the webhook receives that it is over", 2*alertWait+2*slack, func() error { return hook.wants("KeystoneDown", "resolved") })
	compareOverTime(t, prometheus, rules, probes.all(), begin, time.Now().Add(-lag))
}

func until(at time.Time) error {
	if left := time.Until(at); left > 0 {
		return fmt.Errorf("%s to go", left)
	}
	return nil
}

// wants returns an error if the webhook has not received an alert in that status.
func (w *webhook) wants(alert, status string) error {
	if _, ok := w.first(alert, status); !ok {
		return fmt.Errorf("it has not received %s as %s", alert, status)
	}
	return nil
}

// quiet returns an error for each alert that is not inactive. There have to be more alerts
// than the rule file has.
func quiet(p *program, rules int) error {
	all, err := promAlerts(p)
	if err != nil {
		return err
	}
	var problems []error
	if len(all) <= rules {
		problems = append(problems, fmt.Errorf("prometheus has %d alerts, want those about Vitals in addition to the %d of the rule file", len(all), rules))
	}
	for _, a := range all {
		if a.State != "inactive" || a.LastError != "" {
			problems = append(problems, fmt.Errorf("%s is %q %s, want inactive", a.Name, a.State, a.LastError))
		}
	}
	return errors.Join(problems...)
}

// alertsAre returns an error for each alert that is not in the wanted state in Prometheus.
func alertsAre(p *program, want map[string]string) error {
	all, err := promAlerts(p)
	if err != nil {
		return err
	}
	found := map[string]string{}
	var problems []error
	for _, a := range all {
		found[a.Name] = a.State
		if a.LastError != "" {
			problems = append(problems, fmt.Errorf("%s: %s", a.Name, a.LastError))
		}
	}
	for name, state := range want {
		if found[name] != state {
			problems = append(problems, fmt.Errorf("%s is %q, want %s", name, found[name], state))
		}
	}
	return errors.Join(problems...)
}
