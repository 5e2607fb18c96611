package kuryrconf

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzInterpret checks that numbers are within their bounds for any text, and that
// mistakes are short and within the file.
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
			if m.Line < before || m.Line < 1 || m.Line > lines {
				t.Errorf("mistake in line %d after one in line %d, want them in order from 1 to %d", m.Line, before, lines)
			}
			if m.Text == "" || len(m.Text) > 512 || !strings.Contains(m.Text, "expected") {
				t.Errorf("mistake %q, want at most 512 bytes with what is expected", m.Text)
			}
			before = m.Line
		}
		for _, port := range []int{
			config.Health.Port, config.CNIHealth.Port, config.Kubernetes.ControllerHAElectorPort,
			config.PrometheusExporter.CNIExporterPort,
		} {
			if port < 1 || port > 65535 {
				t.Errorf("port = %d, want 1 to 65535", port)
			}
		}
		if limit := config.CNIHealth.MaxMemoryUsage; limit != -1 && limit < 1 {
			t.Errorf("limit = %d MiB, want -1 or at least 1", limit)
		}
		if config.Neutron.Timeout < 0 {
			t.Errorf("timeout = %s, want none below zero", config.Neutron.Timeout)
		}
	})
}
