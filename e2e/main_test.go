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
	"testing"
)

// stateVariable names the directory of the stacks.
const stateVariable = "VITALS_E2E_STATE"

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

// run builds the program unless VITALS_BIN names one.
func run(m *testing.M) int {
	if os.Getenv("VITALS_BIN") != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "vitals-bin")
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	bin := filepath.Join(dir, "vitals")
	build := exec.Command("go", "build", "-tags", "grpcnotrace", "-o", bin, "../cmd/vitals")
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
	return m.Run()
}
