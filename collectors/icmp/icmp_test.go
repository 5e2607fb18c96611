package icmp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/icmp"
	"golang.org/x/net/ipv4"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
)

func TestExposition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := newFake("192.0.2.1")
		c := newCollector(t, conn, "")
		samples, err := collectortest.Collect(t, c)
		if err != nil || !conn.closed {
			t.Fatalf("Collect() = %v and closes its socket: %t", err, conn.closed)
		}
		collectortest.Golden(t, "metrics.prom", collectortest.Exposition(samples, c.Describe()))
		if got, want := collectortest.Note(c), "icmp 192.0.2.1 3 of 3 replies, 2ms"; got != want {
			t.Errorf("Note() = %q, want %q", got, want)
		}
		for i, want := range []time.Duration{0, 200 * time.Millisecond, 400 * time.Millisecond} {
			if got := conn.requests[i].Sub(conn.requests[0]); got != want {
				t.Errorf("request %d is sent after %s, want %s", i+1, got, want)
			}
		}
	})
}

// What is no reply to a request of this collection is ignored.
func TestArrivals(t *testing.T) {
	other := &net.UDPAddr{IP: net.IPv4(203, 0, 113, 9)}
	for _, tt := range []struct {
		name    string
		respond func(c *fakeConn, request icmp.Echo) []arrival
		// received is the number of the replies of 4 requests.
		received float64
	}{
		{"all", func(c *fakeConn, r icmp.Echo) []arrival { return []arrival{c.reply(time.Second, r)} }, 4},
		{"every second one is lost", func(c *fakeConn, r icmp.Echo) []arrival {
			if r.Seq%2 == 0 {
				return nil
			}
			return []arrival{c.reply(1, r)}
		}, 2},
		{"in the wrong order", func(c *fakeConn, r icmp.Echo) []arrival {
			return []arrival{c.reply(time.Duration(3-r.Seq/2)*time.Second, r)}
		}, 4},
		{"twice", func(c *fakeConn, r icmp.Echo) []arrival { return []arrival{c.reply(1, r), c.reply(2, r)} }, 4},
		{"after the deadline", func(c *fakeConn, r icmp.Echo) []arrival { return []arrival{c.reply(time.Minute, r)} }, 0},
		{"a request as on loopback, then the reply", func(c *fakeConn, r icmp.Echo) []arrival {
			reply := c.reply(0, r)
			request, _ := (&icmp.Message{Type: ipv4.ICMPTypeEcho, Body: &r}).Marshal(nil)
			return []arrival{{message: request, from: reply.from}, {message: reply.message, from: reply.from, after: 1}}
		}, 4},
		{"another identifier", func(c *fakeConn, r icmp.Echo) []arrival { r.ID++; return []arrival{c.reply(0, r)} }, 0},
		{"a sequence number that was not sent", func(c *fakeConn, r icmp.Echo) []arrival { r.Seq += 100; return []arrival{c.reply(0, r)} }, 0},
		{"other data", func(c *fakeConn, r icmp.Echo) []arrival {
			r.Data = append([]byte{r.Data[0] + 1}, r.Data[1:]...)
			return []arrival{c.reply(0, r)}
		}, 0},
		{"more data", func(c *fakeConn, r icmp.Echo) []arrival { r.Data = append(r.Data, 0); return []arrival{c.reply(0, r)} }, 0},
		{"half of the data", func(c *fakeConn, r icmp.Echo) []arrival { r.Data = r.Data[:20]; return []arrival{c.reply(0, r)} }, 0},
		{"another host", func(c *fakeConn, r icmp.Echo) []arrival {
			a := c.reply(0, r)
			a.from = other
			return []arrival{a}
		}, 0},
		{"nothing but a header", func(c *fakeConn, r icmp.Echo) []arrival {
			a := c.reply(0, r)
			a.message = a.message[:4]
			return []arrival{a}
		}, 0},
		{"empty messages, then the reply", func(c *fakeConn, r icmp.Echo) []arrival {
			return []arrival{{from: other}, {}, c.reply(1, r)}
		}, 4},
		{"garbage", func(c *fakeConn, _ icmp.Echo) []arrival {
			return []arrival{{message: []byte("SSH-2.0-OpenSSH_9.2\r\n"), from: &net.IPAddr{IP: c.peer.AsSlice()}}}
		}, 0},
		{"a flood", func(c *fakeConn, _ icmp.Echo) []arrival { return make([]arrival, maxStrays/2) }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn := newFake("192.0.2.1")
				conn.respond = func(request *icmp.Echo) []arrival { return tt.respond(conn, *request) }
				samples, err := collectortest.Collect(t, newCollector(t, conn, "count: 4"))
				checkReplies(t, samples, err, tt.received)
				synctest.Wait()
			})
		})
	}
}

func checkReplies(t *testing.T, samples []collectors.Sample, err error, received float64) {
	t.Helper()
	want := ""
	if received == 0 {
		want = "timeout"
	}
	if got := collectortest.Reason(samples); got != want || (err == nil) != (want == "") {
		t.Errorf("Collect() has the reason %q and the error %v, want %q", got, err, want)
	}
	for metric, want := range map[string]float64{
		"icmp_requests_sent": 4, "icmp_replies_received": received, "icmp_loss_ratio": 1 - received/4, "dependency_up": min(1, received),
	} {
		if got := value(samples, metric); got != want {
			t.Errorf("vitals_%s = %v, want %v", metric, got, want)
		}
	}
	for _, metric := range []string{"dependency_latency_seconds", "icmp_round_trip_max_seconds", "icmp_reply_ttl"} {
		if got := value(samples, metric); (got >= 0) != (received > 0) {
			t.Errorf("vitals_%s = %v, want one only with a reply", metric, got)
		}
	}
}

func TestIPv6(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := newFake("2001:db8::1")
		samples, err := collectortest.Collect(t, newCollector(t, conn, "count: 4, payload_size: 65507"))
		checkReplies(t, samples, err, 4)
	})
}

// An error of the socket is that of a request, and the others may still have replies.
func TestSocketErrors(t *testing.T) {
	unreachable := arrival{err: &net.OpError{Op: "read", Net: "ip", Err: os.NewSyscallError("recvmsg", syscall.EHOSTUNREACH)}, after: time.Millisecond}
	never := func(*icmp.Echo) []arrival { return nil }
	for _, tt := range []struct {
		name     string
		conn     func(c *fakeConn)
		reason   string
		sent     float64
		received float64
		took     time.Duration
		text     string
	}{
		{"a router reports the host as unreachable", func(c *fakeConn) {
			c.respond = func(*icmp.Echo) []arrival { return []arrival{unreachable} }
		}, "refused", 4, 0, 601 * time.Millisecond, "ping 192.0.2.1: recvmsg: no route to host"},
		{"a router reports it once", func(c *fakeConn) {
			reply := c.respond
			c.respond = func(r *icmp.Echo) []arrival {
				if r.Seq == 2 {
					return []arrival{unreachable}
				}
				return reply(r)
			}
		}, "", 4, 3, 604 * time.Millisecond, ""},
		{"a packet filter", func(c *fakeConn) {
			c.respond, c.refuse = never, func(*icmp.Echo) error { return os.NewSyscallError("sendto", syscall.EPERM) }
		}, "forbidden", 0, 0, 600 * time.Millisecond, "operation not permitted"},
		{"an error of an earlier request", func(c *fakeConn) {
			failed := false
			c.refuse = func(r *icmp.Echo) error {
				if r.Seq != 3 || failed {
					return nil
				}
				failed = true
				return syscall.ENETUNREACH
			}
		}, "", 4, 4, 604 * time.Millisecond, ""},
		{"errors without end", func(c *fakeConn) {
			c.respond = func(*icmp.Echo) []arrival {
				many := make([]arrival, maxStrays)
				for i := range many {
					many[i] = unreachable
				}
				return many
			}
		}, "refused", 4, 0, time.Millisecond, "no route to host"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn := newFake("192.0.2.1")
				tt.conn(conn)
				begin := time.Now()
				samples, err := collectortest.Collect(t, newCollector(t, conn, "count: 4"))
				if got := collectortest.Reason(samples); got != tt.reason || (err == nil) != (tt.reason == "") || err != nil && !strings.Contains(err.Error(), tt.text) {
					t.Errorf("Collect() has the reason %q and the error %v, want %q and %q", got, err, tt.reason, tt.text)
				}
				if sent, received := value(samples, "icmp_requests_sent"), value(samples, "icmp_replies_received"); sent != tt.sent || received != tt.received {
					t.Errorf("%v requests and %v replies, want %v and %v", sent, received, tt.sent, tt.received)
				}
				if took := time.Since(begin); took != tt.took {
					t.Errorf("Collect() took %s, want %s", took, tt.took)
				}
			})
		})
	}
}

// Without a socket, nothing is measured.
func TestOpenErrors(t *testing.T) {
	for _, tt := range []struct {
		err    error
		reason string
	}{
		{collectors.Errorf(reasonPermission, "no group"), "permission"},
		{os.NewSyscallError("connect", syscall.ENETUNREACH), "refused"},
		{os.NewSyscallError("connect", syscall.EADDRNOTAVAIL), "refused"},
		{os.NewSyscallError("connect", syscall.EACCES), "forbidden"},
		{errors.New("something else"), "protocol"},
	} {
		c := newCollector(t, newFake("192.0.2.1"), "")
		c.open = func(netip.Addr) (socket, error) { return socket{}, tt.err }
		samples, err := collectortest.Collect(t, c)
		if got := collectortest.Reason(samples); got != tt.reason || err == nil || err.Error() != "ping 192.0.2.1: "+tt.err.Error() {
			t.Errorf("Collect() has the reason %q and the error %v, want %q and %v", got, err, tt.reason, tt.err)
		}
		if got := value(samples, "icmp_loss_ratio"); got != -1 || value(samples, "dependency_up") != 0 {
			t.Errorf("vitals_icmp_loss_ratio = %v, want none without a socket", got)
		}
		if got, want := collectortest.Note(c), fmt.Sprintf("icmp 192.0.2.1 %s: %v", tt.reason, tt.err); got != want {
			t.Errorf("Note() = %q, want %q", got, want)
		}
	}
	unresolved := collectortest.New(t, "gateway", "{address: 'no..such'}", &Config{})
	if samples, err := collectortest.Collect(t, unresolved); collectortest.Reason(samples) != "dns" || err == nil {
		t.Errorf("Collect() of a name that cannot be = %q, %v, want dns", collectortest.Reason(samples), err)
	}
}

// At least half of the time remains for the last reply.
func TestRequestsFitTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := newFake("192.0.2.1")
		samples, err := collectortest.CollectWithin(t, newCollector(t, conn, "count: 50, interval: 1s"), 4*time.Second)
		if err != nil || value(samples, "icmp_replies_received") != 50 {
			t.Errorf("Collect() = %v with %v replies, want 50", err, value(samples, "icmp_replies_received"))
		}
		if took := conn.requests[49].Sub(conn.requests[0]); took > 2*time.Second || took < time.Second {
			t.Errorf("the requests took %s, want about half of the timeout", took)
		}
	})
}

// The end of the context ends the collection, also without a deadline.
func TestCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := newFake("192.0.2.1")
		conn.respond = func(*icmp.Echo) []arrival { return nil }
		c := newCollector(t, conn, "count: 100, interval: 1s")
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(1500*time.Millisecond, cancel)
		begin := time.Now()
		samples, err := c.Collect(ctx)
		if took := time.Since(begin); took != 1500*time.Millisecond || err == nil || collectortest.Reason(samples) != "timeout" {
			t.Errorf("Collect() = %v, %q after %s, want its end", err, collectortest.Reason(samples), took)
		}
	})
}

func TestConfig(t *testing.T) {
	for block, want := range map[string]string{
		"{}":                                             `address: address "": expected a host or an IP address, without a port: gateway.example, 10.0.0.1, 2001:db8::1`,
		"{address: 'a:80'}":                              `address: address "a:80": expected a host or an IP address, without a port: gateway.example, 10.0.0.1, 2001:db8::1`,
		"{address: '[::1]'}":                             `address: address "[::1]": expected a host or an IP address, without a port: gateway.example, 10.0.0.1, 2001:db8::1`,
		"{address: a b}":                                 `address: address "a b": expected a host or an IP address, without a port: gateway.example, 10.0.0.1, 2001:db8::1`,
		"{address: a, count: 0}":                         "count: count 0: expected 1 to 100",
		"{address: a, count: 101}":                       "count: count 101: expected 1 to 100",
		"{address: a, ip_family: '5'}":                   `ip_family: ip_family "5": expected any, 4 or 6`,
		"{address: 10.0.0.1, ip_family: 6}":              "ip_family: ip_family 6: expected an address of that family, not 10.0.0.1",
		"{address: a, interval: 0s, payload_size: 7}":    "interval: interval 0s: expected more than 0s\npayload_size: payload_size 7: expected 8 to 65507 bytes",
		"{address: a, payload_size: 64KiB}":              "payload_size: payload_size 65536: expected 8 to 65507 bytes",
		"{address: 'fe80::1%eth0'}":                      "",
		"{address: gateway.example, ip_family: 4}":       "",
		"{address: '2001:db8::1', payload_size: 1KiB}":   "",
		"{address: '127.0.0.1', count: 1, interval: 1s}": "",
	} {
		if got := collectortest.Problems(t, block, &Config{}); got != want {
			t.Errorf("Problems() of %s = %q, want %q", block, got, want)
		}
	}
	for address, want := range map[string]bool{"localhost": false, "127.0.0.1": false, "::1": false, "10.0.0.1": true, "gateway.example": true} {
		config := Config{Address: address}
		if got := config.External(); got != want || config.Uses() != nil {
			t.Errorf("External() of %q = %t, want %t", address, got, want)
		}
	}
}
