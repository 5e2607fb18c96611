package script

import (
	"path/filepath"
	"testing"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

// The command does not run while the process of an earlier collection has not ended.
func TestRunsOnceAtATime(t *testing.T) {
	runs := filepath.Join(t.TempDir(), "runs")
	c := collectortest.New(t, "s", "{command: [/bin/sh, -c, 'echo run >>"+runs+"']}", &Config{}).(*collector)
	c.busy <- struct{}{} // as a process that was killed and has not ended
	samples, err := collectortest.Collect(t, c)
	if v, _ := collectortest.Value(samples, `vitals_script_failure{reason="timeout",script="s"}`); v != 1 || err == nil {
		t.Errorf("Collect() = %v, %v during another run, want the failure timeout", samples, err)
	}
	if _, ok := collectortest.Value(samples, `vitals_script_signal{script="s"}`); ok {
		t.Error("vitals_script_signal is there without a run")
	}
	<-c.busy // it has ended
	if _, err := collectortest.Collect(t, c); err != nil {
		t.Errorf("Collect() after the end = %v", err)
	}
	if got := collectortest.Read(t, runs); got != "run\n" {
		t.Errorf("the command wrote %q in both collections, want one run", got)
	}
}
