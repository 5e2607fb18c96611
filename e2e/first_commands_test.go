//go:build e2e

package e2e_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Commands without flags find a daemon without flags, on a host of its own: an empty /run and a network. Root makes the
// directory of the socket. Without a socket, commands that read query the local address; a probe and commands that write
// do not.
func TestCommandsWithoutFlags(t *testing.T) {
	t.Parallel()
	const script = `
shown() { # NAME COMMAND...: its exit code, and its last line up to the first time
    local name=$1 code=0 text
    shift
    text=$("$@" 2>&1) || code=$?
    echo "$name: $code $(tail -n 1 <<<"$text" | sed -E 's, (since|until|20[0-9]{2}-).*,,')"
}
ended() { kill "$!" && wait "$!"; }
ip link set lo up
mount -t tmpfs none /run
umask 077

./vitals run --config.file=vitals.yml --web.shutdown-delay=0s >1.log 2>&1 &
shown wait ./vitals wait ready --timeout=30s --style=plain 2>/dev/null
echo "directory: $(stat -c '%a %U' /run/vitals)"
shown silence ./vitals silence Gone --for=1m
shown probe ./healthcheck --style=plain
shown stranger setpriv --reuid=65534 --regid=65534 --clear-groups ./vitals explain ready
shown second ./vitals run --config.file=vitals.yml --web.listen-address=127.0.0.1:8081
ended

./vitals run --config.file=vitals.yml --web.unix-socket= --web.shutdown-delay=0s >2.log 2>&1 &
shown wait ./vitals wait ready --timeout=30s --style=plain
shown explain ./vitals explain ready
shown list ./vitals silence
shown silence ./vitals silence Gone --for=1m
shown probe ./healthcheck --style=plain
ended

python3 -m http.server --bind 127.0.0.1 8080 >3.log 2>&1 &
until curl -s http://127.0.0.1:8080 >/dev/null; do sleep 0.1; done
shown other ./vitals explain ready
`
	const want = `wait: 0 ok 0 ready: 1 rule,
directory: 755 root
silence: 0 Gone is silenced
probe: 0 ok 0 ready: 1 rule,
stranger: 7 /run/vitals/vitals.sock may not be used: run as the daemon's user or in the socket's group, or start vitals with --web.unix-socket-mode=0666
second: 3 listen on the Unix socket /run/vitals/vitals.sock: another process answers on it: choose another path with --web.unix-socket=PATH, or none with --web.unix-socket=
wait: 0 ok 0 ready: 1 rule,
explain: 0 as of
list: 0 no rule is silenced
silence: 4 there is no socket /run/vitals/vitals.sock: expected --url=http://HOST:PORT with --token-file=FILE, which has server.operator_token of the daemon, or --socket=PATH
probe: 4 no daemon 4 there is no socket /run/vitals/vitals.sock: start vitals run, or provide /etc/vitals/vitals.yml or a profile to evaluate once without a daemon
other: 4 there is no socket /run/vitals/vitals.sock, and no daemon answers at http://127.0.0.1:8080: expected --url=http://HOST:PORT or --socket=PATH; --config.file=FILE or --profile=NAME evaluate without a daemon
`
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "bash", "-c", script)
	cmd.Dir = probes(t)
	cmd.Env = append(cmd.Environ(), "XDG_RUNTIME_DIR=")
	write(t, filepath.Join(cmd.Dir, "vitals.yml"), "rule_files: [rules.yml]\ncollectors: [{name: root, file: {path: /}}]\n")
	write(t, filepath.Join(cmd.Dir, "rules.yml"), `groups:
  - name: root
    rules:
      - alert: Gone
        expr: vitals_file_exists{file="root"} == 0
        labels: {state: ready, severity: critical}
        annotations: {summary: The root directory is gone.}
`)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if diff := cmp.Diff(want, string(out)); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s%s", err, diff, &errs)
	}
}
