package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// evaluationOf returns the time that an evaluation without a daemon gets.
func evaluationOf(t *testing.T, env map[string]string, args ...string) time.Duration {
	t.Helper()
	var got []string
	run(time.Now(), append([]string{"/openstack/healthcheck", "--socket=" + filepath.Join(t.TempDir(), "none.sock")}, args...), process{
		getenv:  func(name string) string { return env[name] },
		stdout:  &bytes.Buffer{},
		replace: func(args []string) error { got = args; return errors.New("not executed") },
	})
	for _, arg := range got {
		if text, ok := strings.CutPrefix(arg, "--timeout="); ok {
			d, err := time.ParseDuration(text)
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
	}
	t.Fatalf("the program executes %q, want --timeout", got)
	return 0
}

// An API may take as long as TripleO's scripts let it take. The daemon's verdict may not.
func TestTripleoEvaluation(t *testing.T) {
	for _, tt := range []struct {
		name, profile, maxTime, timeout string
		least, most                     time.Duration
	}{
		{"the default of the scripts", "tripleo", "", "", 11 * time.Second, time.Minute},
		{"a longer time", "tripleo", "90", "", 91 * time.Second, 2 * time.Minute},
		{"a fraction", "tripleo", "0.2", "", time.Second, 10 * time.Second},
		{"no number", "tripleo", "soon", "", time.Second, 10 * time.Second},
		{"an own timeout", "tripleo", "90", "3s", 2 * time.Second, 3 * time.Second},
		{"another profile", "sonic", "90", "", 1, 900 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env := map[string]string{"VITALS_PROFILE": tt.profile, "HEALTHCHECK_CURL_MAX_TIME": tt.maxTime, "VITALS_HEALTHCHECK_TIMEOUT": tt.timeout}
			if got := evaluationOf(t, env, "5672"); got < tt.least || got > tt.most {
				t.Errorf("the evaluation has %s, want %s to %s", got, tt.least, tt.most)
			}
		})
	}
}

var setting = regexp.MustCompile(`(?:export |--env=| )((?:VITALS|HEALTHCHECK)_[A-Z_]+)=([\w.-]+)`)

// What the page sets, and nothing else, gives an API the time of the scripts.
func TestTripleoPageGivesEnoughTime(t *testing.T) {
	data, err := os.ReadFile("../../docs/guides/tripleo.md")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(data), -1) {
		env := map[string]string{}
		for _, m := range setting.FindAllStringSubmatch(block[1], -1) {
			env[m[1]] = m[2]
		}
		if env["VITALS_PROFILE"] != "tripleo" {
			continue
		}
		checked++
		if got := evaluationOf(t, env); got <= 10*time.Second {
			t.Errorf("with %v the evaluation has %s, want more than the 10s of one request", env, got)
		}
	}
	if checked < 2 {
		t.Errorf("the page has %d examples, want the image and podman", checked)
	}
}

// The image gives an API that time as well.
func TestImageGivesEnoughTime(t *testing.T) {
	data, err := os.ReadFile("../../deploy/container/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`VITALS_HEALTHCHECK_TIMEOUT=(\w+)\nHEALTHCHECK --interval=\w+ --timeout=(\w+) `).FindStringSubmatch(string(data))
	if m == nil {
		t.Fatal("the image sets no timeouts, want those of the evaluation and of the check")
	}
	evaluation, _ := time.ParseDuration(m[1])
	check, _ := time.ParseDuration(m[2])
	if evaluation <= 10*time.Second || check <= evaluation {
		t.Errorf("the evaluation has %s and the check %s, want more than 10s, and more", evaluation, check)
	}
}
