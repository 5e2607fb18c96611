//go:build e2e

package e2e_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// grpcServer runs a server of grpc-go with its health service.
func grpcServer(t *testing.T, listen string, options ...string) *tcpServer {
	t.Helper()
	cache := os.Getenv("VITALS_E2E_CACHE")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(home, ".cache", "vitals-e2e")
	}
	program := filepath.Join(cache, "grpchealth")
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("%v: run e2e/install.sh grpc first", err)
	}
	return tcpServe(t, append([]string{program, "-listen=" + listen}, options...)...)
}

func TestGRPC(t *testing.T) {
	t.Parallel()
	plain, secured, strict, without, slow, dir := address(t), address(t), address(t), address(t), address(t), shortDirectory(t, "")
	tcpCertificates(t, dir)
	token := filepath.Join(dir, "token")
	if err := os.WriteFile(token, []byte("Bearer test-password\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := grpcServer(t, plain)
	grpcServer(t, secured, "-cert="+dir+"/cert.pem", "-key="+dir+"/key.pem")
	grpcServer(t, strict, "-token=Bearer test-password")
	grpcServer(t, without, "-without-health")
	grpcServer(t, slow, "-delay=1m")
	grpcServer(t, dir+"/grpc.sock", "-network=unix")
	of := func(address, more string) string { return "address: '" + address + "'" + more }
	a := serverAsk(t, "grpc", map[string]string{
		"plain":   of(plain, ""),
		"service": of(plain, ", service: demo.Api"),
		"missing": of(plain, ", service: demo.Other"),
		"socket":  of("unix:"+dir+"/grpc.sock", ""),
		"tls":     of(secured, ", tls: {server_name: localhost, ca_file: "+dir+"/ca.pem}"),
		"name":    of(secured, ", tls: {server_name: other.example, ca_file: "+dir+"/ca.pem}"),
		"clear":   of(secured, ""),
		"tls-to":  of(plain, ", tls: {insecure_skip_verify: true}"),
		"token":   of(strict, ", metadata_files: {authorization: "+token+"}"),
		"wrong":   of(strict, ", metadata: {authorization: Bearer test-password-wrong}"),
		"without": of(without, ""),
		"slow":    of(slow, ""),
	})
	a.staysAlive(t)
	for _, c := range []struct{ name, collector, reason, note string }{
		{"the whole server", "plain", "", "grpc " + plain + " SERVING"},
		{"a service", "service", "", "demo.Api SERVING"},
		{"an unknown service", "missing", "not_found", "grpc-status 5: unknown service"},
		{"a Unix socket", "socket", "", "SERVING"},
		{"TLS", "tls", "", "SERVING"},
		{"another name", "name", "tls", "other.example"},
		{"plain text to a port with TLS", "clear", "protocol", "protocol: "},
		{"TLS to a port without", "tls-to", "tls", "tls handshake"},
		{"metadata", "token", "", "SERVING"},
		{"wrong metadata", "wrong", "auth", "grpc-status 16: the token"},
		{"no health service", "without", "missing_endpoint", "grpc-status 12: unknown service grpc.health.v1.Health"},
		{"slow", "slow", "timeout", "timeout: "},
	} {
		t.Run(c.name, func(t *testing.T) { a.sees(t, c.collector, c.reason, c.note) })
	}
	t.Run("metrics", func(t *testing.T) {
		a.exports(t, `vitals_grpc_serving_status{dependency="plain",status="serving"} 1`, `vitals_grpc_status_code{dependency="without"} 12`, `vitals_grpc_status_code{dependency="plain"} 0`)
	})
	t.Run("drains", func(t *testing.T) {
		s.signal(t, syscall.SIGUSR1)
		a.sees(t, "plain", "server_error", "returned NOT_SERVING")
		a.exports(t, `vitals_grpc_serving_status{dependency="plain",status="not_serving"} 1`)
	})
	t.Run("serves again", func(t *testing.T) {
		s.signal(t, syscall.SIGUSR2)
		a.recovered(t, "plain", time.Now(), "SERVING")
	})
	a.faults(t, s, "service", "SERVING")
}

// The verdict follows the server within collections, and liveness does not.
func TestGRPCVerdict(t *testing.T) {
	t.Parallel()
	listen := address(t)
	s := grpcServer(t, listen)
	a := serverAsk(t, "grpc", map[string]string{"api": "address: '" + listen + "'"})
	a.staysAlive(t)
	a.verdict(t, s, "api", "SERVING")
}

// A check of gRPC against servers of other protocols fails.
func TestGRPCWrongProtocol(t *testing.T) {
	t.Parallel()
	redis, keys, dir := address(t), address(t), shortDirectory(t, "")
	redisServer(t, redis, dir, "--save", "")
	memcached(t, "-l", "127.0.0.1", "-p", tcpPort(t, keys))
	a := serverAsk(t, "grpc", map[string]string{"redis": "address: '" + redis + "'", "memcached": "address: '" + keys + "'"})
	a.staysAlive(t)
	a.sees(t, "redis", "protocol", "protocol: ")
	a.sees(t, "memcached", "protocol", "protocol: ")
}
