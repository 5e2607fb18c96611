//go:build e2e

// Package e2e_test tests Vitals with a real Keystone, Neutron, Kubernetes API server and
// Prometheus, and with the programs with which components report. The script run starts
// the services; the tests break them one fault at a time. Interfaces of the kernel are
// tested in a virtual machine, which has the kernel of most nodes.
package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// stateVariable names the directory of the stacks.
const stateVariable = "VITALS_E2E_STATE"

// laneVariable names the lane of the script run in which the tests run; empty without lanes.
const laneVariable = "VITALS_E2E_LANE"

// environment is what the script run exports.
type environment struct {
	// state is the directory of the stacks: configurations, logs, process ids.
	state string
	// prometheus is the directory of the programs prometheus and promtool.
	prometheus string
	// vitals is the program under test.
	vitals string
}

// env reads the environment. A test that lacks it fails.
func env(t *testing.T) environment {
	t.Helper()
	e := environment{os.Getenv(stateVariable), os.Getenv("VITALS_E2E_PROMETHEUS"), os.Getenv("VITALS_BIN")}
	if e.state == "" || e.prometheus == "" || e.vitals == "" {
		t.Fatal("the stacks do not run: start the tests with e2e/run")
	}
	return e
}

// usesStacks fails a test that uses the stacks while others break them: one that begins with
// t.Parallel, which the script run starts beside those.
func usesStacks(t *testing.T) {
	t.Helper()
	if os.Getenv(laneVariable) == "beside" {
		t.Fatal("the stacks are not for tests that begin with t.Parallel: others break them at the same time")
	}
}

// cacheDirectory is where the script install.sh leaves what it builds and unpacks.
func cacheDirectory() (string, error) {
	if cache := os.Getenv("VITALS_E2E_CACHE"); cache != "" {
		return cache, nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".cache", "vitals-e2e"), err
}

// cached is the last path of that cache that matches a pattern. how is the part of install.sh
// that makes it.
func cached(t *testing.T, pattern, how string) string {
	t.Helper()
	cache, err := cacheDirectory()
	if err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(cache, pattern))
	if err != nil || len(found) == 0 {
		t.Fatalf("Glob(%q) = %v, %v, want what e2e/install.sh %s leaves there", pattern, found, err, how)
	}
	return slices.Max(found)
}

// logDirectory is where logs are kept: among those of the stacks, or, for tests that
// need none, until the end of the test.
func logDirectory(t *testing.T) string {
	t.Helper()
	if state := os.Getenv(stateVariable); state != "" {
		return filepath.Join(state, "log")
	}
	return t.TempDir()
}

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

// run runs the tests, with a program that it builds unless VITALS_BIN names one.
func run(m *testing.M) int {
	if job := os.Getenv(attackVariable); job != "" {
		return attackFrom(job)
	}
	if os.Getenv("VITALS_BIN") != "" {
		return runIndexed(m)
	}
	dir, err := os.MkdirTemp("", "vitals-bin")
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	bin := filepath.Join(dir, "vitals")
	build := exec.Command("go", "build", "-trimpath", "-tags", "grpcnotrace", "-o", bin, "../cmd/vitals")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "e2e: build vitals:", err)
		return 1
	}
	if err := os.Setenv("VITALS_BIN", bin); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	return runIndexed(m)
}

func runIndexed(m *testing.M) int {
	code := m.Run()
	if err := indexPictures(); err != nil {
		fmt.Fprintln(os.Stderr, "e2e: list the pictures:", err)
		return 1
	}
	return code
}
