package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/internal/execprobe"
)

// fullDevice accepts a number of bytes and then none, as a full disk does.
type fullDevice struct {
	left int
	got  bytes.Buffer
}

var errFull = errors.New("no space left on device")

func (f *fullDevice) Write(p []byte) (int, error) {
	n := min(len(p), f.left)
	f.left -= n
	f.got.Write(p[:n])
	if n < len(p) {
		return n, errFull
	}
	return n, nil
}

// A result that cannot be written to its file is an error with a separate exit code.
func TestResultThatCannotBePrinted(t *testing.T) {
	dir := t.TempDir()
	fine := write(t, dir, "rules.yml", `groups: [{name: g, rules: [{alert: R, expr: vitals_file_exists == 0, for: 30s, labels: {state: ready}, annotations: {summary: Gone., no_data: fail}}]}]`+"\n")
	found := write(t, dir, "found.yml", `groups: [{name: g, rules: [{alert: R, expr: vitals_file_exists == 0, for: 30s, labels: {state: ready}}]}]`+"\n")
	test := write(t, dir, "rules_test.yml", "rule_files: [rules.yml]\ntests: [{interval: 1m, input_series: [{series: vitals_file_exists, values: 1}], state_test: [{eval_time: 0, state: ready, verdict: pass}]}]\n")
	config := write(t, dir, "vitals.yml", "rule_files: [rules.yml]\ncollectors: [{name: here, file: {path: /}}]\n")
	tests := []struct {
		command string
		code    int
	}{
		{"check rules " + fine, 3},
		{"check rules --format=json " + fine, 3},
		{"check rules --format=sarif " + fine, 3},
		{"check rules --format=github " + found, 1}, // what was found is not forgotten
		{"check rules " + found, 1},
		{"check config " + config, 3},
		{"test rules " + test, 3},
		{"generate dashboards --out=" + dir, 3},
		{"generate alerts --check --out=" + dir, 1},
		{"once --config.file=" + config, 3},
		{"once --style=docker --config.file=" + config, 1}, // Docker accepts 0 and 1
		{"once --style=nagios --config.file=" + config, 3},
		{"once nonsense --style=docker --config.file=" + config, 1},
		{"explain --config.file=" + config, 3},
		{"explain --format=json --config.file=" + config, 3},
		{"wait --timeout=500ms --url=http://127.0.0.1:1", 4},
		{"profiles", 3},
		{"profiles show sonic", 3},
		{"--version", 3},
		{"--help", 3},
		{"check rules --help", 3},
	}
	for _, tt := range tests {
		t.Run(tt.command, func(t *testing.T) {
			full, errs := &fullDevice{left: 1}, &bytes.Buffer{}
			if code := run(strings.Fields(tt.command), full, errs); code != tt.code {
				t.Errorf("exit code = %d, want %d", code, tt.code)
			}
			if want := "vitals: the output is incomplete: no space left on device\n"; !strings.HasSuffix(errs.String(), want) {
				t.Errorf("stderr = %q, want it to end with %q", errs.String(), want)
			}
		})
	}
}

// Output after a failed write is dropped: a reader could mistake it for all of it.
func TestNothingIsPrintedBehindAGap(t *testing.T) {
	full := &fullDevice{left: 5}
	w := &printed{to: full}
	for _, text := range []string{"one", "two", "3"} {
		_, _ = io.WriteString(w, text)
		full.left++ // as if space was freed
	}
	if got, want := full.got.String(), "onetwo3"; got != want {
		t.Errorf("with room enough, %q is printed, want %q", got, want)
	}
	full.left = 1
	for _, text := range []string{"four", "5"} {
		_, _ = io.WriteString(w, text)
		full.left++
	}
	if got, want := full.got.String(), "onetwo3f"; got != want {
		t.Errorf("without room, %q is printed, want %q", got, want)
	}
	if !errors.Is(w.err, errFull) {
		t.Errorf("the error is %v, want %v", w.err, errFull)
	}
}

// A panic without a failed write continues.
func TestOnlyAFailedWriteExplainsAPanic(t *testing.T) {
	tests := []struct {
		wrote    error
		panicked any
		want     bool
	}{
		{errFull, errFull, true},
		{errFull, fmt.Errorf("print the help: %w", errFull), true},
		{errFull, "internal error: nonsense", false},
		{errFull, io.ErrShortWrite, false},
		{nil, errFull, false},
	}
	for _, tt := range tests {
		if got := (&printed{err: tt.wrote}).causes(tt.panicked); got != tt.want {
			t.Errorf("after %v, causes(%v) = %t, want %t", tt.wrote, tt.panicked, got, tt.want)
		}
	}
}

// A failing verdict keeps its exit code even if its text cannot be written.
func TestVerdictThatCannotBePrinted(t *testing.T) {
	failing := execprobe.Result{Outcome: execprobe.Failing, ExitCode: 12, Text: "R failing"}
	ok := execprobe.Result{Outcome: execprobe.OK, Text: "ready"}
	for _, tt := range []struct {
		result execprobe.Result
		style  execprobe.Style
		want   int
	}{
		{failing, execprobe.Plain, 12},
		{failing, execprobe.Docker, 1},
		{ok, execprobe.Plain, 3},
		{ok, execprobe.Docker, 1},
		{ok, execprobe.Nagios, 3},
	} {
		p := &program{stdout: &fullDevice{}}
		if got := p.print(tt.style, tt.result); got != tt.want {
			t.Errorf("%s: code of %v = %d, want %d", tt.style, tt.result.Outcome, got, tt.want)
		}
	}
}
