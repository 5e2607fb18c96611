//go:build e2e

package e2e_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// client is one of the documented clients of components.
type client struct {
	name string
	// command runs it.
	command []string
	// rejected and away are the exit codes for a report that Vitals rejects, and without Vitals.
	rejected, away int
	// gone is a part of what it prints without Vitals.
	gone string
}

func clients() []client {
	return []client{
		{"python", []string{"python3", filepath.Join(componentFiles, "client.py")}, 1, 1, "no report: "},
		{"shell", []string{"sh", filepath.Join(componentFiles, "client.sh")}, 22, 7, "curl: (7)"},
	}
}

// report runs a client with variables, to its end. It compares the exit code and a part of what it
// prints.
func (c client) report(t *testing.T, variables []string, code int, part string, args ...string) {
	t.Helper()
	cmd := exec.Command(c.command[0], append(c.command[1:], args...)...)
	cmd.Env = append(os.Environ(), variables...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	kill := time.AfterFunc(componentSlack, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	_ = cmd.Run() // compared below
	if got := cmd.ProcessState.ExitCode(); got != code || !strings.Contains(out.String(), part) {
		t.Errorf("%s %q with %q = %d %q, want %d with %q", c.name, args, variables, got, out.String(), code, part)
	}
	if strings.Contains(out.String(), componentToken) || strings.Contains(out.String(), "wrong-token") {
		t.Errorf("%s %q prints its token: %q", c.name, args, out.String())
	}
}

// The documented clients report over the Unix socket and over TCP. They fail, and print why, with
// a wrong token, for a component that is not expected, and without Vitals.
func TestComponentClients(t *testing.T) {
	for _, c := range clients() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := startParts(t, "expect: [watcher]")
			for name, text := range map[string]string{"token": componentToken + "\n", "wrong": "wrong-token\n"} {
				if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			overSocket := []string{"VITALS_SOCKET=" + p.dir + "/vitals.sock"}
			overTCP := []string{"VITALS_URL=" + p.url, "VITALS_TOKEN_FILE=" + p.dir + "/token"}
			p.await(t, "unknown before the first report", componentSlack, neverReported)
			for _, variables := range [][]string{overSocket, overTCP} {
				c.report(t, variables, 0, "", "watcher", "ready")
				p.await(t, "ready", componentSlack, wellReported)
				c.report(t, variables, 0, "", "watcher", "not-ready", "subnet \"a\\b\"\nis full")
				p.await(t, "not ready", componentSlack, notReadyFor(`subnet "a\b" is full`))
				c.report(t, variables, 0, "", "watcher", "dead", "queue is stuck")
				p.await(t, "dead", componentSlack, deadFor("queue is stuck"))
				c.report(t, variables, c.rejected, `unknown component "stranger": expected one of watcher`, "stranger", "ready")
			}
			c.report(t, []string{overTCP[0], "VITALS_TOKEN_FILE=" + p.dir + "/wrong"}, c.rejected, "need the header Authorization", "watcher", "ready")
			p.await(t, "dead after a rejected report", componentSlack, deadFor("queue is stuck"))
			for _, variables := range [][]string{{"VITALS_SOCKET=" + p.dir + "/none.sock"}, {"VITALS_URL=http://" + address(t), overTCP[1]}} {
				c.report(t, variables, c.away, c.gone, "watcher", "ready")
			}
		})
	}
}
