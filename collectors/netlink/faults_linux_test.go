package netlink

import (
	"encoding/binary"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// Where the bytes of a message's header are.
const (
	atFlags    = 6
	atSequence = 8
	atPort     = 12
)

// change changes all messages of an answer.
func change(datagrams [][]byte, do func(message []byte)) [][]byte {
	for _, datagram := range datagrams {
		for rest := datagram; len(rest) > 0; {
			length := aligned(int(binary.NativeEndian.Uint32(rest)))
			do(rest[:length])
			rest = rest[length:]
		}
	}
	return datagrams
}

// always makes an answer that does not depend on the right one.
func always(datagrams ...string) func(netlink.Message, [][]byte) [][]byte {
	return func(netlink.Message, [][]byte) [][]byte {
		var all [][]byte
		for _, d := range datagrams {
			all = append(all, []byte(d))
		}
		return all
	}
}

func refuses(errno unix.Errno) map[uint16]unix.Errno {
	return map[uint16]unix.Errno{unix.RTM_GETLINK: errno}
}

func fails(err error) func(<-chan struct{}) error {
	return func(<-chan struct{}) error { return err }
}

// interrupt marks the first of the links of an answer.
func interrupt(_ netlink.Message, datagrams [][]byte) [][]byte {
	datagrams[0][atFlags] |= unix.NLM_F_DUMP_INTR
	return datagrams
}

// Each fault of a list has its reason and an error with the cause.
func TestListFails(t *testing.T) {
	opens := func(call string, errno unix.Errno) fakeKernel {
		return fakeKernel{opens: func() error { return os.NewSyscallError(call, errno) }}
	}
	header := func(at int) func(netlink.Message, [][]byte) [][]byte {
		return func(_ netlink.Message, datagrams [][]byte) [][]byte {
			return change(datagrams, func(message []byte) { message[at] ^= 1 })
		}
	}
	message := func(kind uint16, data ...byte) func(netlink.Message, [][]byte) [][]byte {
		return func(m netlink.Message, _ [][]byte) [][]byte { return [][]byte{fakeMessage(m, kind, 0, data)} }
	}
	tests := []struct {
		name   string
		kernel fakeKernel
		want   reason
		text   string
	}{
		{"no right to open a socket", opens("socket", unix.EACCES), forbidden, "list links: socket: permission denied"},
		{"a sandbox without netlink", opens("socket", unix.EAFNOSUPPORT), unsupported, "address family not supported"},
		{"a sandbox without routes", opens("socket", unix.EPROTONOSUPPORT), unsupported, "protocol not supported"},
		{"a filter of system calls", opens("socket", unix.ENOSYS), unsupported, "not implemented"},
		{"no descriptor left", opens("socket", unix.EMFILE), overflow, "too many open files"},
		{"no memory", opens("socket", unix.ENOMEM), overflow, "cannot allocate memory"},
		{"no namespace", fakeKernel{missing: netnsPath("/run/netns/x").fault("check", unix.ENOENT)}, namespace, "list links: check network namespace /run/netns/x: no such file"},
		{"no right to enter the namespace", fakeKernel{missing: netnsPath("/run/netns/x").fault("enter", unix.EPERM)}, forbidden, "enter network namespace /run/netns/x: operation not permitted"},
		{"no right to send", fakeKernel{sends: func(<-chan struct{}, netlink.Message) error { return os.NewSyscallError("sendto", unix.EPERM) }}, forbidden, "list links: netlink send: sendto: operation not permitted"},
		{"no room to send", fakeKernel{sends: func(<-chan struct{}, netlink.Message) error { return unix.ENOBUFS }}, overflow, "send: no buffer space"},
		{"the send takes too long", fakeKernel{sends: func(expired <-chan struct{}, _ netlink.Message) error { <-expired; return os.ErrDeadlineExceeded }}, timeout, "netlink send: i/o timeout"},
		{"a full receive buffer", fakeKernel{receives: fails(os.NewSyscallError("recvfrom", unix.ENOBUFS))}, overflow, "list links: netlink receive: recvfrom: no buffer space"},
		{"a socket that gives up", fakeKernel{receives: fails(unix.EAGAIN)}, timeout, "receive: resource temporarily unavailable"},
		{"no right to list", fakeKernel{refused: refuses(unix.EPERM)}, forbidden, "list links: netlink receive: operation not permitted"},
		{"no lists", fakeKernel{refused: refuses(unix.EOPNOTSUPP)}, unsupported, "operation not supported"},
		{"a request that the kernel does not understand", fakeKernel{refused: refuses(unix.EINVAL)}, protocol, "list links: netlink receive: invalid argument"},
		{"no answer", fakeKernel{answers: always()}, timeout, "receive: i/o timeout"},
		{"no end", fakeKernel{answers: func(_ netlink.Message, d [][]byte) [][]byte { return d[:len(d)-1] }}, timeout, "receive: i/o timeout"},
		{"an end with an error", fakeKernel{answers: func(m netlink.Message, d [][]byte) [][]byte {
			d[len(d)-1] = fakeMessage(m, unix.NLMSG_DONE, unix.NLM_F_MULTI, fakeErrno(unix.ENOMEM))
			return d
		}}, overflow, "cannot allocate memory"},
		{"an overrun", fakeKernel{answers: message(unix.NLMSG_OVERRUN)}, overflow, "no buffer space"},
		{"an acknowledgement instead of a list", fakeKernel{refused: refuses(0)}, protocol, "a message of the type 2 in a list of links"},
		{"an acknowledgement that is cut off", fakeKernel{answers: message(unix.NLMSG_ERROR, 1, 2, 3)}, protocol, "not enough data for netlink error code"},
		{"an error that is none", fakeKernel{answers: message(unix.NLMSG_ERROR, 1, 1, 1, 1)}, protocol, "errno "},
		{"an error that is no errno", fakeKernel{answers: message(unix.NLMSG_ERROR, fakeErrno(4096)...)}, protocol, "errno 4096"},
		{"links change during every try", fakeKernel{answers: interrupt}, interrupted, "list links: the links changed during the list"},
		{"a signal during every try", fakeKernel{receives: fails(unix.EINTR)}, interrupted, "interrupted system call"},
		{"another request's number", fakeKernel{answers: header(atSequence)}, protocol, "mismatched sequence in netlink reply"},
		{"another socket's port", fakeKernel{answers: header(atPort)}, protocol, "mismatched PID in netlink reply"},
		{"garbage", fakeKernel{answers: always("garbage")}, protocol, "a list without links"},
		{"zeros", fakeKernel{answers: always(strings.Repeat("\x00", 64))}, protocol, "not enough data to create a netlink message"},
		{"a message that is cut off", fakeKernel{answers: func(_ netlink.Message, d [][]byte) [][]byte { return [][]byte{d[0][:100]} }}, protocol, "not enough data to create a netlink message"},
		{"a datagram that is too long", fakeKernel{answers: always(strings.Repeat("x", maxDatagram+1))}, protocol, "message truncated"},
		{"something else than links", fakeKernel{answers: message(unix.RTM_NEWROUTE)}, protocol, "a message of the type 24 in a list of links"},
		{"a link without a name", fakeKernel{answers: message(unix.RTM_NEWLINK, make([]byte, 16)...)}, protocol, "a link without a name"},
		{"an empty datagram", fakeKernel{answers: func(_ netlink.Message, d [][]byte) [][]byte { return append([][]byte{nil}, d...) }}, protocol, "a list without links"},
		{"the end of a list without links", fakeKernel{answers: func(_ netlink.Message, d [][]byte) [][]byte { return d[len(d)-1:] }}, protocol, "a list without links"},
		{"a message without meaning", fakeKernel{answers: message(unix.NLMSG_NOOP)}, protocol, "a message of the type 1 in a list of links"},
		{"a message of another process", fakeKernel{answers: func(_ netlink.Message, d [][]byte) [][]byte {
			return append([][]byte{[]byte("this is no answer")}, d...)
		}}, protocol, "not enough data to create a netlink message"},
		{"half a link", fakeKernel{answers: message(unix.RTM_NEWLINK, 1, 2, 3, 4)}, protocol, "a link of 4 bytes: expected at least 16"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kernel := tt.kernel
				kernel.links = []fakeLink{{name: "lo", flags: linkWorks}}
				c := fakeCollector(t, Config{Interfaces: []string{"lo"}, WriteTest: veth}, &kernel)
				begin := time.Now()
				got, err := collect(t, c)
				if want := "failure " + string(tt.want) + " 1\nup 0"; got != want {
					t.Errorf("Collect() = %q, want %q", got, want)
				}
				if err == nil || !strings.Contains(err.Error(), tt.text) {
					t.Errorf("Collect() = %v, want an error with %q", err, tt.text)
				}
				if took := time.Since(begin); took > time.Second {
					t.Errorf("Collect() took %s, want at most a second", took)
				}
				if kernel.opened != kernel.closed {
					t.Errorf("%d sockets opened and %d closed, want as many", kernel.opened, kernel.closed)
				}
			})
		})
	}
}

// Valid answers.
func TestListSucceeds(t *testing.T) {
	tests := []struct {
		name   string
		kernel fakeKernel
	}{
		{"an end without data", fakeKernel{answers: func(m netlink.Message, d [][]byte) [][]byte {
			d[len(d)-1] = fakeMessage(m, unix.NLMSG_DONE, unix.NLM_F_MULTI, nil)
			return d
		}}},
		{"everything in one datagram", fakeKernel{answers: func(_ netlink.Message, d [][]byte) [][]byte { return [][]byte{slices.Concat(d...)} }}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kernel := tt.kernel
				kernel.links = []fakeLink{{name: "lo", flags: linkWorks}}
				if got, err := collect(t, fakeCollector(t, Config{}, &kernel)); got != "links 1\nup 1" || err != nil {
					t.Errorf("Collect() = %q, %v, want one link and no error", got, err)
				}
			})
		})
	}
}

// An interrupted list is requested again.
func TestListIsRepeated(t *testing.T) {
	for interrupted := range tries {
		lists := 0
		kernel := &fakeKernel{links: []fakeLink{{name: "lo", flags: linkWorks}}}
		kernel.answers = func(m netlink.Message, datagrams [][]byte) [][]byte {
			if lists++; lists <= interrupted {
				return interrupt(m, datagrams)
			}
			return datagrams
		}
		if got, err := collect(t, fakeCollector(t, Config{}, kernel)); got != "links 1\nup 1" || err != nil || lists != interrupted+1 || kernel.opened != 1 {
			t.Errorf("Collect() = %q, %v after %d lists over %d sockets, want one link after %d lists over one", got, err, lists, kernel.opened, interrupted+1)
		}
	}
}

// If the deadline is reached during the second try, the reason is that of the first.
func TestInterruptedUntilTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := true
		kernel := &fakeKernel{links: []fakeLink{{name: "lo"}}}
		kernel.answers = func(m netlink.Message, datagrams [][]byte) [][]byte {
			if first {
				first = false
				return interrupt(m, datagrams)
			}
			return nil
		}
		if got, err := collect(t, fakeCollector(t, Config{}, kernel)); got != "failure interrupted 1\nup 0" || err == nil {
			t.Errorf("Collect() = %q, %v, want interrupted", got, err)
		}
	})
}
