package collectors_test

import (
	"testing"

	"github.com/vitals-health/vitals/collectors"
)

func TestProcessExposition(t *testing.T) {
	c := localNew(t, "daemon", "{name: kuryr-daemon, procfs: "+fakeProcFS(t, fakeKuryr()...)+"}", &collectors.ProcessConfig{})
	samples, err := localCollect(t, c)
	if err != nil {
		t.Fatalf("Collect() = %v, want no error", err)
	}
	localGolden(t, "process/metrics.prom", fakeReplace(localExposition(samples, c.Describe()), 1500))
}

func TestProcessIsLocal(t *testing.T) {
	for _, c := range []collectors.Kind{&collectors.ProcessConfig{}, &collectors.CapabilityConfig{Capabilities: []string{"KILL"}}} {
		if c.External() || c.Uses() != nil {
			t.Errorf("External(), Uses() of %T = %v, %v, want false, nil", c, c.External(), c.Uses())
		}
	}
}
