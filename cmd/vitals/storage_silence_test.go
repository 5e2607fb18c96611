package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// vitals runs a command against the process and returns what it prints.
func (p *runningVitals) vitals(command string, flags ...string) string {
	p.t.Helper()
	var out, errs strings.Builder
	if code := run(append(append(strings.Fields(command), "--socket="+p.socket), flags...), &out, &errs); code != exitOK {
		p.t.Fatalf("vitals %s = %d, %s", command, code, &errs)
	}
	return out.String()
}

// overrides returns the silences and the maintenance as the API has them, with who, why and
// the exact end.
func (p *runningVitals) overrides() string {
	p.t.Helper()
	return p.vitals("silence --format=json") + p.vitals("maintenance --format=json")
}

// Silences and maintenance stay over kill -9 and a new start until their end. Those that have
// ended stay ended, one of a rule that is gone ends with a line in the log, and without
// storage there are none.
func TestSilencesAfterKill(t *testing.T) {
	t.Parallel()
	dir, config := markerConfig(t)
	gone := "      - alert: Gone\n        expr: vitals_file_exists > 1\n        labels: {state: ready}\n"
	short := strings.ReplaceAll(gone, "Gone", "Short")
	write(t, dir, "rules.yml", markerRules+short+gone)
	storage := filepath.Join(dir, "storage")
	first := runVitals(t, config, "--storage.path="+storage)
	first.waitReady()
	first.vitals("silence Gone --for=2h")
	first.vitals("silence Dead --for=2h")
	first.vitals("silence Bad --for=2h --state=ready", "--reason=an upgrade of it")
	first.vitals("silence Dead --remove")
	first.vitals("silence Short --for=3s")
	first.signal(syscall.SIGKILL)
	<-first.done

	write(t, dir, "rules.yml", markerRules+short)
	write(t, dir, "bad", "")
	second := runVitals(t, config, "--storage.path="+storage)
	eventually(t, "the silenced rule to fail", func() bool { return second.rule("Bad").Status == "failing" })
	if code, body := second.get("/ready"); code != 200 {
		t.Errorf("/ready = %d %s, want 200 with the failing rule silenced", code, body)
	}
	if !second.metric(`vitals_rule_silenced{rule="Bad",state="ready"} 1`) {
		t.Error("/metrics has no vitals_rule_silenced")
	}
	eventually(t, "the short silence to end", func() bool { return !strings.Contains(second.vitals("silence"), "Short") })
	if got := second.vitals("silence"); strings.Count(got, "\n") != 1 || !strings.Contains(got, "Bad is silenced in ready until") || !strings.Contains(got, ": an upgrade of it") {
		t.Errorf("vitals silence printed, want the one of Bad alone:\n%s", got)
	}
	if n := strings.Count(second.log.String(), `msg="silence ends" rule=Gone`); n != 1 {
		t.Errorf("%d lines about the silence of Gone, want one", n)
	}
	second.vitals("maintenance on", "--reason=new disk")
	before := second.overrides()
	second.signal(syscall.SIGTERM)
	second.exit()

	third := runVitals(t, config, "--storage.path="+storage)
	third.wantMaintenance(503)
	if after := third.overrides(); after != before {
		t.Errorf("after a restart:\n%s\nwant those of before, with the same ends:\n%s", after, before)
	}
	without := runVitals(t, config)
	if got := without.vitals("silence") + without.vitals("maintenance"); got != "no rule is silenced\nno state is under maintenance\n" {
		t.Errorf("without storage: %s, want none", got)
	}
}

// wantMaintenance waits until ready answers for its maintenance.
func (p *runningVitals) wantMaintenance(want int) {
	p.t.Helper()
	eventually(p.t, fmt.Sprintf("ready to answer %d by maintenance", want), func() bool {
		code, body := p.get("/ready")
		return code == want && strings.Contains(body, "maintenance: new disk")
	})
}

// TestAnsweredChangesOutliveKill kills the process as soon as a change is answered: the next one
// has it.
func TestAnsweredChangesOutliveKill(t *testing.T) {
	t.Parallel()
	dir, config := markerConfig(t)
	storage := "--storage.path=" + filepath.Join(dir, "storage")
	p, stored := runVitals(t, config, storage), 0
	for _, tt := range []struct{ command, silences, maintenance string }{
		{"silence Dead --for=2h", "Dead is silenced until", "no state"},
		{"maintenance on --for=2h", "Dead is silenced until", "ready is under maintenance"},
		{"silence Dead --remove", "no rule is silenced", "ready is under maintenance"},
		{"silence Bad --for=2h", "Bad is silenced until", "ready is under maintenance"},
		{"maintenance off", "Bad is silenced until", "no state"},
		{"silence Bad --for=1h --reason=again", "again", "no state"},
	} {
		if out := p.vitals(tt.command); strings.Contains(out, "warning") {
			continue // a busy disk: the answer names it
		}
		stored++
		p.signal(syscall.SIGKILL)
		<-p.done
		p = runVitals(t, config, storage)
		if got := p.vitals("silence"); !strings.Contains(got, tt.silences) {
			t.Errorf("after %q and kill -9, vitals silence printed %q, want %q", tt.command, got, tt.silences)
		}
		if got := p.vitals("maintenance"); !strings.Contains(got, tt.maintenance) {
			t.Errorf("after %q and kill -9, vitals maintenance printed %q, want %q", tt.command, got, tt.maintenance)
		}
	}
	if stored == 0 {
		t.Error("each answer has a warning, want one that is stored")
	}
}

// TestOverridesOfAllUsers checks that a file which every user may write silences no rule of alive.
func TestOverridesOfAllUsers(t *testing.T) {
	t.Parallel()
	dir, config := markerConfig(t)
	storage := filepath.Join(dir, "storage")
	first := runVitals(t, config, "--storage.path="+storage)
	first.waitReady()
	first.vitals("silence Dead --for=2h")
	first.signal(syscall.SIGTERM)
	first.exit()
	if err := os.Chmod(filepath.Join(storage, "overrides"), 0o666); err != nil {
		t.Fatal(err)
	}
	second := runVitals(t, config, "--storage.path="+storage)
	if got := second.vitals("silence"); got != "no rule is silenced\n" {
		t.Errorf("vitals silence printed %q, want that no rule is silenced", got)
	}
	if want := "chmod 600 " + storage + "/overrides"; !strings.Contains(second.log.String(), want) {
		t.Errorf("the log is %s, want a warning with %q", second.log, want)
	}
}
