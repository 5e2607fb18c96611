package netlink

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"golang.org/x/sys/unix"

	"github.com/vitals-health/vitals/collectors"
)

// fakePort is the address that the fake kernel gives to sockets.
const fakePort = 4711

// fakeLink is a link of the fake kernel.
type fakeLink struct {
	name       string
	altnames   []string
	flags      uint32
	kind, peer string
}

// fakeKernel has links, and keeps them as the kernel does. Its functions, where they
// are set, do what a kernel does that is broken.
type fakeKernel struct {
	links []fakeLink
	// in is the namespace that is meant, or why there is none.
	in      netnsID
	missing error
	// opens replaces the next socket by an error.
	opens func() error
	// refused are the errors with which it answers requests, by their type.
	refused map[uint16]unix.Errno
	// answers replaces the datagrams with which the kernel answers; nil is the rest of
	// them all.
	answers func(m message, datagrams [][]byte) [][]byte
	// sends and receives replace the socket's own errors.
	sends    func(ctx context.Context, m message) error
	receives func(ctx context.Context) error

	// from is the port from which the first datagram of each socket comes.
	from uint32

	// opened and closed count sockets.
	opened, closed int
	// requests are the types of the messages that were sent.
	requests []uint16
	// sequence is the number of the last.
	sequence uint32
}

func (k *fakeKernel) namespace() (netnsID, error) { return k.in, k.missing }

func (k *fakeKernel) open() (conn, error) {
	if k.missing != nil {
		return nil, k.missing
	}
	if k.opens != nil {
		if err := k.opens(); err != nil {
			return nil, err
		}
	}
	k.opened++
	return &fakeConn{kernel: k, in: k.in, from: k.from}, nil
}

// fakeConn is a socket of the fake kernel.
type fakeConn struct {
	kernel *fakeKernel
	in     netnsID
	queue  [][]byte
	closed bool
	from   uint32
}

func (c *fakeConn) namespace() netnsID { return c.in }
func (c *fakeConn) port() uint32       { return fakePort }

func (c *fakeConn) Close() error {
	if c.closed {
		return unix.EBADF
	}
	c.closed = true
	c.kernel.closed++
	return nil
}

func (c *fakeConn) send(ctx context.Context, message []byte) error {
	m, err := onlyMessage(message)
	if err != nil {
		return err
	}
	if m.sequence <= c.kernel.sequence {
		return fmt.Errorf("request %d after request %d", m.sequence, c.kernel.sequence)
	}
	c.kernel.sequence = m.sequence
	c.kernel.requests = append(c.kernel.requests, m.kind)
	if c.kernel.sends != nil {
		if err := c.kernel.sends(ctx, m); err != nil {
			return err
		}
	}
	datagrams := c.kernel.answer(m)
	if c.kernel.answers != nil {
		datagrams = c.kernel.answers(m, datagrams)
	}
	c.queue = append(c.queue, datagrams...)
	return ctx.Err()
}

func (c *fakeConn) receive(ctx context.Context, buf []byte) (int, uint32, error) {
	if c.kernel.receives != nil {
		if err := c.kernel.receives(ctx); err != nil {
			return 0, 0, err
		}
	}
	if len(c.queue) == 0 {
		<-ctx.Done()
		return 0, 0, ctx.Err()
	}
	datagram := c.queue[0]
	c.queue = c.queue[1:]
	from := c.from
	c.from = 0
	copy(buf, datagram)
	return len(datagram), from, nil
}

// messages are the messages of a datagram, and the error that ends them.
func messages(datagram []byte) iter.Seq2[message, error] {
	return func(yield func(message, error) bool) {
		for len(datagram) > 0 {
			m, rest, err := cutMessage(datagram)
			if !yield(m, err) || err != nil {
				return
			}
			datagram = rest
		}
	}
}

// onlyMessage reads a datagram of one message.
func onlyMessage(datagram []byte) (message, error) {
	var found []message
	for m, err := range messages(datagram) {
		if err != nil {
			return m, err
		}
		found = append(found, m)
	}
	if len(found) != 1 {
		return message{}, fmt.Errorf("%d messages, want 1", len(found))
	}
	return found[0], nil
}

// answer does what a request asks for.
func (k *fakeKernel) answer(m message) [][]byte {
	if errno, ok := k.refused[m.kind]; ok {
		return fakeError(m, errno)
	}
	switch m.kind {
	case unix.RTM_GETLINK:
		return k.dump(m)
	case unix.RTM_NEWLINK:
		link := requestedLink(m)
		k.links = append(k.links, link)
		if link.peer != "" {
			k.links = append(k.links, fakeLink{name: link.peer, peer: link.name})
		}
		return fakeError(m, 0)
	case unix.RTM_DELLINK:
		name := requestedLink(m).name
		before := len(k.links)
		k.links = slices.DeleteFunc(k.links, func(l fakeLink) bool {
			return l.name == name || l.peer == name || slices.Contains(l.altnames, name)
		})
		if len(k.links) == before {
			return fakeError(m, unix.ENODEV)
		}
		return fakeError(m, 0)
	}
	return fakeError(m, unix.EOPNOTSUPP)
}

// requestedLink is the link that a request makes or deletes.
func requestedLink(m message) fakeLink {
	var link fakeLink
	attributes := func(data []byte) map[uint16][]byte {
		found := map[uint16][]byte{}
		for len(data) > 0 {
			kind, value, rest, err := cutAttribute(data)
			if err != nil {
				panic(err)
			}
			found[kind] = value
			data = rest
		}
		return found
	}
	top := attributes(m.data[unix.SizeofIfInfomsg:])
	link.name = string(terminated(top[unix.IFLA_IFNAME]))
	info := attributes(top[unix.IFLA_LINKINFO])
	link.kind = string(info[unix.IFLA_INFO_KIND])
	if peer := attributes(info[unix.IFLA_INFO_DATA])[netlinkPeer]; peer != nil {
		link.peer = string(terminated(attributes(peer[unix.SizeofIfInfomsg:])[unix.IFLA_IFNAME]))
	}
	return link
}

// dump lists the links, a few in each datagram, as netlink(7) says of multipart messages.
func (k *fakeKernel) dump(request message) [][]byte {
	const each = 30
	var datagrams [][]byte
	for some := range slices.Chunk(k.links, each) {
		var datagram []byte
		for _, l := range some {
			datagram = append(datagram, fakeMessage(request, unix.RTM_NEWLINK, unix.NLM_F_MULTI, l.encode())...)
		}
		datagrams = append(datagrams, datagram)
	}
	return append(datagrams, fakeMessage(request, unix.NLMSG_DONE, unix.NLM_F_MULTI, make([]byte, 4)))
}

// encode is the link as a message RTM_NEWLINK has it, with attributes before and behind
// the names, as many bytes as those of a real link.
func (l fakeLink) encode() []byte {
	b := make([]byte, unix.SizeofIfInfomsg)
	binary.NativeEndian.PutUint32(b[8:], l.flags)
	b = appendAttribute(b, unix.IFLA_IFNAME, cString(l.name))
	b = appendAttribute(b, unix.IFLA_MTU, make([]byte, 4))
	b = appendAttribute(b, unix.IFLA_AF_SPEC|unix.NLA_F_NESTED, make([]byte, 700))
	if len(l.altnames) > 0 {
		var names []byte
		for _, name := range l.altnames {
			names = appendAttribute(names, unix.IFLA_ALT_IFNAME, cString(name))
		}
		b = appendAttribute(b, unix.IFLA_PROP_LIST|unix.NLA_F_NESTED, names)
	}
	return appendAttribute(b, unix.IFLA_QDISC, cString("noqueue"))
}

// fakeMessage is a message of the answer to a request.
func fakeMessage(request message, kind, flags uint16, data []byte) []byte {
	b := binary.NativeEndian.AppendUint32(nil, uint32(unix.SizeofNlMsghdr+len(data)))
	b = binary.NativeEndian.AppendUint16(b, kind)
	b = binary.NativeEndian.AppendUint16(b, flags)
	b = binary.NativeEndian.AppendUint32(b, request.sequence)
	b = binary.NativeEndian.AppendUint32(b, fakePort)
	b = append(b, data...)
	return append(b, make([]byte, aligned(len(b))-len(b))...)
}

// fakeError is the answer of one message that says an error, or none.
func fakeError(request message, errno unix.Errno) [][]byte {
	return [][]byte{fakeMessage(request, unix.NLMSG_ERROR, 0, append(fakeErrno(errno), make([]byte, unix.SizeofNlMsghdr)...))}
}

func fakeErrno(errno unix.Errno) []byte {
	return binary.NativeEndian.AppendUint32(nil, uint32(-int32(errno)))
}

// netlinkLines are samples, one a line and sorted, without failures that are none and
// without the label netlink.
func netlinkLines(samples []collectors.Sample) string {
	var lines []string
	for _, s := range samples {
		pairs := map[string]string{}
		s.Labels.Range(func(l labels.Label) { pairs[l.Name] = l.Value })
		name := strings.TrimPrefix(pairs[model.MetricNameLabel], "vitals_netlink_")
		delete(pairs, model.MetricNameLabel)
		delete(pairs, "netlink")
		if strings.HasSuffix(name, "latency_seconds") || strings.HasSuffix(name, "failure") && s.Value == 0 {
			continue
		}
		line := name
		for _, value := range slices.Sorted(maps.Values(pairs)) {
			line += " " + value
		}
		lines = append(lines, fmt.Sprintf("%s %v", line, s.Value))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// fakeNetlink makes a collector over the fake kernel.
func fakeNetlink(t testing.TB, config Config, kernel *fakeKernel) *collector {
	t.Helper()
	if config.Socket == "" {
		config.Socket = fresh
	}
	if config.WriteTest == "" {
		config.WriteTest = off
	}
	if problems := config.Problems(); problems != nil {
		t.Fatalf("Problems() = %v, want none", problems)
	}
	return makeNetlink("host", config, kernel)
}
