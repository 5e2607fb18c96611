//go:build e2e

package e2e_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthgrpc "google.golang.org/grpc/health/grpc_health_v1"
)

const (
	// countedProbes are the probes of a client under attack, each probeEvery.
	countedProbes = 80
	probeEvery    = 125 * time.Millisecond
	// probeTimeout is the default timeout of a kubelet's probe.
	probeTimeout = time.Second
)

// vitalsAddress is the address of Vitals in the network of an attack, and proberAddress the
// address of a prober. Strangers have other addresses there.
const vitalsAddress, proberAddress = "10.200.0.1", "10.201.0.1"

// newAttack returns an attack in a network namespace, in which each address of 10.0.0.0/8 is local.
func newAttack(t *testing.T) *attack {
	t.Helper()
	n := newNamespace(t)
	n.ip(t, "link", "set", "lo", "up")
	n.ip(t, "route", "add", "local", "10.0.0.0/8", "dev", "lo")
	return &attack{web: vitalsAddress + ":8080", probes: vitalsAddress + ":8081", grpc: vitalsAddress + ":8082", network: "/run/netns/" + string(n)}
}

// dialFrom returns a function that connects from an address in the network of the attack.
func (a *attack) dialFrom(from string) func(ctx context.Context, network, address string) (net.Conn, error) {
	d := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		return there(a.network, func() (net.Conn, error) { return d.DialContext(ctx, network, address) })
	}
}

// get probes the listener for probes over HTTP, as a kubelet does.
func (a *attack) get(ctx context.Context, from string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+a.probes+"/alive", nil)
	if err != nil {
		return err
	}
	response, err := (&http.Transport{DisableKeepAlives: true, DialContext: a.dialFrom(from)}).RoundTrip(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET /alive = %s, want 200", response.Status)
	}
	return nil
}

// check probes the listener for probes over gRPC, as a kubelet does.
func (a *attack) check(ctx context.Context, from string) error {
	dial := a.dialFrom(from)
	conn, err := grpc.NewClient("passthrough:///"+a.probes, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) { return dial(ctx, "tcp", address) }))
	if err != nil {
		return err
	}
	defer conn.Close()
	response, err := healthgrpc.NewHealthClient(conn).Check(ctx, &healthgrpc.HealthCheckRequest{Service: "alive"})
	if err == nil && response.GetStatus() != healthgrpc.HealthCheckResponse_SERVING {
		err = fmt.Errorf("Check = %s, want SERVING", response.GetStatus())
	}
	return err
}

// alive is nil if Vitals answers in time that it is alive.
func (a *attack) alive(within time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	return a.get(ctx, proberAddress)
}

// late probes countedProbes times, and returns how many probes have no answer in time.
func (a *attack) late(t *testing.T, name string, probe func(ctx context.Context, from string) error) int {
	var late atomic.Int32
	var all sync.WaitGroup
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	for range countedProbes {
		<-tick.C
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), probeTimeout)
			defer cancel()
			if err := probe(ctx, proberAddress); err != nil {
				t.Logf("%s: late probe %d: %v", name, late.Add(1), err)
			}
		})
	}
	all.Wait()
	return int(late.Load())
}

// Strangers who keep connections or calls open keep no probe of another network from its answer.
func TestAttackOnProbes(t *testing.T) {
	for _, tt := range []struct {
		name string
		// files is the limit of descriptors, and late how many probes may be late.
		files, late int
	}{
		{"half calls of gRPC", 20_000, 2},
		{"calls of gRPC that are not read", 20_000, 2},
		{"watches of gRPC", 20_000, 2},
		{"calls of gRPC with 12 KiB of metadata", 20_000, 2},
		{"unread responses to 14 KiB of headers", 20_000, 2},
		{"unfinished headers from 300 addresses", 20_000, 0},
		{"unfinished headers from 600 addresses", 20_000, 0},
		{"idle connections to the web listener", 64, 2},
		{"idle connections to the probe listener", 64, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := newAttack(t)
			p, _ := startAttacked(t, tt.files, a)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			a.ctx = ctx
			a.begin(t, tt.name)
			var all sync.WaitGroup
			for name, probe := range map[string]func(context.Context, string) error{"HTTP": a.get, "gRPC": a.check} {
				all.Go(func() {
					if late := a.late(t, name, probe); late > tt.late {
						t.Errorf("%d of %d probes over %s are late, want at most %d", late, countedProbes, name, tt.late)
					}
				})
			}
			all.Wait()
			cancel()
			if err := a.alive(attackProbe); err != nil {
				t.Errorf("after the attack: %v\n%s", err, p.tail())
			}
		})
	}
}

// Connections that wait cost little, however many there are and whatever their clients send. The
// kernel counts their buffers for the cgroup.
func TestAttackOnSockets(t *testing.T) {
	const most = 16 * mebibyte
	a := newAttack(t)
	p, c := startAttacked(t, 20_000, a)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a.ctx = ctx
	a.begin(t, "4352 endless headers to each listener")
	largest := 0
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	for range countedProbes {
		<-tick.C
		largest = max(largest, c.sockets(t))
		if err := a.alive(probeTimeout); err != nil {
			t.Errorf("a probe under attack: %v\n%s", err, p.tail())
		}
	}
	t.Logf("the buffers of sockets take up to %.1f MiB", float64(largest)/mebibyte)
	if largest == 0 || largest > most {
		t.Errorf("the buffers of sockets take %.1f MiB, want more than 0 and at most %d", float64(largest)/mebibyte, most/mebibyte)
	}
}
