package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	grpccredentials "google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	healthgrpc "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	grpcstatus "google.golang.org/grpc/status"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

// health returns a client of the health service at an address; unix:PATH for a socket.
func health(t testing.TB, address string, with grpccredentials.TransportCredentials) healthgrpc.HealthClient {
	t.Helper()
	if !strings.HasPrefix(address, "unix:") {
		address = "passthrough:///" + strings.TrimPrefix(address, "http://")
	}
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(with))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return healthgrpc.NewHealthClient(conn)
}

// within returns a context that ends after patience.
func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// serving returns the status of a service, or the code of the error.
func serving(ctx context.Context, c healthgrpc.HealthClient, service string) string {
	r, err := c.Check(ctx, &healthgrpc.HealthCheckRequest{Service: service})
	if err != nil {
		return grpcstatus.Code(err).String()
	}
	return r.GetStatus().String()
}

// grpcAddress returns the address of the listener for gRPC.
func (p *runningVitals) grpcAddress() string {
	p.t.Helper()
	var at []string
	eventually(p.t, "the listener for gRPC", func() bool {
		at = regexp.MustCompile(`msg="listening for gRPC" address=(\S+)`).FindStringSubmatch(p.log.String())
		return at != nil
	})
	return at[1]
}

// Every listener has the health service, with the verdicts of the probes over HTTP.
func TestHealthOverGRPC(t *testing.T) {
	t.Parallel()
	dir, config := markerConfig(t)
	p := runVitals(t, config, "--probe.listen-address=127.0.0.1:0", "--grpc.listen-address=127.0.0.1:0")
	p.waitReady()
	doors := map[string]healthgrpc.HealthClient{}
	for name, address := range map[string]string{"web": p.url, "probes": p.probes, "socket": "unix:" + p.socket, "grpc": p.grpcAddress()} {
		doors[name] = health(t, address, insecure.NewCredentials())
	}
	expect := func(want map[string]string) {
		t.Helper()
		for name, c := range doors {
			for service, want := range want {
				eventually(t, fmt.Sprintf("%s: service %q to be %s", name, service, want), func() bool { return serving(within(t), c, service) == want })
			}
		}
	}
	expect(map[string]string{"": "SERVING", "ready": "SERVING", "ready/Bad": "SERVING", "alive": "SERVING", "redy": codes.NotFound.String()})
	write(t, dir, "bad", "")
	expect(map[string]string{"": "NOT_SERVING", "ready": "NOT_SERVING", "ready/Bad": "NOT_SERVING", "readyz": "NOT_SERVING", "alive": "SERVING", "started": "SERVING"})
	for name, c := range doors {
		all, err := c.List(within(t), &healthgrpc.HealthListRequest{})
		if err != nil || all.GetStatuses()["ready/Bad"].GetStatus() != healthgrpc.HealthCheckResponse_NOT_SERVING || all.GetStatuses()["alive"].GetStatus() != healthgrpc.HealthCheckResponse_SERVING {
			t.Errorf("%s: List = %v, %v, want the states and their rules", name, all, err)
		}
	}
	code, body := request(t, http.DefaultTransport, http.MethodGet, "http://"+p.grpcAddress()+"/ready", "")
	if code != http.StatusUnsupportedMediaType || !strings.Contains(body, "grpc.health.v1") {
		t.Errorf("GET of the port for gRPC = %d %q, want 415 and what it serves", code, body)
	}
}

// A watch has the fault, the recovery and the shutdown: ready is not serving while the process
// drains, alive is, and then the call ends with UNAVAILABLE.
func TestWatchOverGRPC(t *testing.T) {
	t.Parallel()
	dir, config := markerConfig(t)
	p := runVitals(t, config, "--grpc.listen-address=127.0.0.1:0", "--web.shutdown-delay=1h")
	p.waitReady()
	c := health(t, p.grpcAddress(), insecure.NewCredentials())
	open := func(service string) grpc.ServerStreamingClient[healthgrpc.HealthCheckResponse] {
		stream, err := c.Watch(within(t), &healthgrpc.HealthCheckRequest{Service: service})
		if err != nil {
			t.Fatal(err)
		}
		return stream
	}
	ready, alive := open("ready"), open("alive")
	expect := func(stream grpc.ServerStreamingClient[healthgrpc.HealthCheckResponse], want string) {
		t.Helper()
		r, err := stream.Recv()
		if got := r.GetStatus().String(); err != nil || got != want {
			t.Fatalf("status = %s, %v, want %s", got, err, want)
		}
	}
	expect(ready, "SERVING")
	expect(alive, "SERVING")
	write(t, dir, "bad", "")
	expect(ready, "NOT_SERVING")
	if err := os.Remove(dir + "/bad"); err != nil {
		t.Fatal(err)
	}
	expect(ready, "SERVING")
	p.signal(syscall.SIGTERM)
	expect(ready, "NOT_SERVING")
	if got := serving(within(t), c, "alive"); got != "SERVING" {
		t.Errorf("alive while the process drains: %s, want SERVING", got)
	}
	p.signal(syscall.SIGTERM) // the second one ends the delay
	for name, stream := range map[string]grpc.ServerStreamingClient[healthgrpc.HealthCheckResponse]{"ready": ready, "alive": alive} {
		if r, err := stream.Recv(); grpcstatus.Code(err) != codes.Unavailable {
			t.Errorf("%s at the end: %v, %v, want UNAVAILABLE and no status before it", name, r, err)
		}
	}
	if code := p.exit(); code != 0 {
		t.Errorf("exit code = %d, want 0", code)
	}
}

// With TLS, clients agree on HTTP/2 by ALPN, unless web.yml turns it off. Users are those of
// web.yml.
func TestHealthOverGRPCWithTLS(t *testing.T) {
	t.Parallel()
	_, config := markerConfig(t)
	_, cert, key := collectortest.Certificate(t, "127.0.0.1", time.Now().Add(time.Hour))
	tlsConfig := fmt.Sprintf("tls_server_config: {cert_file: %q, key_file: %q}\n", cert, key)
	// The hash is bcrypt's of the password "test", with the least cost.
	users := "basic_auth_users: {probe: $2a$04$7b1fWjlDcsAtoR2bqsdmv.t9KQcyyER5rXRkeOWQgHQprQ/bq8zEu}\n"
	trusting := grpccredentials.NewTLS(&tls.Config{InsecureSkipVerify: true})
	for name, web := range map[string]string{"on": tlsConfig + users, "off": tlsConfig + "http_server_config: {http2: false}\n"} {
		p := runVitals(t, config, "--web.config.file="+write(t, t.TempDir(), "web.yml", web))
		c := health(t, p.url, trusting)
		as := func(password string) context.Context {
			return metadata.AppendToOutgoingContext(within(t), "authorization", "Basic "+password)
		}
		if name == "off" {
			if got := serving(within(t), c, "ready"); got != codes.Unavailable.String() {
				t.Errorf("without HTTP/2: %s, want that there is no connection", got)
			}
			continue
		}
		eventually(t, "ready with the password", func() bool { return serving(as("cHJvYmU6dGVzdA=="), c, "ready") == "SERVING" })
		for _, ctx := range []context.Context{within(t), as("cHJvYmU6d3Jvbmc=")} {
			if got := serving(ctx, c, "ready"); got != codes.Unauthenticated.String() {
				t.Errorf("without the password: %s, want %s", got, codes.Unauthenticated)
			}
		}
	}
}
