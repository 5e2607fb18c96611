package netlink

import (
	"context"
	"encoding/binary"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	vishvananda "github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

// cannedConn answers every request with the same datagrams.
type cannedConn struct {
	fakeConn
	datagrams [][]byte
	next      int
}

func (c *cannedConn) send(context.Context, []byte) error {
	c.next = 0
	return nil
}

func (c *cannedConn) receive(_ context.Context, buf []byte) (int, uint32, error) {
	c.next++
	return copy(buf, c.datagrams[c.next-1]), 0, nil
}

func (c *cannedConn) Close() error { return nil }

type cannedKernel struct{ conn *cannedConn }

func (k cannedKernel) namespace() (netnsID, error) { return netnsID{}, nil }

func (k cannedKernel) open() (conn, error) { return k.conn, nil }

// canned repeats the links of a recorded answer until there are so many, in datagrams
// as long as the kernel's. It answers the request with the number 1.
func canned(tb testing.TB, count int) *cannedConn {
	tb.Helper()
	recorded, err := os.ReadFile(filepath.Join("testdata", "links.bin"))
	if err != nil {
		tb.Fatal(err)
	}
	request := message{sequence: 1}
	c := &cannedConn{}
	var datagram []byte
	for left := count; left > 0; {
		for m, err := range messages(recorded) {
			if err != nil {
				tb.Fatal(err)
			}
			if m.kind != unix.RTM_NEWLINK || left == 0 {
				continue
			}
			message := fakeMessage(request, m.kind, unix.NLM_F_MULTI, m.data)
			if len(datagram)+len(message) > netlinkDatagram {
				c.datagrams = append(c.datagrams, datagram)
				datagram = nil
			}
			datagram = append(datagram, message...)
			left--
		}
	}
	c.datagrams = append(c.datagrams, datagram, fakeMessage(request, unix.NLMSG_DONE, unix.NLM_F_MULTI, make([]byte, 4)))
	return c
}

// listCanned lists canned links.
func listCanned(tb testing.TB, n *collector, want int) {
	n.sequence = 0
	links, err := n.list(tb.Context())
	if err != nil || links.count != want {
		tb.Fatalf("list() = %d links, %v, want %d", links.count, err, want)
	}
}

// However many links there are, listing them takes the same memory.
func TestMemoryIsBounded(t *testing.T) {
	allocated := func(count int) float64 {
		n := fakeNetlink(t, Config{Interfaces: []string{"eth1"}, WriteTest: veth}, nil)
		n.kernel = cannedKernel{canned(t, count)}
		return testing.AllocsPerRun(10, func() { listCanned(t, n, count) })
	}
	few, many := allocated(8), allocated(8000)
	if many > few {
		t.Errorf("%v allocations for 8000 links and %v for 8, want no more", many, few)
	}
}

// contender is one way to list links, and the names of what is reported of it.
type contender struct {
	cpu, bytes string
	list       func()
}

// compare lets all contenders work in turns and reports what the first takes, in
// microseconds of processor time and in allocated bytes, and how many times that the
// others take.
func compare(b *testing.B, contenders ...contender) {
	const each = 5
	cpu, bytes := make([]time.Duration, len(contenders)), make([]uint64, len(contenders))
	var memory runtime.MemStats
	for b.Loop() {
		for i, c := range contenders {
			runtime.ReadMemStats(&memory)
			allocated, used := memory.TotalAlloc, collectortest.CPU(b)
			for range each {
				c.list()
			}
			cpu[i] += collectortest.CPU(b) - used
			runtime.ReadMemStats(&memory)
			bytes[i] += memory.TotalAlloc - allocated
		}
	}
	rounds := float64(b.N * each)
	b.ReportMetric(float64(cpu[0].Microseconds())/rounds, contenders[0].cpu)
	b.ReportMetric(float64(bytes[0])/rounds, contenders[0].bytes)
	for i, c := range contenders[1:] {
		b.ReportMetric(float64(cpu[i+1])/float64(cpu[0]), c.cpu)
		b.ReportMetric(float64(bytes[i+1])/float64(bytes[0]), c.bytes)
	}
}

// BenchmarkList is the cost of a list, and that of other ways to get one.
func BenchmarkList(b *testing.B) {
	own := func(socket string) func() {
		n := makeNetlink("host", Config{Interfaces: []string{"lo"}, Socket: socket, WriteTest: off}, netlinkPath(""))
		return func() {
			ctx, cancel := context.WithTimeout(b.Context(), 5*time.Second)
			defer cancel()
			if _, err := n.list(ctx); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("this-host", func(b *testing.B) {
		compare(b, contender{"fresh-cpu-us", "fresh-bytes", own(fresh)},
			contender{"held/fresh-cpu", "held/fresh-bytes", own(held)},
			contender{"interfaces/fresh-cpu", "interfaces/fresh-bytes", func() {
				if _, err := net.Interfaces(); err != nil {
					b.Fatal(err)
				}
			}},
			contender{"linklist/fresh-cpu", "linklist/fresh-bytes", func() {
				if _, err := vishvananda.LinkList(); err != nil {
					b.Fatal(err)
				}
			}},
		)
	})
	const count = 8000
	conn := canned(b, count)
	n := makeNetlink("host", Config{Interfaces: []string{"lo"}, Socket: fresh, WriteTest: off}, cannedKernel{conn})
	b.Run("8000-links-from-memory", func(b *testing.B) {
		compare(b, contender{"fresh-cpu-us", "fresh-bytes", func() { listCanned(b, n, count) }},
			contender{"interfaces/fresh-cpu", "interfaces/fresh-bytes", func() { listAsNet(b, conn.datagrams, count) }},
			contender{"linklist/fresh-cpu", "linklist/fresh-bytes", func() { listAsLibrary(b, conn.datagrams, count) }},
		)
	})
}

// listAsNet reads datagrams as net.Interfaces does: gathered first, then cut into
// messages, then into attributes.
func listAsNet(b *testing.B, datagrams [][]byte, want int) {
	var table []byte
	for _, d := range datagrams {
		table = append(table, d...)
	}
	messages, err := syscall.ParseNetlinkMessage(table)
	if err != nil {
		b.Fatal(err)
	}
	var found []net.Interface
	for _, m := range messages {
		if m.Header.Type != unix.RTM_NEWLINK {
			continue
		}
		attributes, err := syscall.ParseNetlinkRouteAttr(&m)
		if err != nil {
			b.Fatal(err)
		}
		link := net.Interface{Flags: net.Flags(binary.NativeEndian.Uint32(m.Data[8:]))}
		for _, a := range attributes {
			if a.Attr.Type == unix.IFLA_IFNAME {
				link.Name = string(a.Value[:len(a.Value)-1])
			}
		}
		found = append(found, link)
	}
	if len(found) != want {
		b.Fatalf("%d links, want %d", len(found), want)
	}
}

// listAsLibrary reads datagrams as the library's LinkList does: each is copied out of
// the buffer and cut into messages, and each message is read in full.
func listAsLibrary(b *testing.B, datagrams [][]byte, want int) {
	var found []vishvananda.Link
	for _, d := range datagrams {
		var buffer [65536]byte
		length := copy(buffer[:], d)
		messages, err := syscall.ParseNetlinkMessage(append([]byte(nil), buffer[:length]...))
		if err != nil {
			b.Fatal(err)
		}
		for _, m := range messages {
			if m.Header.Type != unix.RTM_NEWLINK {
				continue
			}
			link, err := vishvananda.LinkDeserialize(&unix.NlMsghdr{Type: m.Header.Type}, m.Data)
			if err != nil {
				b.Fatal(err)
			}
			found = append(found, link)
		}
	}
	if len(found) != want {
		b.Fatalf("%d links, want %d", len(found), want)
	}
}
