//go:build e2e

package e2e_test

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

// novaConductor is a service that connects to a broker and does no more. Its name is
// in its command line, as for every service of OpenStack. It connects to further addresses
// and closes those connections at once.
const novaConductor = `import socket, sys, time
def connect(address):
    host, port = address.rsplit(":", 1)
    s = socket.socket()
    s.setblocking(False)
    try:
        s.connect((host, int(port)))
    except BlockingIOError:
        pass
    time.sleep(0.3)
    return s
kept = connect(sys.argv[1])
for left in [connect(address) for address in sys.argv[2:]]:
    left.close()
time.sleep(3600)
`

// conductor runs the service until the end of the test.
func (l *tripleoLab) conductor(t *testing.T, addresses ...string) {
	t.Helper()
	tcpServe(t, append([]string{"python3", filepath.Join(l.dir, "usr/bin/nova-conductor")}, addresses...)...)
}

// broker listens, and closes what it accepts, at once or when the client has left.
func broker(t *testing.T, keep bool) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				if keep {
					_, _ = io.Copy(io.Discard, conn)
				}
				_ = conn.Close()
			}()
		}
	}()
	return l.Addr().String()
}

// fullBroker listens and accepts no more connections: a client stays in SYN_SENT.
func fullBroker(t *testing.T) string {
	t.Helper()
	_, address := collectortest.Backlog(t)
	first, err := net.Dial("tcp", address) // the one that the queue has room for
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = first.Close() })
	return address
}

// What a connection to RabbitMQ has to be, for a service whose port is given.
func TestTripleoConnections(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		// broker makes what the service connects to, and elsewhere, where it is set, what
		// it keeps a connection to while it leaves the broker.
		broker    func(*testing.T) string
		elsewhere bool
		// running is false where the service is not even started.
		running bool
		code    int
		line    string
	}{
		{"E11 established", func(t *testing.T) string { return broker(t, true) }, false, true, 0, "^ok 0 ready: .*port PORT: 1 established"},
		{"E12 SYN_SENT", fullBroker, false, true, 1, `has no established connection to RabbitMQ \(ports PORT\), 1 in syn_sent\.`},
		{"E13 CLOSE_WAIT", func(t *testing.T) string { return broker(t, false) }, false, true, 1, `\(ports PORT\), 1 in close_wait\.`},
		{"E14 TIME_WAIT", func(t *testing.T) string { return broker(t, true) }, true, true, 1, `\(ports PORT\), 1 in time_wait\.`},
		{"E15 the service does not run", func(t *testing.T) string { return broker(t, true) }, false, false, 1, "nova-conductor does not run and so has no established connection to RabbitMQ.* PORT"},
		{"E16 another port", func(t *testing.T) string { return "127.0.0.1:1" }, true, true, 1, `no established connection to RabbitMQ \(ports 1\)\.`},
	} {
		t.Run(c.name, func(t *testing.T) {
			lab := newTripleoLab(t, map[string]string{"usr/bin/nova-conductor": novaConductor})
			to := c.broker(t)
			port := tcpPort(t, to)
			switch {
			case c.running && c.elsewhere:
				lab.conductor(t, broker(t, true), to)
			case c.running:
				lab.conductor(t, to)
			}
			lab.serve(t, "nova-conductor", "arguments="+port)
			lab.ends(t, "nova-conductor", []string{port}, c.code, strings.ReplaceAll(c.line, "PORT", port))
		})
	}
}

// An sshd is what a container of nova-compute is for where nova-compute does not run.
func TestTripleoMigrationTarget(t *testing.T) {
	t.Parallel()
	listen := address(t)
	lab := newTripleoLab(t, nil)
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", lab.dir+"/key").CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen: %v\n%s", err, out)
	}
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
		t.Fatal(err)
	}
	lab.write(t, "sshd_config", "ListenAddress "+listen+"\nHostKey "+lab.dir+"/key\nPidFile none\nUsePAM no\n")
	arguments := []string{tcpPort(t, listen)}
	lab.serve(t, "nova-compute", "arguments="+arguments[0])
	server := tcpServe(t, "/usr/sbin/sshd", "-D", "-e", "-f", lab.dir+"/sshd_config")
	t.Run("E20 sshd listens", func(t *testing.T) {
		lab.ends(t, "nova-compute", arguments, 0, "^ok 0 ready: .*sshd: .*TCP "+arguments[0]+": listens")
	})
	t.Run("E20 sshd listens elsewhere", func(t *testing.T) {
		out, code := lab.alone(t, "nova-compute", "2022")
		if code != 1 || !strings.HasPrefix(out, "failing 1 NotListening failing: sshd does not listen on port 2022/tcp.") {
			t.Errorf("healthcheck = %d %q, want 1", code, out)
		}
	})
	t.Run("E27 sshd is gone", func(t *testing.T) {
		server.kill()
		// Another sshd of the machine would be one, too.
		lab.ends(t, "nova-compute", arguments, 1, "^(unknown 1 NothingToCheck unknown: no data for tripleo_role|failing 1 NotListening)")
	})
}

func TestTripleoRsync(t *testing.T) {
	t.Parallel()
	listen := address(t)
	lab := newTripleoLab(t, nil)
	lab.write(t, "rsyncd.conf", "port = "+tcpPort(t, listen)+"\naddress = 127.0.0.1\nuse chroot = no\npid file = "+lab.dir+"/rsyncd.pid\n")
	server := tcpServe(t, "/usr/bin/rsync", "--daemon", "--no-detach", "--config="+lab.dir+"/rsyncd.conf")
	arguments := []string{tcpPort(t, listen)}
	lab.serve(t, "swift-rsync", "arguments="+arguments[0])
	t.Run("E20 rsync listens", func(t *testing.T) {
		lab.ends(t, "swift-rsync", arguments, 0, "^ok 0 ready: ")
	})
	t.Run("E20 rsync listens elsewhere", func(t *testing.T) {
		out, code := lab.alone(t, "swift-rsync")
		if code != 1 || !strings.HasPrefix(out, "failing 1 NotListening failing: rsync does not listen on port 873/tcp.") {
			t.Errorf("healthcheck = %d %q, want 1", code, out)
		}
	})
	t.Run("E15 rsync is gone", func(t *testing.T) {
		server.kill()
		// Another rsync of the machine would run.
		lab.ends(t, "swift-rsync", arguments, 1, "^failing 1 NotListening failing: rsync does not (run and so does not )?listen.* "+arguments[0])
	})
}
