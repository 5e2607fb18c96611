package connlimit

import (
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
	g := &game{pool: New(Limits{Served: served, Waiting: waiting})}
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
		if wait := g.serve(); wait <= 0 || wait > silentPatience {
			t.Errorf("the third is served after %s, want at most %s", wait, silentPatience)
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

// A connection without a first byte gives way sooner than a handshake or a request, and an
// idle one at once.
func TestConnectionsOfOneAddressGiveWay(t *testing.T) {
	for name, tt := range map[string]struct {
		first func(c *conn)
		after time.Duration
	}{
		"idle":   {func(c *conn) { c.pool.Track(c, http.StateActive); c.pool.Track(c, http.StateIdle) }, 0},
		"silent": {func(*conn) {}, silentPatience},
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

func TestAddressOf(t *testing.T) {
	for address, want := range map[string]string{
		"10.0.0.1":         "10.0.0.1/32",
		"::ffff:10.0.0.1":  "10.0.0.1/32",
		"2001:db8::1":      "2001:db8::/64",
		"2001:db8::2:0:1":  "2001:db8::/64",
		"2001:db8:0:1::1":  "2001:db8:0:1::/64",
		"fe80::1%loopback": "fe80::/64",
	} {
		ip, zone, _ := strings.Cut(address, "%")
		if got := addressOf(&net.TCPAddr{IP: net.ParseIP(ip), Zone: zone, Port: 1}); got.String() != want {
			t.Errorf("addressOf(%s) = %s, want %s", address, got, want)
		}
	}
	if got := addressOf(&net.UnixAddr{Net: "unix"}); got.IsValid() {
		t.Errorf("addressOf() of a Unix socket = %s, want none", got)
	}
}

func TestLimits(t *testing.T) {
	for _, tt := range []struct {
		files uint64
		pools int
		want  Limits
	}{
		{64, 1, Limits{16, 16}},
		{64, 2, Limits{8, 8}},
		{64, 3, Limits{5, 5}},
		{10, 3, Limits{least, least}},
		{1024, 2, Limits{128, 128}},
		{1 << 20, 3, Limits{maxServed, maxWaiting}},
		{1<<64 - 1, 1, Limits{maxServed, maxWaiting}}, // unlimited
	} {
		if got := limitsOf(tt.files, tt.pools); got != tt.want {
			t.Errorf("limitsOf(%d, %d) = %+v, want %+v", tt.files, tt.pools, got, tt.want)
		}
	}
	if l, err := LimitsOf(3); err != nil || l.Served < least || l.Waiting < least {
		t.Errorf("LimitsOf() = %+v, %v, want at least %d each", l, err, least)
	}
}
