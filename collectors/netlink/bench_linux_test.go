package netlink

import (
	"bytes"
	"context"
	"encoding/binary"
	"iter"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/mdlayher/netlink"
	vishvananda "github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

// cannedSocket answers every request with the same datagrams, which it copies as the
// library does.
type cannedSocket struct {
	fakeSocket
	datagrams [][]byte
	next      int
}

func (s *cannedSocket) SetDeadline(time.Time) error { return nil }

func (s *cannedSocket) Send(m netlink.Message) error {
	s.next, s.sequence = 0, m.Header.Sequence
	return nil
}

func (s *cannedSocket) ReceiveIter() iter.Seq2[netlink.Message, error] {
	datagram := bytes.Clone(s.datagrams[s.next])
	s.next++
	return func(yield func(netlink.Message, error) bool) {
		for m, err := range messages(datagram) {
			m.Header.Sequence = s.sequence
			if !yield(m, err) {
				return
			}
		}
	}
}

type cannedKernel struct{ *cannedSocket }

func (k cannedKernel) namespace() (netnsID, error) { return netnsID{}, nil }

func (k cannedKernel) open() (*conn, error) {
	return &conn{netlink.NewConn(k.cannedSocket, fakePort), netnsID{}}, nil
}

func (s *cannedSocket) Close() error { return nil }

// canned repeats the links of a recorded answer until there are so many, in datagrams
// as long as those of the kernel.
func canned(tb testing.TB, count int) *cannedSocket {
	tb.Helper()
	recorded, err := os.ReadFile(filepath.Join("testdata", "links.bin"))
	if err != nil {
		tb.Fatal(err)
	}
	request := netlink.Message{Header: netlink.Header{Sequence: 1, PID: fakePort}}
	c := &cannedSocket{}
	var datagram []byte
	for left := count; left > 0; {
		for m, err := range messages(recorded) {
			if err != nil {
				tb.Fatal(err)
			}
			if m.Header.Type != unix.RTM_NEWLINK || left == 0 {
				continue
			}
			message := fakeMessage(request, uint16(m.Header.Type), unix.NLM_F_MULTI, m.Data)
			if len(datagram)+len(message) > maxDatagram {
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
	links, err := n.list(tb.Context())
	if err != nil || links.count != want {
		tb.Fatalf("list() = %d links, %v, want %d", links.count, err, want)
	}
}

// A list allocates nothing for a link. The library allocates a copy of each datagram,
// which is garbage when the next one is read.
func TestAllocationsPerDatagram(t *testing.T) {
	allocated := func(count int) (allocations, datagrams float64) {
		c := fakeCollector(t, Config{Interfaces: []string{"eth1"}, WriteTest: veth}, nil)
		socket := canned(t, count)
		c.kernel = cannedKernel{socket}
		return testing.AllocsPerRun(10, func() { listCanned(t, c, count) }), float64(len(socket.datagrams))
	}
	few, fewDatagrams := allocated(8)
	many, manyDatagrams := allocated(8000)
	const each = 6 // the copy and the closures of the iterators
	if limit := few + each*(manyDatagrams-fewDatagrams); many > limit {
		t.Errorf("%v allocations for 8000 links and %v for 8, want at most %v", many, few, limit)
	}
}

// contender is one way to list links, and the names of its results.
type contender struct {
	cpu, bytes string
	list       func()
}

// compare runs the contenders in turn. It reports the processor time (microseconds) and
// the allocated bytes of the first, and those of the others as multiples of it.
func compare(b *testing.B, contenders ...contender) {
	const each = 5
	cpu, size := make([]time.Duration, len(contenders)), make([]uint64, len(contenders))
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
			size[i] += memory.TotalAlloc - allocated
		}
	}
	runs := float64(b.N * each)
	b.ReportMetric(float64(cpu[0].Microseconds())/runs, contenders[0].cpu)
	b.ReportMetric(float64(size[0])/runs, contenders[0].bytes)
	for i, c := range contenders[1:] {
		b.ReportMetric(float64(cpu[i+1])/float64(cpu[0]), c.cpu)
		b.ReportMetric(float64(size[i+1])/float64(size[0]), c.bytes)
	}
}

// BenchmarkList compares the cost of a list with that of other libraries.
func BenchmarkList(b *testing.B) {
	own := func(socket string) func() {
		n := collectorOf("host", Config{Interfaces: []string{"lo"}, Socket: socket, WriteTest: off}, netnsPath(""))
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
	n := collectorOf("host", Config{Interfaces: []string{"lo"}, Socket: fresh, WriteTest: off}, cannedKernel{conn})
	b.Run("8000-links-from-memory", func(b *testing.B) {
		compare(b, contender{"fresh-cpu-us", "fresh-bytes", func() { listCanned(b, n, count) }},
			contender{"interfaces/fresh-cpu", "interfaces/fresh-bytes", func() { listAsNet(b, conn.datagrams, count) }},
			contender{"linklist/fresh-cpu", "linklist/fresh-bytes", func() { listAsLibrary(b, conn.datagrams, count) }},
		)
	})
}

// listAsNet parses datagrams as net.Interfaces does: it joins them, then cuts them into
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

// listAsLibrary parses datagrams as LinkList of vishvananda/netlink does: it copies each,
// cuts it into messages and parses each message completely.
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
