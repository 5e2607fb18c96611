//go:build e2e

package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Users and groups that do not exist on the machine.
const (
	strangerID = 64001
	writerID   = 64002
	groupID    = 64003
)

// as is a user that a program runs as.
type as struct {
	user, group uint32
	groups      []uint32
}

// command prepares a program that runs as the user.
func (u as) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: u.user, Gid: u.group, Groups: u.groups}}
	cmd.Dir = "/"
	return cmd
}

// curl sends one request over the socket and returns the body, a space and the status.
func (u as) curl(t *testing.T, socket, method, path, body string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := u.command(ctx, "curl", "-sS", "--unix-socket", socket, "-X", method, "-d", body, "-w", " %{http_code}", "http://vitals"+path)
	if method == http.MethodGet {
		cmd = u.command(ctx, "curl", "-sS", "--unix-socket", socket, "-w", " %{http_code}", "http://vitals"+path)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Sprintf("%s (%v)", out.String(), err)
	}
	return out.String()
}

// openDirectory is a directory that every user may enter.
func openDirectory(t *testing.T) string {
	t.Helper()
	dir := shortDirectory(t, "")
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// socketDaemon runs Vitals as root with a socket and a component.
func socketDaemon(t *testing.T, flags ...string) (socket string) {
	t.Helper()
	dir := openDirectory(t)
	config := filepath.Join(dir, "vitals.yml")
	if err := os.WriteFile(config, []byte("collectors: [{name: parts, components: {expect: [watcher]}}]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	socket = filepath.Join(dir, "vitals.sock")
	listen := address(t)
	args := append([]string{os.Getenv("VITALS_BIN"), "run", "--config.file=" + config, "--web.listen-address=" + listen,
		"--web.unix-socket=" + socket, "--web.shutdown-delay=0s", "--web.enable-lifecycle"}, flags...)
	d := daemon{launch(t, listen, args...)}
	await(t, "vitals listens", time.Minute, func() error { return d.want("/alive", http.StatusOK) })
	return socket
}

// All users may probe over a socket with mode 0666, and some may write.
func TestSocketWriters(t *testing.T) {
	t.Parallel()
	socket := socketDaemon(t, "--web.unix-socket-mode=0666", fmt.Sprintf("--web.unix-socket-group=%d", groupID), fmt.Sprintf("--web.unix-socket-writer=%d", writerID))
	many := make([]uint32, 100) // more than the first question has room for
	for i := range many {
		many[i] = uint32(65000 + i)
	}
	for name, tt := range map[string]struct {
		user as
		may  bool
	}{
		"root":                        {as{0, 0, nil}, true},
		"a writer who is named":       {as{writerID, writerID, nil}, true},
		"the socket's group":          {as{strangerID, groupID, nil}, true},
		"the socket's group, one of":  {as{strangerID, strangerID, append([]uint32{groupID}, many...)}, true},
		"a stranger":                  {as{strangerID, strangerID, nil}, false},
		"a stranger with many groups": {as{strangerID, strangerID, many}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tt.user.curl(t, socket, "GET", "/alive", ""); got != "ok 200" {
				t.Errorf("GET /alive = %q, want 200: all users may probe", got)
			}
			for request, want := range map[string]string{
				"PUT /api/v1/components/watcher": " 204",
				"POST /-/reload":                 "The configuration was reloaded.\n 200",
			} {
				method, path, _ := strings.Cut(request, " ")
				if !tt.may {
					want = fmt.Sprintf("the user %d may read and not write: write as the daemon's user (0) or in the socket's group (%d), or start vitals with --web.unix-socket-writer=%d\n 403",
						strangerID, groupID, strangerID)
				}
				if got := tt.user.curl(t, socket, method, path, `{"alive": true}`); got != want {
					t.Errorf("%s = %q, want %q", request, got, want)
				}
			}
		})
	}
}
