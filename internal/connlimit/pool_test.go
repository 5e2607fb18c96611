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

// The addresses of a network count together. The network with most gives way, and in it the address with most.
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

// While few connections are without a request, the oldest request gives way to a client that has
// no connection.
func TestOldestRequestGivesWay(t *testing.T) {
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

// Small requests in time do not keep a place: after a second, a connection between two requests gives way
// to another network at once.
func TestKeepAliveGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGame(8, 8)
		for i := range 8 {
			g.arrive(fmt.Sprintf("10.0.%d.1", i))
			g.serve()
		}
		for range 30 {
			for _, c := range g.conns {
				g.pool.Track(c, http.StateActive)
				g.pool.Track(c, http.StateIdle)
			}
			time.Sleep(50 * time.Millisecond)
		}
		g.arrive("10.1.0.1")
		g.serve()
		g.want(t, "xsssssss"+"s")
	})
}

// A client whose network has many connections is served in time as well, while other networks keep
// unfinished headers and connect again.
func TestNeighboursDoNotStarve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const prober, neighbours = "10.1.0.1", "10.1.0."
		g := newGame(32, 128)
		var strangers []string
		for i := range 80 {
			strangers = append(strangers, fmt.Sprintf("10.0.%d.1", i))
		}
		for i := range 5 {
			strangers = append(strangers, fmt.Sprint(neighbours, i+2))
		}
		open := map[string]*conn{}
		var arrived time.Time // of the probe
		connect := func(from string) {
			if from == prober {
				arrived = time.Now()
			}
			open[from] = newConn(g.pool, &peer{from: from})
			g.pool.arrive(open[from])
		}
		probes, longest := 0, time.Duration(0)
		for ms := range 5000 {
			for _, from := range strangers {
				if c := open[from]; c == nil || c.Conn.(*peer).closed {
					connect(from)
				}
			}
			if ms%500 == 0 && open[prober] == nil {
				connect(prober)
			}
			for c, _ := g.pool.next(time.Now()); c != nil; c, _ = g.pool.next(time.Now()) {
				from := c.Conn.(*peer).from
				_, _ = c.Read(make([]byte, 1)) // a fake
				if strings.HasPrefix(from, neighbours) {
					g.pool.Track(c, http.StateActive)
				}
				if from == prober {
					_ = c.Close()
					probes, longest, open[prober] = probes+1, max(longest, time.Since(arrived)), nil
				}
			}
			time.Sleep(time.Millisecond)
		}
		if probes != 10 || longest > 500*time.Millisecond {
			t.Errorf("%d of 10 probes are served, after up to %s, want all within 500ms", probes, longest)
		}
	})
}

// All pools share the bound of waiting connections: the longest queue gives way.
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

// Of queues that are as long, the newest gives way, so that connections before it are served.
func TestNewestGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGame(1, 3)
		for i := range 6 {
			g.arrive(fmt.Sprintf("10.0.%d.1", i))
			g.serve()
		}
		g.want(t, "swwwxx")
	})
}
