package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The process' own user, at least, may write.
func TestSocketModeAndGroup(t *testing.T) {
	dir := t.TempDir()
	config := write(t, dir, "vitals.yml", "collectors: [{name: parts, components: {expect: [watcher]}}]\n")
	p := runVitals(t, config, "--web.enable-lifecycle", "--web.unix-socket-mode=0666", fmt.Sprintf("--web.unix-socket-group=%d", os.Getgid()))
	info, err := os.Lstat(p.socket)
	if err != nil || info.Mode().Perm() != 0o666 {
		t.Errorf("Lstat() of the socket = %v, %v, want the mode 666", info, err)
	}
	client := &http.Client{Transport: overSocket(p.socket), Timeout: patience}
	for _, tt := range []struct {
		method, path, body string
		code               int
	}{
		{"PUT", "/api/v1/components/watcher", `{"alive": true}`, 204},
		{"POST", "/-/reload", "", 200},
		{"GET", "/alive", "", 200},
	} {
		r, err := http.NewRequest(tt.method, "http://vitals"+tt.path, strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(r)
		if err != nil || answer.StatusCode != tt.code {
			t.Fatalf("%s %s = %v, %v, want %d", tt.method, tt.path, answer, err, tt.code)
		}
		_ = answer.Body.Close()
	}
}

// Exec probes work again after the socket's file was removed.
func TestSocketThatIsRemoved(t *testing.T) {
	_, config := markerConfig(t)
	p := runVitals(t, config)
	p.waitReady()
	if err := os.Remove(p.socket); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the exec probe to pass", func() bool {
		return exec.Command("vitals", "wait", "ready", "--timeout=10s", "--socket="+p.socket).Run() == nil
	})
	if !p.metric("vitals_unix_socket_listening 1") {
		t.Error("/metrics has no vitals_unix_socket_listening 1")
	}
	eventually(t, "the event to be logged", func() bool {
		return strings.Contains(p.log.String(), `msg="the Unix socket was removed and made again"`)
	})
}
