package connlimit

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// peer is a connection from an address that records its end.
type peer struct {
	net.Conn
	from   string
	closed bool
}

func (p *peer) RemoteAddr() net.Addr {
	a, err := net.ResolveTCPAddr("tcp", net.JoinHostPort(p.from, "1"))
	if err != nil {
		panic(err)
	}
	return a
}

func (p *peer) Close() error                { p.closed = true; return nil }
func (p *peer) Read(b []byte) (int, error)  { return len(b), nil }
func (p *peer) Write(b []byte) (int, error) { return 0, net.ErrClosed }

// game is a pool and all connections that arrived at it, by their order.
type game struct {
	pool  *Pool
	conns []*conn
}

func newGame(served, waiting int) *game {
	g := &game{pool: New(1, Limits{Served: served, Waiting: waiting})[0]}
	g.pool.join()
	return g
}

// arrive makes connections arrive, a millisecond apart.
func (g *game) arrive(addresses ...string) {
	for _, from := range addresses {
		time.Sleep(time.Millisecond)
		c := newConn(g.pool, &peer{from: from})
		g.conns = append(g.conns, c)
		g.pool.arrive(c)
	}
}

// serve lets the pool serve as many as it does now, and returns when it would continue.
func (g *game) serve() time.Duration {
	for {
		c, wait := g.pool.next(time.Now())
		if c == nil {
			return wait
		}
	}
}

// begin sends the beginning of a header on a connection.
func (g *game) begin(i int) {
	if _, err := g.conns[i].Read(make([]byte, 1)); err != nil {
		panic(err)
	}
}

// String shows a letter for each connection: s served, w waiting, x closed.
func (g *game) String() string {
	var b strings.Builder
	for _, c := range g.conns {
		_, served := g.pool.served[c]
		switch {
		case c.Conn.(*peer).closed:
			b.WriteByte('x')
		case served:
			b.WriteByte('s')
		default:
			b.WriteByte('w')
		}
	}
	return b.String()
}

func (g *game) want(t *testing.T, want string) {
	t.Helper()
	if got := g.String(); got != want {
		t.Errorf("connections are %s, want %s", got, want)
	}
}

const (
	greedy = "10.0.0.1"
	other  = "10.0.0.2"
)

func TestPoolServesUpToItsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGame(2, 3)
		g.arrive(greedy, greedy, greedy)
		if wait := g.serve(); wait <= 0 || wait > quietPatience {
			t.Errorf("the third is served after %s, want at most %s", wait, quietPatience)
		}
		g.want(t, "ssw")
		if open, evicted := g.pool.Counts(); open != 3 || evicted != 0 {
			t.Errorf("Counts() = %d, %d, want 3, 0", open, evicted)
		}
		_ = g.conns[1].Close()
		g.serve()
		g.want(t, "sxs")
		_ = g.conns[1].Close() // twice is once
		if open, _ := g.pool.Counts(); open != 2 {
			t.Errorf("Counts() = %d open, want 2", open)
		}
	})
}

// A connection that is idle, or without a first byte, gives way sooner than a handshake or a
// request.
func TestConnectionsOfOneAddressGiveWay(t *testing.T) {
	for name, tt := range map[string]struct {
		first func(c *conn)
		after time.Duration
	}{
		"idle":   {func(c *conn) { c.pool.Track(c, http.StateActive); c.pool.Track(c, http.StateIdle) }, quietPatience},
		"silent": {func(*conn) {}, quietPatience},
		"busy":   {func(c *conn) { c.pool.Track(c, http.StateActive) }, busyPatience},
		"in its handshake": {func(c *conn) {
			if _, err := c.Read(make([]byte, 1)); err != nil {
				panic(err)
			}
		}, busyPatience},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGame(1, 2)
				g.arrive(greedy)
				g.serve()
				tt.first(g.conns[0])
				began := time.Now()
				g.arrive(greedy)
				for wait := g.serve(); wait > 0; wait = g.serve() {
					g.want(t, "sw")
					time.Sleep(wait)
				}
				g.want(t, "xs")
				if took := time.Since(began); took < tt.after || took > tt.after+time.Millisecond {
					t.Errorf("the second is served after %s, want %s", took, tt.after)
				}
				if _, evicted := g.pool.Counts(); evicted != 1 {
					t.Errorf("Counts() = %d evicted, want 1", evicted)
				}
			})
		})
	}
}

// A client of another address is served at once, at the cost of the address with most
// connections: of the one that has been idle longest there.
func TestAddressWithMostGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGame(5, 20)
		g.arrive(other, greedy, greedy, greedy, greedy)
		g.serve()
		for i, state := range map[int]http.ConnState{0: http.StateIdle, 1: http.StateActive, 2: http.StateIdle, 4: http.StateActive} {
			g.pool.Track(g.conns[i], state)
		}
		g.arrive(greedy, greedy, greedy, other)
		g.serve()
		g.want(t, "ssxssw"+"wws")
		g.arrive("10.0.0.3")
		g.serve()
		g.want(t, "ssxxsw"+"wws"+"s")
	})
}

// The longest queue gives way, at its oldest.
func TestWaitingIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGame(1, 3)
		g.arrive(other)
		g.serve()
		g.arrive(greedy, other, greedy, greedy, greedy)
		g.want(t, "s"+"xwxww")
		if open, evicted := g.pool.Counts(); open != 4 || evicted != 2 {
			t.Errorf("Counts() = %d, %d, want 4, 2", open, evicted)
		}
		g.pool.part()
		g.want(t, "s"+"xxxxx")
		g.arrive(greedy)
		g.want(t, "s"+"xxxxx"+"x")
	})
}

// A header that does not end gives way to clients of other addresses sooner than to its own.
func TestUnfinishedHeadersGiveWay(t *testing.T) {
	for newcomer, after := range map[string]time.Duration{greedy: busyPatience, "10.0.1.1": quietPatience} {
		synctest.Test(t, func(t *testing.T) {
			g := newGame(1, 2)
			g.arrive(greedy)
			g.serve()
			g.begin(0)
			began := time.Now()
			g.arrive(newcomer)
			for wait := g.serve(); wait > 0; wait = g.serve() {
				g.want(t, "sw")
				time.Sleep(wait)
			}
			g.want(t, "xs")
			if took := time.Since(began); took != after {
				t.Errorf("a client of %s is served after %s, want %s", newcomer, took, after)
			}
		})
	}
}

// Addresses of one network count together: those that have many connections between them
// give way to another network, and among them the address with most.
func TestNetworkWithMostGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGame(5, 20)
		g.arrive("10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.1.1", "10.0.1.1")
		g.serve()
		for i := range g.conns {
			g.begin(i)
		}
		g.arrive("10.0.2.1")
		g.serve()
		g.want(t, "xssss"+"s")
		g.arrive("10.0.1.2")
		g.serve()
		g.want(t, "xssxs"+"ss")
	})
}

// While all connections have requests, and each is of another network, some places are for clients that have
// no other connection.
func TestReservedPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGame(8, 8)
		for i := range 8 {
			g.arrive(fmt.Sprintf("10.0.%d.1", i))
			g.serve()
			g.pool.Track(g.conns[i], http.StateActive)
		}
		g.arrive("10.1.0.1", "10.1.1.1", "10.1.2.1")
		g.serve()
		g.want(t, "xxssssss"+"ssw")
		g.pool.Track(g.conns[8], http.StateActive)
		g.serve()
		g.want(t, "xxxsssss"+"sss")
		g.arrive("10.1.0.1")
		g.serve()
		g.want(t, "xxxsssss"+"sssw") // has a connection
	})
}

// The bound of waiting connections is that of all pools together: the pool that has most of them gives way.
func TestWaitingIsBoundedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pools := New(2, Limits{Served: 1, Waiting: 4})
		attacked, quiet := &game{pool: pools[0]}, &game{pool: pools[1]}
		attacked.pool.join()
		quiet.pool.join()
		attacked.arrive(greedy)
		attacked.serve()
		attacked.arrive(greedy, greedy, greedy, greedy, greedy)
		attacked.want(t, "s"+"xwwww")
		quiet.arrive(greedy, other)
		attacked.want(t, "s"+"xxxww")
		quiet.want(t, "ww")
		quiet.serve()
		quiet.want(t, "sw")
	})
}

func TestOriginOf(t *testing.T) {
	for address, want := range map[string]string{
		"10.0.0.1":         "10.0.0.0/24 10.0.0.1/32",
		"::ffff:10.0.0.1":  "10.0.0.0/24 10.0.0.1/32",
		"127.0.0.1":        "127.0.0.0/8 127.0.0.0/8",
		"127.1.2.3":        "127.0.0.0/8 127.0.0.0/8",
		"2001:db8::1":      "2001:db8::/48 2001:db8::/64",
		"2001:db8::2:0:1":  "2001:db8::/48 2001:db8::/64",
		"2001:db8:0:1::1":  "2001:db8::/48 2001:db8:0:1::/64",
		"fe80::1%loopback": "fe80::/48 fe80::/64",
	} {
		ip, zone, _ := strings.Cut(address, "%")
		o := originOf(&net.TCPAddr{IP: net.ParseIP(ip), Zone: zone, Port: 1})
		if got := o.network.String() + " " + o.address.String(); got != want {
			t.Errorf("originOf(%s) = %s, want %s", address, got, want)
		}
	}
	if got := originOf(&net.UnixAddr{Net: "unix"}); got != (origin{}) {
		t.Errorf("originOf() of a Unix socket = %+v, want none", got)
	}
}

func TestLimits(t *testing.T) {
	const mebibyte = 1 << 20
	for _, tt := range []struct {
		files  uint64
		pools  int
		memory int64
		want   Limits
	}{
		{64, 1, 1 << 40, Limits{16, 16}},
		{64, 2, 1 << 40, Limits{8, 16}},
		{64, 3, 1 << 40, Limits{5, 15}},
		{10, 3, 1 << 40, Limits{least, least}},
		{1024, 2, 1 << 40, Limits{128, 256}},
		{1 << 20, 3, 1 << 40, Limits{maxServed, maxWaiting}},
		{1<<64 - 1, 1, 1 << 40, Limits{maxServed, maxWaiting}}, // unlimited
		{1 << 20, 3, 128 * mebibyte, Limits{maxServed, 1024}},
		{1 << 20, 3, mebibyte, Limits{maxServed, 8}},
	} {
		if got := limitsOf(tt.files, tt.pools, tt.memory); got != tt.want {
			t.Errorf("limitsOf(%d, %d, %d) = %+v, want %+v", tt.files, tt.pools, tt.memory, got, tt.want)
		}
	}
	if l, err := LimitsOf(3, 128*mebibyte); err != nil || l.Served < least || l.Waiting < least {
		t.Errorf("LimitsOf() = %+v, %v, want at least %d each", l, err, least)
	}
}
