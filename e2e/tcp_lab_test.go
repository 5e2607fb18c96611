//go:build e2e

package e2e_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/common/model"
)

// tcpWithin bounds what shows with the next collections.
const tcpWithin = time.Minute

// startsWithin bounds how long the slowest server takes to start.
const startsWithin = 3 * time.Minute

// tcpServer is a real server that a test owns, and may end and start again.
type tcpServer struct {
	command []string
	log     string
	cmd     *exec.Cmd
}

// tcpServe starts a server, which ends with the test.
func tcpServe(t *testing.T, command ...string) *tcpServer {
	t.Helper()
	name := strings.ReplaceAll(t.Name(), "/", "-") + "-" + filepath.Base(command[0])
	s := &tcpServer{command: command, log: filepath.Join(logDirectory(t), name+".log")}
	t.Cleanup(s.kill)
	s.start(t)
	return s
}

func (s *tcpServer) start(t *testing.T) {
	t.Helper()
	log, err := os.OpenFile(s.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	s.cmd = exec.Command(s.command[0], s.command[1:]...)
	s.cmd.Stdout, s.cmd.Stderr = log, log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a script and what it starts are one server
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
}

// signal sends a signal to the server.
func (s *tcpServer) signal(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(-s.cmd.Process.Pid, signal); err != nil {
		t.Fatalf("%s: %v", s.command[0], err)
	}
}

// kill ends the server as the kernel does when memory runs out.
func (s *tcpServer) kill() {
	if s.cmd.ProcessState == nil {
		_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
	}
	_ = s.cmd.Wait()
}

// tcpAsking is a Vitals with collectors of the kind tcp.
type tcpAsking struct{ daemon }

// tcpAsk runs Vitals with a collector of the kind tcp for each block, all of which have to
// succeed for ready.
func tcpAsk(t *testing.T, blocks map[string]string) tcpAsking {
	t.Helper()
	return serverAsk(t, "tcp", blocks)
}

// serverAsk does so with another kind.
func serverAsk(t *testing.T, kind string, blocks map[string]string) tcpAsking {
	t.Helper()
	all := map[string]string{}
	for name, block := range blocks {
		all[name] = kind + ": {" + block + "}"
	}
	return watch(t, all, `{alert: ServerDown, expr: vitals_dependency_up == 0, labels: {state: ready}, annotations: {summary: "{{ $labels.dependency }} is down."}}`)
}

// watch runs Vitals with collectors of any kinds, and with these rules. All together collect ten times a
// second: a server that forks for each connection needs more than two processors for 50.
func watch(t *testing.T, blocks map[string]string, rules ...string) tcpAsking {
	t.Helper()
	dir := shortDirectory(t, "")
	interval := max(500*time.Millisecond, time.Duration(len(blocks))*100*time.Millisecond)
	var config strings.Builder
	config.WriteString("evaluation_interval: 200ms\nrule_files: [rules.yml]\ncollectors:\n")
	for _, name := range slices.Sorted(maps.Keys(blocks)) {
		fmt.Fprintf(&config, "  - {name: %s, interval: %s, timeout: %s, %s}\n", name, model.Duration(interval), model.Duration(interval*4/5), blocks[name])
	}
	all := "groups: [{name: g, rules: [" + strings.Join(rules, ", ") + "]}]"
	for file, text := range map[string]string{"vitals.yml": config.String(), "rules.yml": all} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return tcpAsking{runVitals(t, os.Getenv("VITALS_BIN"), filepath.Join(dir, "vitals.yml"), dir)}
}

// breaks waits until a collector has a reason and a part of its note, and until ready fails.
func (a tcpAsking) breaks(t *testing.T, name, reason, note string) {
	t.Helper()
	a.sees(t, name, reason, note)
	a.ready(t, http.StatusServiceUnavailable)
}

// outcome is the reason why the last collection failed, "" if it did not, and
// its note.
func (a tcpAsking) outcome(name string) (reason, note string, err error) {
	_, metrics, err := a.get("/metrics")
	if err != nil {
		return "", "", err
	}
	switch before, _, failed := strings.Cut(metrics, `"} 1`+"\n"); {
	case strings.Contains(metrics, fmt.Sprintf("vitals_dependency_up{dependency=%q} 1\n", name)):
	case !strings.Contains(metrics, fmt.Sprintf("vitals_dependency_up{dependency=%q} 0\n", name)):
		return "", "", fmt.Errorf("%s has not been checked", name)
	default:
		prefix := fmt.Sprintf("vitals_dependency_failure{dependency=%q,reason=\"", name)
		for ; failed && reason == ""; before, metrics, failed = strings.Cut(metrics, `"} 1`+"\n") {
			if i := strings.LastIndex(before, prefix); i >= 0 && !strings.Contains(before[i:], "\n") {
				reason = before[i+len(prefix):]
			}
		}
	}
	_, status, err := a.get("/api/v1/status")
	if err != nil {
		return "", "", err
	}
	var snapshot struct {
		Collectors []struct{ Name, Note string }
	}
	if err := json.Unmarshal([]byte(status), &snapshot); err != nil {
		return "", "", err
	}
	for _, c := range snapshot.Collectors {
		if c.Name == name {
			note = c.Note
		}
	}
	return reason, note, nil
}

// sees waits until a collector has a reason, "" for none, and a part of its note.
func (a tcpAsking) sees(t *testing.T, name, reason, note string) {
	t.Helper()
	a.seesWithin(t, tcpWithin, name, reason, note)
}

func (a tcpAsking) seesWithin(t *testing.T, within time.Duration, name, reason, note string) {
	t.Helper()
	await(t, name+" is "+reason, within, func() error {
		gotReason, gotNote, err := a.outcome(name)
		if err == nil && (gotReason != reason || !strings.Contains(gotNote, note)) {
			err = fmt.Errorf("%s has the reason %q and the note %q, want %q and %q", name, gotReason, gotNote, reason, note)
		}
		return err
	})
}

// recovered waits until a collector succeeds again, and compares when it did with the interval: a
// collection that was running at the change may still fail, but not the next one.
func (a tcpAsking) recovered(t *testing.T, name string, change time.Time, healthy string) {
	t.Helper()
	a.sees(t, name, "", healthy)
	const interval, jitter = 500 * time.Millisecond, 1.05
	series := regexp.MustCompile(fmt.Sprintf(`(?m)^vitals_collector_last_success_timestamp_seconds\{collector=%q\} (\S+)$`, name))
	_, metrics, err := a.get("/metrics")
	found := series.FindStringSubmatch(metrics)
	if err != nil || found == nil {
		t.Fatalf("no success of %s in the metrics (%v)", name, err)
	}
	at, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	seen := time.UnixMicro(int64(at * 1e6))
	if limit := time.Duration(jitter * 2 * float64(interval)); seen.Sub(change) > limit+10*time.Second {
		t.Errorf("%s succeeded %s after the change, want within %s and the time of a busy machine", name, seen.Sub(change), limit)
	}
}

// useUp holds all connections of a server, and waits until a collector has one of the reasons and
// ready fails. The function that it returns releases them.
func (a tcpAsking) useUp(t *testing.T, name, listen string, connections int, reasons ...string) (release func()) {
	t.Helper()
	var held []net.Conn
	release = func() {
		for _, conn := range held {
			_ = conn.Close()
		}
	}
	t.Cleanup(release)
	await(t, "the connections are used up", tcpWithin, func() error {
		for range connections {
			conn, err := net.DialTimeout("tcp", listen, time.Second)
			if err != nil {
				break // the server accepts no more
			}
			held = append(held, conn)
		}
		reason, note, err := a.outcome(name)
		if err == nil && !slices.Contains(reasons, reason) {
			err = fmt.Errorf("%s has the reason %q and the note %q, want one of %q", name, reason, note, reasons)
		}
		return err
	})
	a.ready(t, http.StatusServiceUnavailable)
	return release
}

// faults stops a server, goes on, kills it and starts it again, and compares the
// results of a collector.
func (a tcpAsking) faults(t *testing.T, s *tcpServer, name, healthy string) {
	t.Helper()
	t.Run("E06 stopped by SIGSTOP", func(t *testing.T) {
		s.signal(t, syscall.SIGSTOP)
		a.sees(t, name, "timeout", "timeout")
	})
	t.Run("continued", func(t *testing.T) {
		s.signal(t, syscall.SIGCONT)
		a.sees(t, name, "", healthy)
	})
	t.Run("E04 killed", func(t *testing.T) {
		s.kill()
		a.sees(t, name, "refused", "connection refused")
	})
	t.Run("started again", func(t *testing.T) {
		s.start(t)
		a.seesWithin(t, startsWithin, name, "", healthy)
	})
}

// verdict stops a server and continues it, and compares ready with the results of a collector.
func (a tcpAsking) verdict(t *testing.T, s *tcpServer, name, healthy string) {
	t.Helper()
	ready := func(status int) {
		t.Helper()
		await(t, "ready", tcpWithin, func() error { return a.want("/ready", status) })
	}
	ready(http.StatusOK)
	s.signal(t, syscall.SIGSTOP)
	a.sees(t, name, "timeout", "timeout")
	ready(http.StatusServiceUnavailable)
	s.signal(t, syscall.SIGCONT)
	a.recovered(t, name, time.Now(), healthy)
	ready(http.StatusOK)
}

// tcpPort is the port of an address.
func tcpPort(t *testing.T, address string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// tcpSay sends text to a server and waits for an answer that contains want.
func tcpSay(t *testing.T, network, address, text, want string) {
	t.Helper()
	await(t, "the server answers "+want, tcpWithin, func() error {
		conn, err := net.DialTimeout(network, address, time.Second)
		if err != nil {
			return err
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(2 * time.Second))
		if _, err := io.WriteString(conn, text); err != nil {
			return err
		}
		var got []byte
		for !strings.Contains(string(got), want) {
			piece := make([]byte, 4096)
			n, err := conn.Read(piece)
			if got = append(got, piece[:n]...); err != nil {
				return fmt.Errorf("got %q, want %q: %w", got, want, err)
			}
		}
		return nil
	})
}

// tcpCertificates makes an authority, and a certificate for localhost that server and
// client both use: ca.pem, cert.pem and key.pem in the directory.
func tcpCertificates(t *testing.T, dir string) {
	t.Helper()
	write := func(name, kind string, der []byte, err error) {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	from := time.Now().Add(-time.Hour)
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: from, NotAfter: from.Add(48 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, authority, authority, &key.PublicKey, key)
	write("ca.pem", "CERTIFICATE", der, err)
	der, err = x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "localhost"}, NotBefore: from, NotAfter: from.Add(24 * time.Hour),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, authority, &key.PublicKey, key)
	write("cert.pem", "CERTIFICATE", der, err)
	der, err = x509.MarshalPKCS8PrivateKey(key)
	write("key.pem", "PRIVATE KEY", der, err)
}
