package file_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/file"
)

// series collects and returns what was exported for a file except its attributes: the reason
// of a failure, or the metrics without their prefix.
func series(t *testing.T, c collectors.Collector) string {
	t.Helper()
	samples, err := collectortest.Collect(t, c)
	var seen []string
	for _, s := range samples {
		name := strings.TrimPrefix(s.Labels.Get(model.MetricNameLabel), "vitals_file_")
		switch name {
		case "exists", "valid", "epoch_timestamp_seconds", "active_lines", "uncommented_lines", "age_limit_seconds", "key_present":
			seen = append(seen, strings.TrimSpace(name+" "+s.Labels.Get("key"))+fmt.Sprintf("=%.0f", s.Value))
		case "failure":
			if s.Value == 1 {
				seen = append(seen, s.Labels.Get("reason"))
			}
		}
	}
	slices.Sort(seen)
	if err != nil {
		seen = append(seen, "error")
	}
	return strings.Join(seen, " ")
}

// The collector exports when the file was written and the limit; rules compute the age.
func TestAge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "heartbeat")
	for _, tt := range []struct {
		name string
		age  time.Duration // of the file; 0 is a file that is missing
		note string
	}{
		{"E22 younger than the limit", 30 * time.Second, ": written 30s ago, limit 1m"},
		{"E23 older than the limit", 2 * time.Minute, ": written 120s ago, limit 1m"},
		{"E24 missing", 0, ": missing"},
		{"E25 written in the future", -time.Hour, ": written 3600s in the future, limit 1m"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			written := time.Now().Add(-tt.age)
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			want := "age_limit_seconds=60 exists=0"
			if tt.age != 0 {
				collectortest.Write(t, path, "")
				if err := os.Chtimes(path, written, written); err != nil {
					t.Fatal(err)
				}
				want = "age_limit_seconds=60 exists=1"
			}
			c := collectortest.New(t, "heartbeat", "{path: "+path+", age_limit: 60s}", &file.Config{})
			if got := series(t, c); got != want {
				t.Errorf("Collect() = %s, want %s", got, want)
			}
			samples, _ := collectortest.Collect(t, c)
			if at, ok := collectortest.Value(samples, `vitals_file_mtime_timestamp_seconds{file="heartbeat"}`); ok != (tt.age != 0) || ok && int64(at) != written.Unix() {
				t.Errorf("Collect() has the time %v, %v, want %v", at, ok, written.Unix())
			}
			if note := c.(collectors.Noter).Note(); !slices.Contains(later(path+tt.note, tt.age), note) {
				t.Errorf("Note() = %q, want %q", note, path+tt.note)
			}
		})
	}
}

// later returns a note as it is up to 10 seconds later: time passes between two readings of the
// clock. age is that in the note, below zero for a time in the future.
func later(note string, age time.Duration) []string {
	var notes []string
	for passed := range 11 {
		then := age + time.Duration(passed)*time.Second
		notes = append(notes, strings.Replace(note, fmt.Sprintf("%.0fs", age.Abs().Seconds()), fmt.Sprintf("%.0fs", then.Abs().Seconds()), 1))
	}
	return notes
}

// Every number is exported unchanged, and nothing else.
func TestEpoch(t *testing.T) {
	const invalid = "age_limit_seconds=300 exists=1 syntax valid=0 error"
	is := func(value string) string {
		return "age_limit_seconds=300 epoch_timestamp_seconds replication_last=" + value + " exists=1 key_present replication_last=1 valid=1"
	}
	missing := func(present int) string {
		return fmt.Sprintf("age_limit_seconds=300 epoch exists=1 key_present replication_last=%d valid=1 error", present)
	}
	path := filepath.Join(t.TempDir(), "object.recon")
	c := collectortest.New(t, "recon", "{path: "+path+", format: json, keys: [replication_last], epoch: replication_last, age_limit: 300s}", &file.Config{})
	for _, tt := range []struct{ name, content, want string }{
		{"E26 of swift", `{"replication_time": 0.8, "replication_last": 1700000000.25, "drive_audit_errors": 0}`, is("1700000000")},
		{"whole number", `{"replication_last": 1700000000}`, is("1700000000")},
		{"with an exponent", `{"replication_last": 1.7e9}`, is("1700000000")},
		{"zero", `{"replication_last": 0}`, is("0")},
		{"below zero", `{"replication_last": -5}`, is("-5")},
		{"in the future", `{"replication_last": 4000000000}`, is("4000000000")},
		{"in milliseconds", `{"replication_last": 1700000000000}`, is("1700000000000")},
		{"E26 key missing", `{"replication_time": 1}`, missing(0)},
		{"null", `{"replication_last": null}`, missing(1)},
		{"text", `{"replication_last": "1700000000"}`, missing(1)},
		{"list", `{"replication_last": [1700000000]}`, missing(1)},
		{"mapping", `{"replication_last": {"1": 1700000000}}`, missing(1)},
		{"truth", `{"replication_last": true}`, missing(1)},
		{"number beyond a float64", `{"replication_last": 1e999}`, missing(1)},
		{"not JSON", `replication_last: 1700000000`, invalid},
		{"empty", ``, invalid},
		{"not a mapping", `1700000000`, missing(0)},
		{"again", `{"replication_last": 1700000001}`, is("1700000001")},
	} {
		collectortest.Write(t, path, tt.content)
		if got := series(t, c); got != tt.want {
			t.Errorf("%s: Collect() = %s, want %s", tt.name, got, tt.want)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got, want := series(t, c), "age_limit_seconds=300 exists=0"; got != want {
		t.Errorf("E26 cache missing: Collect() = %s, want %s", got, want)
	}
}

// The note and the error of an epoch name the key and the path, and nothing of the content.
func TestEpochNote(t *testing.T) {
	path := filepath.Join(t.TempDir(), "recon")
	for content, want := range map[string]string{
		fmt.Sprintf(`{"a": {"last": %d}}`, time.Now().Unix()-301): path + ": a.last 301s ago, limit 5m",
		`{"a": {"last": "secret"}}`:                               "read file " + path + ": the key a.last is no number: expected a number of seconds since the epoch",
		`{"a": {}}`:                                               "read file " + path + ": the key a.last is missing: expected a number of seconds since the epoch",
	} {
		collectortest.Write(t, path, content)
		c := collectortest.New(t, "f", "{path: "+path+", format: json, epoch: a.last, age_limit: 5m}", &file.Config{})
		_, _ = collectortest.Collect(t, c)
		if note := c.(collectors.Noter).Note(); !slices.Contains(later(want, 301*time.Second), note) {
			t.Errorf("Note() = %q, want %q", note, want)
		}
	}
	c := collectortest.New(t, "f", "path: "+path, &file.Config{})
	_, _ = collectortest.Collect(t, c)
	if note := c.(collectors.Noter).Note(); note != "" {
		t.Errorf("Note() = %q, want none without an age limit", note)
	}
}

func TestCrontab(t *testing.T) {
	const job = "1 0 * * * nova-manage db purge >>/var/log/nova/purge.log 2>&1\n"
	path := filepath.Join(t.TempDir(), "nova")
	c := collectortest.New(t, "cron", "{path: "+path+", format: crontab}", &file.Config{})
	is := func(active, uncommented int) string {
		return fmt.Sprintf("active_lines=%d exists=1 uncommented_lines=%d valid=1", active, uncommented)
	}
	for _, tt := range []struct{ name, content, want string }{
		{"E30 one active line", job, is(1, 1)},
		{"E30 two active lines", job + job, is(2, 2)},
		{"E30 one job and its environment, as Puppet writes it", "# HEADER: written by Puppet\n# Puppet Name: purge\nPATH=/bin:/usr/bin SHELL=/bin/sh\n" + job, is(1, 2)},
		{"comments", "#" + job + " # " + job + "\t#\n", is(0, 2)},
		{"blank lines", "\n \n\t\n" + job + "\r\n", is(1, 5)},
		{"assignments", "A=b\n B = c\n\"C\" =d\n'D e'='f g'\nMAILTO=\n", is(0, 5)},
		{"no assignments", "* * * * * a=b\n@reboot x=y\nA b=c\n=x\n\"A b=c\n'\n", is(6, 6)},
		{"indented job", "  " + job, is(1, 1)},
		{"without an end", strings.TrimSuffix(job, "\n"), is(1, 1)},
		{"not UTF-8", "# \xe4\n" + job, is(1, 1)},
		{"empty", "", is(0, 0)},
	} {
		collectortest.Write(t, path, tt.content)
		if got := series(t, c); got != tt.want {
			t.Errorf("%s: Collect() = %s, want %s", tt.name, got, tt.want)
		}
	}
	collectortest.Write(t, path, job+job)
	_, _ = collectortest.Collect(t, c)
	if note, want := c.(collectors.Noter).Note(), path+": 2 active lines, 2 uncommented"; note != want {
		t.Errorf("Note() = %q, want %q", note, want)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got, want := series(t, c), "exists=0"; got != want {
		t.Errorf("E30 crontab missing: Collect() = %s, want %s", got, want)
	}
}

func TestCrontabExposition(t *testing.T) {
	dir := t.TempDir()
	collectortest.Write(t, filepath.Join(dir, "cron"), "1 0 * * * x\n")
	collectortest.Write(t, filepath.Join(dir, "recon"), `{"last": 1700000000.5}`)
	var all []collectors.Sample
	var descs []collectors.Desc
	for name, config := range map[string]string{"cron": "format: crontab", "recon": "format: json\nepoch: last\nage_limit: 300s"} {
		c := collectortest.New(t, name, "path: "+filepath.Join(dir, name)+"\n"+config, &file.Config{})
		samples, err := collectortest.Collect(t, c)
		if err != nil {
			t.Fatalf("Collect() = %v, want no error", err)
		}
		all, descs = append(all, samples...), c.Describe()
	}
	of := slices.DeleteFunc(all, func(s collectors.Sample) bool {
		name := s.Labels.Get(model.MetricNameLabel)
		return !strings.Contains(name, "_lines") && !strings.Contains(name, "_epoch_") && !strings.Contains(name, "_limit_")
	})
	collectortest.Golden(t, "age.prom", collectortest.Exposition(of, descs))
}

// A named pipe is identified by its type, and is never opened.
func TestNamedPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	samples, err := collectortest.Collect(t, collectortest.New(t, "log", "path: "+path, &file.Config{}))
	if v, ok := collectortest.Value(samples, fmt.Sprintf(`vitals_file_info{file="log",path=%q,type="fifo"}`, path)); v != 1 || !ok || err != nil {
		t.Errorf("Collect() = %v, %v, want a fifo", samples, err)
	}
}
