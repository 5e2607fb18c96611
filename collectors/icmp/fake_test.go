package icmp

import (
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/icmp"
	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
)

// fakeID is the identifier of the requests over a fakeConn, and fakeTTL the time to live of replies.
const fakeID, fakeTTL = 4711, 61

// arrival is a message that arrives, or an error of the socket.
type arrival struct {
	after   time.Duration
	message []byte
	from    net.Addr
	err     error
}

// fakeConn is a socket without a network, for use in a bubble of synctest.
type fakeConn struct {
	net.Conn
	peer netip.Addr
	// respond returns what arrives after a request.
	respond func(request *icmp.Echo) []arrival
	// refuse returns the error of a request, nil if it is sent. A nil refuse refuses none.
	refuse   func(request *icmp.Echo) error
	arrivals chan arrival
	// requests are the times of the requests.
	requests []time.Time
	closed   bool

	mu       sync.Mutex // guards what follows
	deadline time.Time
	// moved is closed when the deadline changes.
	moved chan struct{}
}

// protocol returns the number of the protocol, and the types of a request and a reply.
func (c *fakeConn) protocol() (number int, request, reply icmp.Type) {
	if c.peer.Is6() {
		return protocolICMPv6, ipv6.ICMPTypeEchoRequest, ipv6.ICMPTypeEchoReply
	}
	return protocolICMP, ipv4.ICMPTypeEcho, ipv4.ICMPTypeEchoReply
}

func (c *fakeConn) Write(packet []byte) (int, error) {
	number, request, _ := c.protocol()
	m, err := icmp.ParseMessage(number, packet)
	if err != nil || m.Type != request {
		panic("no echo request was sent")
	}
	echo := m.Body.(*icmp.Echo)
	if c.refuse != nil {
		if err := c.refuse(echo); err != nil {
			return 0, err
		}
	}
	c.requests = append(c.requests, time.Now())
	for _, a := range c.respond(echo) {
		time.AfterFunc(a.after, func() { c.arrivals <- a })
	}
	return len(packet), nil
}

func (c *fakeConn) receive(buffer []byte) (n, ttl int, from net.Addr, err error) {
	for {
		c.mu.Lock()
		deadline, moved := c.deadline, c.moved
		c.mu.Unlock()
		expired := make(<-chan time.Time)
		if !deadline.IsZero() {
			expired = time.After(time.Until(deadline))
		}
		select {
		case a := <-c.arrivals:
			return copy(buffer, a.message), fakeTTL, a.from, a.err
		case <-expired:
			return 0, 0, nil, os.ErrDeadlineExceeded
		case <-moved:
		}
	}
}

func (c *fakeConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	close(c.moved)
	c.moved = make(chan struct{})
	return nil
}

func (c *fakeConn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

func (c *fakeConn) Close() error {
	c.closed = true
	return nil
}

// reply returns the reply to a request, which arrives after a time.
func (c *fakeConn) reply(after time.Duration, echo icmp.Echo) arrival {
	_, _, kind := c.protocol()
	message, err := (&icmp.Message{Type: kind, Body: &echo}).Marshal(nil)
	if err != nil {
		panic(err)
	}
	return arrival{after: after, message: message, from: &net.IPAddr{IP: c.peer.AsSlice()}}
}

// newFake returns a connection to a host that replies to each request after its sequence number in
// milliseconds.
func newFake(peer string) *fakeConn {
	c := &fakeConn{peer: netip.MustParseAddr(peer), arrivals: make(chan arrival, 4*maxStrays), moved: make(chan struct{})}
	c.respond = func(request *icmp.Echo) []arrival {
		return []arrival{c.reply(time.Duration(request.Seq)*time.Millisecond, *request)}
	}
	return c
}

// newCollector returns a collector whose socket is the fake.
func newCollector(t testing.TB, conn *fakeConn, block string) *collector {
	t.Helper()
	c := collectortest.New(t, "gateway", strings.TrimSuffix("{address: '"+conn.peer.String()+"', "+block, ", ")+"}", &Config{}).(*collector)
	c.open = func(peer netip.Addr) (socket, error) {
		if peer != conn.peer {
			t.Errorf("open(%s), want %s", peer, conn.peer)
		}
		return socket{Conn: conn, receive: conn.receive, peer: peer, id: fakeID}, nil
	}
	return c
}

func value(samples []collectors.Sample, metric string) float64 {
	v, ok := collectortest.Value(samples, "vitals_"+metric+`{dependency="gateway"}`)
	if !ok {
		return -1
	}
	return v
}
