package collectors_test

import (
	"testing"

	"github.com/vitals-health/vitals/collectors"
)

// A daemon of several processes names each of them by what it does.
func TestProcessNameIsTheBeginningOfATitle(t *testing.T) {
	for _, tt := range []struct {
		comm, name string
		up         float64
	}{
		{"kuryr-daemon", "kuryr-daemon", 1},
		{"kuryr-daemon: m", "kuryr-daemon", 1},
		{"kuryr-daemon:", "kuryr-daemon", 1},
		{"kuryr-daemon-x", "kuryr-daemon", 0},
		{"kuryr-daemon m", "kuryr-daemon", 0},
		{"kuryr", "kuryr-daemon", 0},
		{"x: kuryr-daemon", "kuryr-daemon", 0},
	} {
		t.Run(tt.comm, func(t *testing.T) {
			proc := fakeProcFS(t, fakeProcess{pid: 7, comm: tt.comm, args: []string{tt.comm}})
			c := localNew(t, "daemon", "{name: "+tt.name+", procfs: "+proc+"}", &collectors.ProcessConfig{})
			samples, _ := localCollect(t, c)
			if got, ok := localValue(samples, `vitals_process_up{process="daemon"}`); !ok || got != tt.up {
				t.Errorf("vitals_process_up of %q asked for by %q = %g, want %g", tt.comm, tt.name, got, tt.up)
			}
		})
	}
}
