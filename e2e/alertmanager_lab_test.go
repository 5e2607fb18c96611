//go:build e2e

package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

// The files of dashboards/alerts/, unmodified.
const (
	alertsFile       = "../dashboards/alerts/alerts.yml"
	alertTestsFile   = "../dashboards/alerts/alerts_test.yml"
	inhibitionsFile  = "../dashboards/alerts/alertmanager.yml"
	prometheusFolder = "VITALS_E2E_PROMETHEUS"
)

// prometheusTool is one of the programs that install.sh prometheus unpacks.
func prometheusTool(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv(prometheusFolder)
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			t.Fatal(err)
		}
		dir = filepath.Join(home, ".cache/vitals-e2e/prometheus/usr/bin")
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v: run e2e/install.sh prometheus first", err)
	}
	return path
}

// notification is what Alertmanager sends to a webhook.
type notification struct {
	at     time.Time
	Alerts []struct {
		Status string
		Labels map[string]string
	}
}

// webhook keeps what it is sent.
type webhook struct {
	*httptest.Server
	mu sync.Mutex // guards what follows
	// received are the notifications in their order.
	received []notification
	problems []error
}

func newWebhook(t *testing.T) *webhook {
	t.Helper()
	w := &webhook{}
	w.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		n := notification{at: time.Now()}
		err := json.NewDecoder(r.Body).Decode(&n)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.received = append(w.received, n)
		if err != nil {
			w.problems = append(w.problems, err)
		}
	}))
	t.Cleanup(func() {
		w.Close()
		if err := errors.Join(w.problems...); err != nil {
			t.Errorf("Alertmanager sent what is no notification: %v", err)
		}
	})
	return w
}

// first returns when the webhook first received an alert in that status, and false if it
// has not.
func (w *webhook) first(alert, status string) (time.Time, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range w.received {
		for _, a := range n.Alerts {
			if a.Labels["alertname"] == alert && a.Status == status {
				return n.at, true
			}
		}
	}
	return time.Time{}, false
}

// startAlertmanager runs Alertmanager with the shipped inhibitions and sends to the
// webhook. Of the shipped file only the receiver and the waits of the route are changed.
func startAlertmanager(t *testing.T, hook *webhook) *program {
	t.Helper()
	text, err := os.ReadFile(inhibitionsFile)
	if err != nil {
		t.Fatal(err)
	}
	var config map[string]any
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	route, _ := config["route"].(map[string]any)
	route["group_wait"], route["group_interval"] = alertWait.String(), alertWait.String()
	config["receivers"] = []any{map[string]any{
		"name": route["receiver"], "webhook_configs": []any{map[string]any{"url": hook.URL, "send_resolved": true}},
	}}
	if text, err = yaml.Marshal(config); err != nil {
		t.Fatal(err)
	}
	dir, listen := t.TempDir(), address(t)
	path := filepath.Join(dir, "alertmanager.yml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	tool(t, "amtool", "check-config", path)
	program := prometheusTool(t, "prometheus-alertmanager")
	p := launch(t, listen, append(beneath(filepath.Join(filepath.Dir(program), "../share/prometheus")), program, "--config.file="+path,
		"--storage.path="+filepath.Join(dir, "data"), "--web.listen-address="+listen, "--cluster.listen-address=")...)
	await(t, "alertmanager listens", time.Minute, func() error { return p.ready() })
	return p
}

// beneath runs a command that finds the directory below /usr/share, as if its package were
// installed: Debian's Alertmanager reads its templates there. It becomes the command.
func beneath(dir string) []string {
	namespaces := []string{"unshare", "--mount"}
	if os.Geteuid() != 0 {
		namespaces = append(namespaces, "--map-root-user")
	}
	return append(namespaces, "sh", "-euc", `mount -t tmpfs none /usr/share; cp -r "$0" /usr/share/; exec "$@"`, dir)
}

// ready reports whether Prometheus or Alertmanager is ready.
func (p *program) ready() error {
	status, _, err := p.get("/-/ready")
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("GET /-/ready = %d, want 200", status)
	}
	return err
}

// startAlerting runs Prometheus on a rule file and on the alerts about Vitals; it scrapes
// the daemon and notifies Alertmanager.
func startAlerting(t *testing.T, d daemon, rules ruleFile, alertmanager *program) *program {
	t.Helper()
	template, err := os.ReadFile("testdata/prometheus-alerting.yml")
	if err != nil {
		t.Fatal(err)
	}
	about, err := filepath.Abs(alertsFile)
	if err != nil {
		t.Fatal(err)
	}
	dir, listen := t.TempDir(), address(t)
	path := filepath.Join(dir, "prometheus.yml")
	text := fmt.Sprintf(string(template), rules.path, about, strings.TrimPrefix(alertmanager.url, "http://"), strings.TrimPrefix(d.url, "http://"))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	tool(t, "promtool", "check", "config", path)
	p := launch(t, listen, prometheusTool(t, "prometheus"), "--config.file="+path,
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+listen)
	await(t, "prometheus listens", time.Minute, func() error { return p.ready() })
	return p
}

// heldAlert is an alert as Alertmanager's API shows it.
type heldAlert struct {
	Labels      map[string]string
	Fingerprint string
	Status      struct {
		State       string
		InhibitedBy []string
	}
}

// allHeld queries all alerts that Alertmanager holds.
func allHeld(p *program) (all []heldAlert, err error) {
	status, body, err := p.get("/api/v2/alerts")
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK {
		return nil, fmt.Errorf("GET /api/v2/alerts = %d, want 200", status)
	}
	err = json.Unmarshal([]byte(body), &all)
	return all, err
}

// heldAlerts queries the alerts that Alertmanager holds, by name and instance.
func heldAlerts(p *program) (map[string]heldAlert, error) {
	all, err := allHeld(p)
	if err != nil {
		return nil, err
	}
	held := map[string]heldAlert{}
	for _, a := range all {
		held[a.Labels["alertname"]+" "+a.Labels["instance"]] = a
	}
	return held, nil
}

// inhibited returns an error if an alert of an instance is not inhibited by one of its
// causes, of which the first is active. If several fire, Alertmanager names any of them.
func inhibited(p *program, instance, consequence string, causes ...string) error {
	held, err := heldAlerts(p)
	if err != nil {
		return err
	}
	a := held[consequence+" "+instance]
	by := slices.ContainsFunc(causes, func(cause string) bool {
		return slices.Contains(a.Status.InhibitedBy, held[cause+" "+instance].Fingerprint)
	})
	if a.Status.State != "suppressed" || !by {
		return fmt.Errorf("%s is %+v, want it suppressed by one of %q: %+v", consequence, a.Status, causes, held)
	}
	if first := held[causes[0]+" "+instance]; first.Status.State != "active" {
		return fmt.Errorf("%s is %+v, want it active", causes[0], first.Status)
	}
	return nil
}
