package kuryrconf

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzInterpret checks that no text upsets the reader, that what it returns holds
// its own promises, and that mistakes lie within the file and are short.
func FuzzInterpret(f *testing.F) {
	files, err := filepath.Glob("testdata/*.conf")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds in testdata: %v", err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Add("[neutron]\npassword = $a\na = $b$b\nb = $a$a\n")
	f.Fuzz(func(t *testing.T, text string) {
		config, mistakes := interpret(text)
		lines := strings.Count(text, "\n") + strings.Count(text, "\r") + 1
		before := 0
		for _, m := range mistakes {
			if m.line < before || m.line < 1 || m.line > lines {
				t.Errorf("mistake in line %d after one in line %d, want them in order from 1 to %d", m.line, before, lines)
			}
			if m.text == "" || len(m.text) > 512 || !strings.Contains(m.text, "expected") {
				t.Errorf("mistake %q, want at most 512 bytes that say what is expected", m.text)
			}
			before = m.line
		}
		for _, port := range []int{
			config.Health.Port, config.CNIHealth.Port, config.Kubernetes.ControllerHAElectorPort,
			config.PrometheusExporter.ControllerExporterPort, config.PrometheusExporter.CNIExporterPort,
		} {
			if port < 1 || port > 65535 {
				t.Errorf("port = %d, want 1 to 65535", port)
			}
		}
		if limit := config.CNIHealth.MaxMemoryUsage; limit != -1 && limit < 1 {
			t.Errorf("limit = %d MiB, want -1 or at least 1", limit)
		}
		if config.Neutron.Timeout < 0 || config.Kubernetes.WatchRetryTimeout < 0 {
			t.Errorf("timeouts = %s and %s, want none below zero", config.Neutron.Timeout, config.Kubernetes.WatchRetryTimeout)
		}
	})
}
