package vitals_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

const (
	// guide is the page that shows the program in testdata/embedding.
	guide = "docs/guides/embedding.md"
	// clientsGuide is the page that shows the clients of components.
	clientsGuide = "docs/guides/component-clients.md"
	// patience limits the time that a test waits for another process.
	patience = 2 * time.Minute
)

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// block returns the first block of a page in a language that has a text.
func block(t *testing.T, page, language, text string) string {
	t.Helper()
	for _, found := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(read(t, page), -1) {
		if strings.Contains(found[1], text) {
			return found[1]
		}
	}
	t.Fatalf("%s has no block in %s with %q, want one", page, language, text)
	return ""
}

// The pages show the files that are tested.
func TestPagesShowTheFiles(t *testing.T) {
	for _, shown := range []struct{ page, language, text, file string }{
		{guide, "go", "package main", "testdata/embedding/main.go"},
		{clientsGuide, "python", "import http.client", "collectors/components/testdata/client.py"},
		{clientsGuide, "sh", "#!/bin/sh", "collectors/components/testdata/client.sh"},
	} {
		file := read(t, shown.file)
		if got := block(t, shown.page, shown.language, shown.text); got != file {
			t.Errorf("%s shows\n%s\nwant %s:\n%s", shown.page, got, shown.file, file)
		}
		if lines := strings.Count(file, "\n"); lines > 55 {
			t.Errorf("%s has %d lines, want a screen", shown.file, lines)
		}
	}
	if lines := strings.Count(read(t, "testdata/embedding/main.go"), "\n"); lines > 25 {
		t.Errorf("the program has %d lines, want at most 25", lines)
	}
}

// The program of the guide runs with the files of the guide: ready follows its check, and the
// metrics and the page are there.
func TestProgramOfTheGuide(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "program")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-tags", "grpcnotrace", "-o", bin, "./testdata/embedding")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	containsNoTemplates(t, bin)
	for name, text := range map[string]string{"vitals.yml": "rule_files", "rules.yml": "groups"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(block(t, guide, "yaml", text+":")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	url := start(t, bin, dir)
	await(t, func() error {
		return answers(url+"/ready", http.StatusServiceUnavailable, "SpoolMissing failing: The spool is not mounted.")
	})
	if err := os.Mkdir(filepath.Join(dir, "spool"), 0o700); err != nil {
		t.Fatal(err)
	}
	await(t, func() error { return answers(url+"/ready", http.StatusOK, "ok") })
	for path, want := range map[string]string{
		"/alive": "ok", "/metrics": `vitals_dependency_up{dependency="spool"} 1`, "/": "<title>", "/api/v1/status": `"generation"`, "/-/healthy": "",
	} {
		if err := answers(url+path, http.StatusOK, want); err != nil {
			t.Error(err)
		}
	}
}

// containsNoTemplates fails if a program can execute a template: the linker then keeps the exported
// methods of all types.
func containsNoTemplates(t *testing.T, bin string) {
	t.Helper()
	symbols, err := exec.CommandContext(t.Context(), "go", "tool", "nm", bin).Output()
	if err != nil {
		t.Fatalf("go tool nm: %v", err)
	}
	if !strings.Contains(string(symbols), "vitals/evaluator.(*Evaluator).Run") {
		t.Fatal("go tool nm names no method of the evaluator, want all symbols of the program")
	}
	for _, symbol := range []string{"text/template.(*Template).Execute", "text/template.(*state).walk", "html/template.(*Template).Execute"} {
		if strings.Contains(string(symbols), symbol) {
			t.Errorf("the program contains %s, want it only in one that calls vitals.Templates", symbol)
		}
	}
}

// start runs a program with an address of loopback as its argument, until the end of the test.
func start(t *testing.T, bin, dir string) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	cmd := exec.Command(bin, address)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		if t.Failed() {
			t.Logf("log of the program:\n%s", log.String())
		}
	})
	return "http://" + address
}

// answers requests a URL once, and compares the status and a part of the body.
func answers(url string, status int, part string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return err
	}
	if resp.StatusCode != status || !strings.Contains(string(body), part) {
		return fmt.Errorf("GET %s = %d %.500s, want %d with %q", url, resp.StatusCode, body, status, part)
	}
	return nil
}

// await waits until a condition holds.
func await(t *testing.T, check func() error) {
	t.Helper()
	late := time.After(patience)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("not within %s: %v", patience, err)
		}
	}
}
