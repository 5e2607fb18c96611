package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const tutorialPage = "docs/tutorial.md"

// tutorialServer is the address of the web server that the page starts.
const tutorialServer = "127.0.0.1:8000"

// writeTutorialFiles writes the files of the page to the current directory, with another
// address for its web server.
func writeTutorialFiles(t *testing.T, page, address string) {
	t.Helper()
	named := regexp.MustCompile(`^# (\w+\.yml|\w+\.yaml)\n`)
	written := 0
	for _, block := range docFences(tutorialPage, page, "yaml") {
		name := named.FindStringSubmatch(block.text)
		if name == nil {
			t.Fatalf("%s: the block does not name its file", block.where)
		}
		text := strings.ReplaceAll(block.text, tutorialServer, address)
		if err := os.WriteFile(filepath.Clean(name[1]), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		written++
	}
	if written != 5 {
		t.Errorf("%s has %d files, want 5", tutorialPage, written)
	}
}

// The commands of the page succeed when they are pasted, and have no findings: a first
// step must not end with a warning.
func TestTutorialCommands(t *testing.T) {
	page := readDoc(t, tutorialPage)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) }))
	defer server.Close()
	t.Chdir(t.TempDir())
	writeTutorialFiles(t, page, server.Listener.Addr().String())
	pasted := 0
	for _, block := range docFences(tutorialPage, page, "sh") {
		for line := range strings.Lines(block.text) {
			args := strings.Fields(line)
			if args[0] != "bin/vitals" {
				continue
			}
			if err := parseOnly(args[1:]); err != nil {
				t.Errorf("%s: %v", block.where, err)
			}
			if args[1] == "run" || args[1] == "explain" {
				continue
			}
			pasted++
			var out, errs bytes.Buffer
			code := run(args[1:], &out, &errs)
			if code != exitOK || errs.Len() > 0 || strings.Contains(out.String(), "cure:") {
				t.Errorf("%s exits with %d:\n%s%s", strings.TrimSpace(line), code, out.String(), errs.String())
			}
		}
	}
	if pasted != 7 {
		t.Errorf("%d commands of the page were run, want 7", pasted)
	}
}

// Without the web server, "vitals once" prints what the page shows.
func TestTutorialFailure(t *testing.T) {
	page := readDoc(t, tutorialPage)
	server := httptest.NewServer(http.NotFoundHandler())
	address := server.Listener.Addr().String()
	server.Close()
	t.Chdir(t.TempDir())
	writeTutorialFiles(t, page, address)
	var out, errs bytes.Buffer
	if code := run([]string{"once", "ready", "--config.file=vitals.yml"}, &out, &errs); code != exitFailing {
		t.Errorf("vitals once ready = %d %s, want %d", code, &errs, exitFailing)
	}
	times := regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|\d\.\d{3} seconds`)
	shown := docFences(tutorialPage, page, "text")
	got := times.ReplaceAllString(strings.ReplaceAll(out.String(), address, tutorialServer), "TIME")
	if len(shown) != 1 || times.ReplaceAllString(shown[0].text, "TIME") != got {
		t.Errorf("%s shows %v, want %s", tutorialPage, shown, got)
	}
}
