//go:build e2e

package e2e_test

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRunbooksSilence runs the silence commands of the runbooks against a real
// Alertmanager: each command silences the alert that its page describes.
func TestRunbooksSilence(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../docs/runbooks/Vitals*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("Glob() = %v, %v, want the runbooks", pages, err)
	}
	p := startAlertmanager(t, newWebhook(t))
	want := map[string]bool{}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, command := range regexp.MustCompile(`(?m)^amtool .*$`).FindAllString(string(text), -1) {
			cmd := exec.Command("sh", "-euc", command+" --alertmanager.url="+p.url)
			cmd.Env = []string{"PATH=" + filepath.Dir(prometheusTool(t, "amtool")), "HOME=" + t.TempDir(),
				"INSTANCE=10.0.0.7:8080", "STATE=leading", "RULE=QuotaLow", "COLLECTOR=keystone", "DEPENDENCY=registry"}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %s: %v\n%s", page, command, err, out)
			}
			want[strings.TrimSuffix(filepath.Base(page), ".md")] = true
		}
	}
	status, body, err := p.get("/api/v2/silences")
	if err != nil || status != http.StatusOK {
		t.Fatalf("GET /api/v2/silences = %d, %v, want 200", status, err)
	}
	var silences []struct {
		Matchers []struct{ Name, Value string }
	}
	if err := json.Unmarshal([]byte(body), &silences); err != nil {
		t.Fatal(err)
	}
	for _, s := range silences {
		for _, m := range s.Matchers {
			if m.Name == "alertname" {
				delete(want, m.Value)
			}
		}
	}
	if len(silences) != len(pages) || len(want) > 0 {
		t.Errorf("there are %d silences for %d runbooks, and none for %v", len(silences), len(pages), want)
	}
}
