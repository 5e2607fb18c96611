package main

import (
	"bytes"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

// slowListener returns the address of a server with a full queue of connections. The kernel drops
// further ones until the server accepts, after wait, and a client then tries again.
func slowListener(t *testing.T, wait time.Duration) string {
	t.Helper()
	fd, address := collectortest.Backlog(t)
	first, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = first.Close() })
	time.AfterFunc(wait, func() {
		if conn, _, err := syscall.Accept(fd); err == nil {
			_ = syscall.Close(conn)
		}
	})
	return address
}

// The rules for a server to which Vitals only connects can fire, also the one for a slow server: a
// plain connection has neither an exchange nor a handshake.
func TestFirstRulesOfAPlainConnection(t *testing.T) {
	t.Chdir(t.TempDir())
	const entry = "collectors:\n  - name: web\n    tcp: {address: '%s'}\n"
	writeFile(t, "vitals.yml", fmt.Sprintf(entry, "127.0.0.1:1"))
	if out := succeed(t, "generate", "rules", "--config.file=vitals.yml"); !strings.HasPrefix(out, "web (tcp): WebDown, WebSlow\n") {
		t.Fatalf("vitals generate rules prints\n%s\nwant WebDown and WebSlow", out)
	}
	writeFile(t, "vitals.yml", "rule_files: ["+generatedRules+"]\n"+fmt.Sprintf(entry, slowListener(t, 1500*time.Millisecond)))
	var out, errs bytes.Buffer
	if code := run([]string{"once", "ready", "--config.file=vitals.yml"}, &out, &errs); code != exitOK || !strings.Contains(out.String(), "WebSlow failing: web took ") {
		t.Errorf("vitals once = %d, want WebSlow to fail:\n%s%s", code, out.String(), errs.String())
	}
}
