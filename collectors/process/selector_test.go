package process_test

import (
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/collectors/process"
)

// An empty name would be the same as none, which selects Vitals:
// it would be found to be well for ever.
func TestSelectorRefusesEmptyValues(t *testing.T) {
	tests := []struct{ name, config, want string }{
		{"name", `name: ""`, "name is empty: expected a value, or no such key"},
		{"name without a value", "name:", "name is empty: expected a value, or no such key"},
		{"number", "pid: 0", "pid is empty: expected a value, or no such key"},
		{"path", "{exe: '', procfs: /proc}", "exe is empty: expected a value, or no such key"},
		{"unknown key", "nam: x", "field nam not found"},
		{"value of the wrong type", "pid: one", "cannot unmarshal"},
		{"none", "{}", ""},
		{"all", "{pid: 1, pid_file: /a, name: x, exe: /y, cgroup: /z, procfs: /proc}", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, kind := range []any{&process.Config{}, &struct {
				Process *process.Selector `yaml:"process"`
			}{}} {
				text := tt.config
				if _, inline := kind.(*process.Config); !inline {
					text = "process:\n  " + tt.config
				}
				decoder := yaml.NewDecoder(strings.NewReader(text))
				decoder.KnownFields(true)
				err := decoder.Decode(kind)
				if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
					t.Errorf("Decode(%q) into %T = %v, want %q", text, kind, err, tt.want)
				}
			}
		})
	}
}
