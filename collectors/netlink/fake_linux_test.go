package netlink

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mdlayher/netlink"
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

// fakeKernel has links, and creates and deletes them as the kernel does. Its functions,
// if set, inject faults.
type fakeKernel struct {
	links []fakeLink
	// in is the namespace, missing the error if there is none.
	in      netnsID
	missing error
	// opens replaces the next socket by an error.
	opens func() error
	// refused are the errors with which it answers requests, by their type.
	refused map[uint16]unix.Errno
	// answers replaces the datagrams of the answer.
	answers func(m netlink.Message, datagrams [][]byte) [][]byte
	// sends and receives return an error of the socket. expired is closed when its
	// deadline is over.
	sends    func(expired <-chan struct{}, m netlink.Message) error
	receives func(expired <-chan struct{}) error

	// opened and closed count sockets.
	opened, closed int
	// requests are the types of the messages that were sent.
	requests []uint16
}

func (k *fakeKernel) namespace() (netnsID, error) { return k.in, k.missing }

func (k *fakeKernel) open() (*conn, error) {
	if k.missing != nil {
		return nil, k.missing
	}
	if k.opens != nil {
		if err := k.opens(); err != nil {
			return nil, err
		}
	}
	k.opened++
	return &conn{netlink.NewConn(&fakeSocket{kernel: k}, fakePort), k.in}, nil
}

// fakeSocket is a socket of the fake kernel. It implements netlink.Socket.
type fakeSocket struct {
	kernel   *fakeKernel
	queue    [][]byte
	closed   bool
	sequence uint32
	// expired is closed when the deadline is over.
	expired chan struct{}
}

func (s *fakeSocket) Close() error {
	if s.closed {
		return unix.EBADF
	}
	s.closed = true
	s.kernel.closed++
	return nil
}

// SetDeadline removes the deadline, or ends it now.
func (s *fakeSocket) SetDeadline(t time.Time) error {
	if t.IsZero() {
		s.expired = make(chan struct{})
	} else {
		close(s.expired)
	}
	return nil
}

func (s *fakeSocket) SetReadDeadline(time.Time) error  { return unix.EOPNOTSUPP }
func (s *fakeSocket) SetWriteDeadline(time.Time) error { return unix.EOPNOTSUPP }

func (s *fakeSocket) Send(m netlink.Message) error {
	encoded, err := m.MarshalBinary()
	if err != nil {
		return err
	}
	if m, err = onlyMessage(encoded); err != nil {
		return err
	}
	if s.sequence != 0 && m.Header.Sequence != s.sequence+1 {
		return fmt.Errorf("request %d after request %d", m.Header.Sequence, s.sequence)
	}
	s.sequence = m.Header.Sequence
	s.kernel.requests = append(s.kernel.requests, uint16(m.Header.Type))
	if s.kernel.sends != nil {
		if err := s.kernel.sends(s.expired, m); err != nil {
			return err
		}
	}
	datagrams := s.kernel.answer(m)
	if s.kernel.answers != nil {
		datagrams = s.kernel.answers(m, datagrams)
	}
	s.queue = append(s.queue, datagrams...)
	select {
	case <-s.expired:
		return os.ErrDeadlineExceeded
	default:
		return nil
	}
}

func (s *fakeSocket) SendMessages([]netlink.Message) error { return unix.EOPNOTSUPP }

func (s *fakeSocket) Receive() ([]netlink.Message, error) { return nil, unix.EOPNOTSUPP }

// ReceiveIter iterates over the messages of one datagram.
func (s *fakeSocket) ReceiveIter() iter.Seq2[netlink.Message, error] {
	fails := func(err error) iter.Seq2[netlink.Message, error] {
		return func(yield func(netlink.Message, error) bool) { yield(netlink.Message{}, err) }
	}
	if s.kernel.receives != nil {
		if err := s.kernel.receives(s.expired); err != nil {
			return fails(err)
		}
	}
	if len(s.queue) == 0 {
		<-s.expired
		return fails(os.ErrDeadlineExceeded)
	}
	datagram := s.queue[0]
	s.queue = s.queue[1:]
	if len(datagram) > maxDatagram {
		return fails(errors.New("message truncated"))
	}
	return messages(datagram)
}

// messages iterates over the messages of a datagram, as the library does.
func messages(datagram []byte) iter.Seq2[netlink.Message, error] {
	return func(yield func(netlink.Message, error) bool) {
		datagram = append(datagram, make([]byte, aligned(len(datagram))-len(datagram))...)
		for len(datagram) >= unix.SizeofNlMsghdr {
			length := min(len(datagram), aligned(int(binary.NativeEndian.Uint32(datagram))))
			var m netlink.Message
			err := m.UnmarshalBinary(datagram[:length])
			if !yield(m, err) || err != nil {
				return
			}
			datagram = datagram[length:]
		}
	}
}

// onlyMessage reads a datagram of one message.
func onlyMessage(datagram []byte) (netlink.Message, error) {
	var found []netlink.Message
	for m, err := range messages(datagram) {
		if err != nil {
			return m, err
		}
		found = append(found, m)
	}
	if len(found) != 1 {
		return netlink.Message{}, fmt.Errorf("%d messages, want 1", len(found))
	}
	return found[0], nil
}

func appendAttribute(b []byte, kind uint16, data []byte) []byte {
	length := unix.SizeofRtAttr + len(data)
	b = binary.NativeEndian.AppendUint16(b, uint16(length))
	b = binary.NativeEndian.AppendUint16(b, kind)
	b = append(b, data...)
	return append(b, make([]byte, aligned(length)-length)...)
}

func cString(s string) []byte { return append([]byte(s), 0) }

// aligned is a length with the padding after it: NLMSG_ALIGN and RTA_ALIGN.
func aligned(length int) int { return (length + 3) &^ 3 }

// answer performs a request.
func (k *fakeKernel) answer(m netlink.Message) [][]byte {
	if errno, ok := k.refused[uint16(m.Header.Type)]; ok {
		return fakeError(m, errno)
	}
	switch m.Header.Type {
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
func requestedLink(m netlink.Message) fakeLink {
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
	top := attributes(m.Data[unix.SizeofIfInfomsg:])
	link.name = string(beforeNUL(top[unix.IFLA_IFNAME]))
	info := attributes(top[unix.IFLA_LINKINFO])
	link.kind = string(info[unix.IFLA_INFO_KIND])
	if peer := attributes(info[unix.IFLA_INFO_DATA])[vethPeer]; peer != nil {
		link.peer = string(beforeNUL(attributes(peer[unix.SizeofIfInfomsg:])[unix.IFLA_IFNAME]))
	}
	return link
}

// dump lists the links in multipart messages (netlink(7)), a few in each datagram.
func (k *fakeKernel) dump(request netlink.Message) [][]byte {
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

// encode encodes the link as the data of a message RTM_NEWLINK, with attributes before
// and after the names. It has about the size of a real link.
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
func fakeMessage(request netlink.Message, kind, flags uint16, data []byte) []byte {
	b := binary.NativeEndian.AppendUint32(nil, uint32(unix.SizeofNlMsghdr+len(data)))
	b = binary.NativeEndian.AppendUint16(b, kind)
	b = binary.NativeEndian.AppendUint16(b, flags)
	b = binary.NativeEndian.AppendUint32(b, request.Header.Sequence)
	b = binary.NativeEndian.AppendUint32(b, fakePort)
	b = append(b, data...)
	return append(b, make([]byte, aligned(len(b))-len(b))...)
}

// fakeError is an answer of one message: an error, or an acknowledgement if errno is 0.
func fakeError(request netlink.Message, errno unix.Errno) [][]byte {
	return [][]byte{fakeMessage(request, unix.NLMSG_ERROR, 0, append(fakeErrno(errno), make([]byte, unix.SizeofNlMsghdr)...))}
}

func fakeErrno(errno unix.Errno) []byte {
	return binary.NativeEndian.AppendUint32(nil, uint32(-int32(errno)))
}

// sampleLines formats samples, one in each line and sorted, without failures of the value
// 0 and without the label netlink.
func sampleLines(samples []collectors.Sample) string {
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

// fakeNetlink returns a collector over the fake kernel.
func fakeCollector(t testing.TB, config Config, kernel *fakeKernel) *collector {
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
	return collectorOf("host", config, kernel)
}
