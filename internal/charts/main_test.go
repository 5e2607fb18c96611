package charts_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what is rendered to testdata instead of comparing with it")

const (
	// root is the path of the repository's top folder.
	root = "../.."
	// binary names the program under test, for e2e/run as for these tests.
	binary = "VITALS_BIN"
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

// run runs the tests, with a program that it builds unless VITALS_BIN names one.
func run(m *testing.M) int {
	if os.Getenv(binary) != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "vitals-charts")
	if err != nil {
		fmt.Fprintln(os.Stderr, "charts:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "vitals")
	// As "make build" does it, so that nothing is compiled twice.
	build := exec.Command("go", "build", "-trimpath", "-tags", "grpcnotrace", "-o", path, "./cmd/vitals")
	build.Dir, build.Stderr = root, os.Stderr
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "charts: build vitals:", err)
		return 1
	}
	if err := os.Setenv(binary, path); err != nil {
		fmt.Fprintln(os.Stderr, "charts:", err)
		return 1
	}
	return m.Run()
}

// vitals runs the program and returns what it prints. It has to end with 0.
func vitals(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), os.Getenv(binary), args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("vitals %q: %v\n%s%s", args, err, out.String(), errs.String())
	}
	return out.String()
}

// read returns a file.
func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// write writes a file below a directory.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden.yaml")
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(read(t, path), text); diff != "" {
		t.Errorf("%s differs from what is rendered; after a review, run the tests with -update (-file +rendered):\n%s", path, diff)
	}
}
