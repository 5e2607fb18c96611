package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/execprobe"
	"github.com/vitals-health/vitals/internal/server"
)

const seen = "000 10.0.0.1:5000 0.001 seconds: refused"

// noted is the failing snapshot with what the collector of Keystone saw.
func noted() *evaluator.Snapshot {
	s := failing()
	s.Collectors[1].Note = seen
	s.Rules[1].Note = seen
	s.Rules[3].Note = seen
	return s
}

func TestNotesInTheTexts(t *testing.T) {
	h := server.New(fixed(noted())).Handler()
	const keystone = "KeystoneDown failing: Keystone does not answer or rejects the credentials. (value 0, since 2026-01-02T11:58:30Z): " + seen
	const quota = "PortQuotaExhausted unknown: no series matches (since 2026-01-02T11:58:30Z, caused by NeutronDown): " + seen
	for target, lines := range map[string][]string{
		"/ready": {keystone}, "/ready?verbose": {"[-]" + keystone, "[-]" + quota}, "/ready/KeystoneDown": {"[-]" + keystone},
	} {
		body := "\n" + text(t, request(t, h, "GET", target, ""))
		for _, line := range lines {
			if !strings.Contains(body, "\n"+line+"\n") {
				t.Errorf("GET %s = %q, want the line %q", target, body, line)
			}
		}
	}
	var health struct {
		Checks map[string][]struct{ Note string }
	}
	decode(t, h, "/ready", &health)
	var status server.Status
	decode(t, h, "/api/v1/status", &status)
	for what, got := range map[string]string{"health": health.Checks["KeystoneDown"][0].Note, "rule": status.Rules[1].Note, "collector": status.Collectors[1].Note} {
		if got != seen {
			t.Errorf("note of the %s in JSON = %q, want %q", what, got, seen)
		}
	}
}

// decode reads an answer in JSON.
func decode(t *testing.T, h http.Handler, target string, into any) {
	t.Helper()
	body := text(t, request(t, h, "GET", target, "", "Accept", "application/json"))
	if err := json.Unmarshal([]byte(body), into); err != nil {
		t.Fatalf("GET %s: %v in %s", target, err, body)
	}
}

// Notes are cut, facts are not.
func TestNotesGiveWayToFacts(t *testing.T) {
	for _, summary := range []string{"", "Down.", strings.Repeat("s", 300), strings.Repeat("s", 1000)} {
		for _, note := range []string{strings.Repeat("n", 200), strings.Repeat("n", 512)} {
			snap := noted()
			snap.Rules[1].Summary, snap.Rules[1].Note = summary, note
			line, _, _ := strings.Cut(text(t, request(t, server.New(fixed(snap)).Handler(), "GET", "/ready", "")), "\n")
			if len(line) > 512 || !strings.Contains(line, "(value 0, since 2026-01-02T11:58:30Z): nnn") || len(summary) > 0 && !strings.Contains(line, ": "+summary[:min(len(summary), 100)]) {
				t.Errorf("line of %d bytes = %q, want at most 512 with the beginning of the summary, the facts and the note", len(line), line)
			}
			if len(note) == 200 && !strings.HasSuffix(line, note) {
				t.Errorf("line = %q, want a note of 200 bytes whole", line)
			}
		}
	}
}

func TestNotesInTheExecProbe(t *testing.T) {
	passing, warning, broken := healthy(), healthy(), healthy()
	broken.Collectors[1].Success, broken.Collectors[1].Error = false, "authenticate: 401\nreload: no file"
	passing.Collectors[1].Note = "200 10.0.0.1:5000 0.003 seconds"
	warning.Collectors[1].Note, warning.Collectors[2].Note = "200 10.0.0.1:5000 0.003 seconds", "2 of 100 ports left"
	warning.States[0].Verdict, warning.States[0].Deciding = evaluator.Warn, []int{4}
	low := &warning.Rules[4]
	low.Status, low.Warns, low.Summary, low.Note = evaluator.Failing, true, "Few ports are left.", "2 of 100 ports left"
	for want, snap := range map[string]*evaluator.Snapshot{
		"ok 0 ready: 5 rules, since 2026-01-02T11:00:00Z\n":                                                                                                  healthy(),
		"ok 0 ready: 5 rules, since 2026-01-02T11:00:00Z; keystone: 200 10.0.0.1:5000 0.003 seconds\n":                                                       passing,
		"ok 0 ready: 5 rules, since 2026-01-02T11:00:00Z; keystone: authenticate: 401; reload: no file\n":                                                    broken,
		"warning 0 PortQuotaLow failing: Few ports are left. (since 2026-01-02T11:00:00Z): 2 of 100 ports left; keystone: 200 10.0.0.1:5000 0.003 seconds\n": warning,
	} {
		v := verdictOf(t, server.New(fixed(snap)), "ready")
		if got := execprobe.Plain.Render(execprobe.ResultOf(&v)); got != want {
			t.Errorf("exec probe = %q, want %q", got, want)
		}
	}
	if v := verdictOf(t, server.New(fixed(noted())), "ready"); len(v.Notes) > 0 || !strings.HasSuffix(v.Lines[0], ": "+seen) {
		t.Errorf("verdict of a state that fails = %+v, want the note in the rule's line and nowhere else", v)
	}
}

func TestNotesInTheExecProbeAreBounded(t *testing.T) {
	snap := healthy()
	for i := range 1000 {
		snap.Collectors = append(snap.Collectors, evaluator.CollectorStatus{Name: fmt.Sprint("c", i), Note: strings.Repeat("é", 100)})
	}
	v := verdictOf(t, server.New(fixed(snap)), "ready")
	if n := len(strings.Join(v.Notes, "")); n < 500 || n > 1024 {
		t.Errorf("notes have %d bytes, want enough for a line and no more than 1 KiB", n)
	}
	line := execprobe.Plain.Render(execprobe.ResultOf(&v))
	if len(line) > 501 || !strings.HasPrefix(line, "ok 0 ready: 5 rules, since 2026-01-02T11:00:00Z; c0: éé") {
		t.Errorf("exec probe = %q, want one line of at most 500 bytes", line)
	}
}
