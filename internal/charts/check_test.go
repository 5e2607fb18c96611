package charts_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// configuration writes the files of the rendered ConfigMap and returns the path of vitals.yml.
func configuration(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range find(t, text, "ConfigMap").Data {
		write(t, dir, name, content)
	}
	return filepath.Join(dir, "vitals.yml")
}

// Everything that is rendered passes the checks of the program: the configuration, its rules, and the
// probes, against those rules. A probe with another path does not.
func TestCheck(t *testing.T) {
	for _, r := range all(t) {
		t.Run(r.name, func(t *testing.T) {
			dir := t.TempDir()
			rules := "--profile=sonic"
			if r.name != "helm-profile" {
				config := configuration(t, r.text)
				vitals(t, "check", "config", "--syntax-only", config)
				rules = "--config.file=" + config
			}
			vitals(t, "check", "rules", rules, "--manifest="+write(t, dir, "rendered.yaml", r.text))
			wrong := write(t, dir, "wrong.yaml", strings.ReplaceAll(r.text, "path: /ready", "path: /redy"))
			printed, err := exec.CommandContext(t.Context(), os.Getenv(binary), "check", "rules", rules, "--manifest="+wrong).CombinedOutput()
			if err == nil || !strings.Contains(string(printed), "error V032 probe-path") {
				t.Errorf("vitals check rules --manifest with /redy = %v\n%s\nwant V032", err, printed)
			}
		})
	}
}

// The arguments are flags that the program has.
func TestArgs(t *testing.T) {
	help := vitals(t, "run", "--help")
	for _, r := range all(t) {
		c, _ := container(t, pod(t, r.text))
		if len(c.Args) < 4 || c.Args[0] != "run" {
			t.Errorf("%s: args = %q, want the command run and its flags", r.name, c.Args)
		}
		for _, a := range c.Args[1:] {
			name, _, _ := strings.Cut(strings.TrimPrefix(a, "--"), "=")
			if !strings.Contains(help, "--"+name) && !strings.Contains(help, "--[no-]"+name) {
				t.Errorf("%s: vitals run has no flag --%s", r.name, name)
			}
		}
	}
}
