package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/file"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/rules"
)

// exampleRules returns the rules that the documentation of a kind of collectors shows.
func exampleRules(t *testing.T, kind string) *rules.File {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(docsRoot, "collectors", kind, "testdata/rules.yml"))
	if err != nil {
		t.Fatal(err)
	}
	file, errs := rules.Parse("rules.yml", text, []string{evaluator.Ready, evaluator.Alive})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return file
}

// statusForFile collects a file for ten seconds, and returns what the example rule of the
// documentation shows then. Use it in a synctest bubble.
func statusForFile(t *testing.T, name, rule string, config *file.Config) string {
	t.Helper()
	file := exampleRules(t, "file")
	c, err := config.New(collectors.Env{Name: name, Logger: discard()})
	if err != nil {
		t.Fatal(err)
	}
	source := evaluator.Source{Name: name, Kind: "file", Interval: time.Second, Timeout: time.Second, Collector: c}
	eval, err := evaluator.New(evaluator.Config{Files: []*rules.File{file}, Sources: []evaluator.Source{source}}, evaluator.Options{Logger: discard()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	eval.Run(ctx)
	for _, r := range eval.Snapshot().Rules {
		if r.Name == rule && r.Status == evaluator.Failing {
			return fmt.Sprintf("failing: %s [%s]", r.Summary, strings.ReplaceAll(r.Note, config.Path, "FILE"))
		} else if r.Name == rule {
			return r.Status.String()
		}
	}
	t.Fatalf("there is no rule %s", rule)
	return ""
}

// fileScenario is a file and the status of an example rule for it.
type fileScenario struct {
	name, file, rule string
	write            func(path string) error
	// want is an expression, because collections may start late.
	want string
}

// fileScenarios are all of them. The files are checked for ten seconds.
func fileScenarios() []fileScenario {
	writtenBefore := func(age time.Duration) func(path string) error {
		return func(path string) error {
			at := time.Now().Add(-age)
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, at, at))
		}
	}
	content := func(text string) func(string) error {
		return func(path string) error { return os.WriteFile(path, []byte(text), 0o600) }
	}
	recon := func(age int64) func(path string) error {
		return func(path string) error {
			return content(fmt.Sprintf(`{"replication_last": %d}`, time.Now().Unix()-age))(path)
		}
	}
	missing := func(string) error { return nil }
	const job = "1 0 * * * nova-manage db purge\n"
	return []fileScenario{
		{"E22 young", "heartbeat", "HeartbeatOld", writtenBefore(30 * time.Second), "ok"},
		{"E23 old", "heartbeat", "HeartbeatOld", writtenBefore(2 * time.Minute), `failing: The heartbeat was last written 2m \d+s ago\. \[FILE: written 1[23]\ds ago, limit 1m\]`},
		{"E24 missing", "heartbeat", "HeartbeatMissing", missing, `failing: The heartbeat was never written\. \[FILE: missing\]`},
		{"E25 in the future", "heartbeat", "HeartbeatInTheFuture", writtenBefore(-time.Hour), `failing: The heartbeat was written 59m \d+s in the future, so a clock is wrong and its age is meaningless\. \[FILE: written 35\d\ds in the future, limit 1m\]`},
		{"E25 its age alone", "heartbeat", "HeartbeatOld", writtenBefore(-time.Hour), "ok"},
		{"E26 replication 250 s ago", "recon", "ReplicationOld", recon(250), "ok"},
		{"E26 replication 301 s ago", "recon", "ReplicationOld", recon(301), `failing: The last replication was 5m \d+s ago, or as far in the future\. \[FILE: replication_last 3[01]\ds ago, limit 5m\]`},
		{"E26 in the future", "recon", "ReplicationOld", recon(-3600), `failing: The last replication was 59m \d+s ago, .* \[FILE: replication_last 35\d\ds in the future, limit 5m\]`},
		{"E26 in milliseconds", "recon", "ReplicationOld", content(`{"replication_last": 946684800000}`), `failing: The last replication was 10946042d .* \[FILE: replication_last 9457381\d+s in the future, limit 5m\]`},
		{"E26 no time", "recon", "ReplicationUnknown", content(`{"replication_last": null}`), `failing: The time of the last replication is unknown: epoch\. \[read file FILE: the key replication_last is no number: .*\]`},
		{"E26 cache missing", "recon", "ReplicationUnknown", missing, `failing: The time of the last replication is unknown: there is no such file\. \[FILE: missing\]`},
		{"E26 known", "recon", "ReplicationUnknown", recon(301), "ok"},
		{"E30 two active lines", "crontab", "CrontabEmpty", content(job + job), "ok"},
		{"E30 one active line", "crontab", "CrontabEmpty", content(job), "ok"},
		{"E30 no active line", "crontab", "CrontabEmpty", content("# " + job + "MAILTO=root\n"), `failing: The crontab has no active line\. \[FILE: 0 active lines, 1 uncommented\]`},
		{"E30 missing", "crontab", "CrontabEmpty", missing, `failing: The crontab has no active line\. \[FILE: missing\]`},
		{"pipe", "log-pipe", "LogPipeMissing", func(path string) error { return syscall.Mkfifo(path, 0o600) }, "ok"},
		{"file for a pipe", "log-pipe", "LogPipeMissing", content(""), `failing: The log cannot be read because its pipe is missing\. \[\]`},
		{"pipe missing", "log-pipe", "LogPipeMissing", missing, `failing: The log cannot be read because its pipe is missing\. \[\]`},
	}
}

// The scenarios of files and their ages, and the verdicts of the example rules.
func TestFileRules(t *testing.T) {
	for _, tt := range fileScenarios() {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			synctest.Test(t, func(t *testing.T) {
				if err := tt.write(path); err != nil {
					t.Fatal(err)
				}
				config := &file.Config{Path: path, SizeLimit: 1 << 20}
				switch tt.file {
				case "heartbeat":
					config.AgeLimit = model.Duration(time.Minute)
				case "recon":
					config.Format, config.Epoch, config.AgeLimit = "json", "replication_last", model.Duration(5*time.Minute)
				case "crontab":
					config.Format = "crontab"
				}
				if got := statusForFile(t, tt.file, tt.rule, config); !regexp.MustCompile("^" + tt.want + "$").MatchString(got) {
					t.Errorf("%s is %s, want %s", tt.rule, got, tt.want)
				}
			})
		})
	}
}
