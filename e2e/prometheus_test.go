//go:build e2e

package e2e_test

import (
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
)

// alertStates maps a rule's status to the state that Prometheus gives the same alert. A
// rule without data has no alert there.
var alertStates = map[string]string{"ok": "inactive", "unknown": "inactive", "pending": "pending", "failing": "firing"}

// startPrometheus runs Prometheus on the shipped rules; it scrapes the daemon.
func startPrometheus(t *testing.T, d daemon, rules ruleFile) *program {
	t.Helper()
	template, err := os.ReadFile("testdata/prometheus.yml")
	if err != nil {
		t.Fatal(err)
	}
	dir, listen := t.TempDir(), address(t)
	config := filepath.Join(dir, "prometheus.yml")
	text := fmt.Sprintf(string(template), rules.path, strings.TrimPrefix(d.url, "http://"))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := launch(t, listen, filepath.Join(env(t).prometheus, "prometheus"),
		"--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+listen)
	await(t, "prometheus listens", time.Minute, func() error {
		status, _, err := p.get("/-/ready")
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("GET /-/ready = %d, want 200", status)
		}
		return err
	})
	return p
}

// promAlert is an alerting rule as Prometheus' API shows it. An empty LastError means
// that the last evaluation succeeded.
type promAlert struct {
	Name, State, LastError string
	Labels                 map[string]string
}

// promAlerts queries all alerting rules of Prometheus.
func promAlerts(p *program) ([]promAlert, error) {
	status, body, err := p.get("/api/v1/rules?type=alert")
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK {
		return nil, fmt.Errorf("GET /api/v1/rules = %d, want 200", status)
	}
	var answer struct {
		Data struct {
			Groups []struct{ Rules []promAlert }
		}
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		return nil, err
	}
	var all []promAlert
	for _, group := range answer.Data.Groups {
		all = append(all, group.Rules...)
	}
	return all, nil
}

// agree returns an error for each rule on which Vitals and Prometheus differ.
func agree(d daemon, p *program, rules int) error {
	m, err := d.metrics()
	if err != nil {
		return err
	}
	theirs, err := promAlerts(p)
	if err != nil {
		return err
	}
	var problems []error
	if len(theirs) != rules {
		problems = append(problems, fmt.Errorf("prometheus has %d alerting rules, want %d", len(theirs), rules))
	}
	for _, a := range theirs {
		ours := m.statusOf(a.Name, a.Labels["state"])
		if want := alertStates[ours]; a.State != want || a.LastError != "" {
			problems = append(problems, fmt.Errorf("rule %s (%s): %q in Vitals, %q in Prometheus %s", a.Name, a.Labels["state"], ours, a.State, a.LastError))
		}
	}
	return errors.Join(problems...)
}

// TestPrometheusAgrees compares every rule's status with the alert of the same file in a
// Prometheus that scrapes the daemon: healthy, with Keystone stopped, and after that.
func TestPrometheusAgrees(t *testing.T) {
	vitals, rules := startVitals(t), shippedRules(t)
	keystone := rules.readiness(t, "KeystoneDown")
	vitals.awaitHealthy(t)
	vitals.staysAlive(t)
	prometheus := startPrometheus(t, vitals, rules)
	// agreesOn waits until both agree on all rules, with this status of the one.
	agreesOn := func(what, status string) {
		t.Helper()
		within := collectionTime + time.Duration(keystone.For) + time.Duration(keystone.KeepFiringFor) + 3*slack
		await(t, what, within, func() error {
			m, err := vitals.metrics()
			if err != nil {
				return err
			}
			if got := m.statusOf("KeystoneDown", "ready"); got != status {
				return fmt.Errorf("rule KeystoneDown is %q, want %s", got, status)
			}
			return agree(vitals, prometheus, len(rules.alerts))
		})
	}
	agreesOn("agrees while healthy", "ok")
	heal := broken(t, "openstack", "keystone-stopped")
	agreesOn("agrees while Keystone is stopped", "failing")
	heal()
	agreesOn("agrees after the cure", "ok")
}

// promtool runs the tool, which must succeed.
func promtool(t *testing.T, input string, args ...string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(env(t).prometheus, "promtool"), args...)
	cmd.Stdin = strings.NewReader(input)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func TestPromtoolIsContent(t *testing.T) {
	vitals := startVitals(t)
	vitals.awaitHealthy(t)
	t.Run("rules", func(t *testing.T) {
		promtool(t, "", "check", "rules", "--lint=all", "--lint-fatal", shippedRules(t).path)
	})
	t.Run("metrics", func(t *testing.T) {
		status, body, err := vitals.get("/metrics")
		if err != nil || status != http.StatusOK {
			t.Fatalf("GET /metrics = %d, %v, want 200", status, err)
		}
		promtool(t, body, "check", "metrics")
	})
}
