package netlink

import (
	"context"
	"encoding/binary"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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
func always(datagrams ...string) func(message, [][]byte) [][]byte {
	return func(message, [][]byte) [][]byte {
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

func fails(err error) func(context.Context) error {
	return func(context.Context) error { return err }
}

// interrupt marks the first of the links of an answer.
func interrupt(_ message, datagrams [][]byte) [][]byte {
	datagrams[0][atFlags] |= unix.NLM_F_DUMP_INTR
	return datagrams
}

// Every way in which a list can fail has its reason, and an error that says what.
func TestListFails(t *testing.T) {
	opens := func(call string, errno unix.Errno) fakeKernel {
		return fakeKernel{opens: func() error { return os.NewSyscallError(call, errno) }}
	}
	header := func(at int) func(message, [][]byte) [][]byte {
		return func(_ message, datagrams [][]byte) [][]byte {
			return change(datagrams, func(message []byte) { message[at] ^= 1 })
		}
	}
	said := func(kind uint16, data ...byte) func(message, [][]byte) [][]byte {
		return func(m message, _ [][]byte) [][]byte { return [][]byte{fakeMessage(m, kind, 0, data)} }
	}
	tests := []struct {
		name   string
		kernel fakeKernel
		want   reason
		says   string
	}{
		{"no right to open a socket", opens("socket", unix.EACCES), forbidden, "list links: socket: permission denied"},
		{"a sandbox without netlink", opens("socket", unix.EAFNOSUPPORT), unsupported, "address family not supported"},
		{"a sandbox without routes", opens("socket", unix.EPROTONOSUPPORT), unsupported, "protocol not supported"},
		{"a filter of system calls", opens("socket", unix.ENOSYS), unsupported, "not implemented"},
		{"no descriptor left", opens("socket", unix.EMFILE), overflow, "too many open files"},
		{"no memory", opens("socket", unix.ENOMEM), overflow, "cannot allocate memory"},
		{"no namespace", fakeKernel{missing: netlinkPath("/run/netns/x").fault("look at", unix.ENOENT)}, namespace, "list links: look at network namespace /run/netns/x: no such file"},
		{"no right to enter the namespace", fakeKernel{missing: netlinkPath("/run/netns/x").fault("enter", unix.EPERM)}, forbidden, "enter network namespace /run/netns/x: operation not permitted"},
		{"no right to send", fakeKernel{sends: func(context.Context, message) error { return os.NewSyscallError("sendto", unix.EPERM) }}, forbidden, "list links: send: sendto: operation not permitted"},
		{"no room to send", fakeKernel{sends: func(context.Context, message) error { return unix.ENOBUFS }}, overflow, "send: no buffer space"},
		{"the send takes too long", fakeKernel{sends: func(ctx context.Context, _ message) error { <-ctx.Done(); return ctx.Err() }}, timeout, "send: context deadline exceeded"},
		{"a full receive buffer", fakeKernel{receives: fails(os.NewSyscallError("recvfrom", unix.ENOBUFS))}, overflow, "list links: receive: recvfrom: no buffer space"},
		{"a socket that gives up", fakeKernel{receives: fails(unix.EAGAIN)}, timeout, "receive: resource temporarily unavailable"},
		{"no right to list", fakeKernel{refused: refuses(unix.EPERM)}, forbidden, "list links: operation not permitted"},
		{"no lists", fakeKernel{refused: refuses(unix.EOPNOTSUPP)}, unsupported, "operation not supported"},
		{"a request that the kernel does not understand", fakeKernel{refused: refuses(unix.EINVAL)}, protocol, "list links: invalid argument"},
		{"no answer", fakeKernel{answers: always()}, timeout, "receive: context deadline exceeded"},
		{"no end", fakeKernel{answers: func(_ message, d [][]byte) [][]byte { return d[:len(d)-1] }}, timeout, "receive: context deadline exceeded"},
		{"an end that says an error", fakeKernel{answers: func(m message, d [][]byte) [][]byte {
			d[len(d)-1] = fakeMessage(m, unix.NLMSG_DONE, unix.NLM_F_MULTI, fakeErrno(unix.ENOMEM))
			return d
		}}, overflow, "cannot allocate memory"},
		{"an overrun", fakeKernel{answers: said(unix.NLMSG_OVERRUN)}, overflow, "no buffer space"},
		{"an acknowledgement instead of a list", fakeKernel{refused: refuses(0)}, protocol, "a message of the type 2 in a list of links"},
		{"an acknowledgement that is cut off", fakeKernel{answers: said(unix.NLMSG_ERROR, 1, 2, 3)}, protocol, "an error of 3 bytes"},
		{"an error that is none", fakeKernel{answers: said(unix.NLMSG_ERROR, 1, 1, 1, 1)}, protocol, "expected -4095 to 0"},
		{"an error that is no errno", fakeKernel{answers: said(unix.NLMSG_ERROR, fakeErrno(4096)...)}, protocol, "error -4096: expected -4095 to 0"},
		{"links change during every try", fakeKernel{answers: interrupt}, netlinkInterrupted, "list links: the links changed meanwhile"},
		{"a signal during every try", fakeKernel{receives: fails(unix.EINTR)}, netlinkInterrupted, "interrupted system call"},
		{"another request's number", fakeKernel{answers: header(atSequence)}, protocol, "an answer to request 0: expected one to 1"},
		{"another socket's port", fakeKernel{answers: header(atPort)}, protocol, "an answer to port 4710: expected one to 4711"},
		{"garbage", fakeKernel{answers: always("garbage")}, protocol, "7 bytes where a message of at least 16 is expected"},
		{"zeros", fakeKernel{answers: always(strings.Repeat("\x00", 64))}, protocol, "a message of 0 bytes in 64"},
		{"a message that is cut off", fakeKernel{answers: func(_ message, d [][]byte) [][]byte { return [][]byte{d[0][:100]} }}, protocol, "in 100"},
		{"a datagram that is too long", fakeKernel{answers: always(strings.Repeat("x", netlinkDatagram+1))}, protocol, "a datagram of 32769 bytes was cut to 32768"},
		{"something else than links", fakeKernel{answers: said(unix.RTM_NEWROUTE)}, protocol, "a message of the type 24 in a list of links"},
		{"a link without a name", fakeKernel{answers: said(unix.RTM_NEWLINK, make([]byte, 16)...)}, protocol, "a link without a name"},
		{"half a link", fakeKernel{answers: said(unix.RTM_NEWLINK, 1, 2, 3, 4)}, protocol, "a link of 4 bytes: expected at least 16"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kernel := tt.kernel
				kernel.links = []fakeLink{{name: "lo", flags: linkWorks}}
				c := fakeNetlink(t, Config{Interfaces: []string{"lo"}, WriteTest: veth}, &kernel)
				begin := time.Now()
				got, err := round(t, c)
				if want := "failure " + string(tt.want) + " 1\nup 0"; got != want {
					t.Errorf("Collect() = %q, want %q", got, want)
				}
				if err == nil || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("Collect() = %v, want an error with %q", err, tt.says)
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

// What is no fault.
func TestListGoesOn(t *testing.T) {
	tests := []struct {
		name   string
		kernel fakeKernel
	}{
		{"an end without data", fakeKernel{answers: func(m message, d [][]byte) [][]byte {
			d[len(d)-1] = fakeMessage(m, unix.NLMSG_DONE, unix.NLM_F_MULTI, nil)
			return d
		}}},
		{"everything in one datagram", fakeKernel{answers: func(_ message, d [][]byte) [][]byte { return [][]byte{slices.Concat(d...)} }}},
		{"an empty datagram", fakeKernel{answers: func(_ message, d [][]byte) [][]byte { return append([][]byte{nil}, d...) }}},
		{"a message that means nothing", fakeKernel{answers: func(m message, d [][]byte) [][]byte {
			return append([][]byte{fakeMessage(m, unix.NLMSG_NOOP, 0, nil)}, d...)
		}}},
		{"another process' message", fakeKernel{from: 1234, answers: func(_ message, d [][]byte) [][]byte {
			return append([][]byte{[]byte("this is no answer")}, d...)
		}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kernel := tt.kernel
				kernel.links = []fakeLink{{name: "lo", flags: linkWorks}}
				if got, err := round(t, fakeNetlink(t, Config{}, &kernel)); got != "links 1\nup 1" || err != nil {
					t.Errorf("Collect() = %q, %v, want one link and no error", got, err)
				}
			})
		})
	}
}

// A list that was interrupted is asked for again.
func TestAsksAgain(t *testing.T) {
	for interrupted := range tries {
		lists := 0
		kernel := &fakeKernel{links: []fakeLink{{name: "lo", flags: linkWorks}}}
		kernel.answers = func(m message, datagrams [][]byte) [][]byte {
			if lists++; lists <= interrupted {
				return interrupt(m, datagrams)
			}
			return datagrams
		}
		if got, err := round(t, fakeNetlink(t, Config{}, kernel)); got != "links 1\nup 1" || err != nil || lists != interrupted+1 || kernel.opened != 1 {
			t.Errorf("Collect() = %q, %v after %d lists over %d sockets, want one link after %d lists over one", got, err, lists, kernel.opened, interrupted+1)
		}
	}
}

// When the time is over during the second try, the first says why.
func TestInterruptedUntilTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := true
		kernel := &fakeKernel{links: []fakeLink{{name: "lo"}}}
		kernel.answers = func(m message, datagrams [][]byte) [][]byte {
			if first {
				first = false
				return interrupt(m, datagrams)
			}
			return nil
		}
		if got, err := round(t, fakeNetlink(t, Config{}, kernel)); got != "failure interrupted 1\nup 0" || err == nil {
			t.Errorf("Collect() = %q, %v, want interrupted", got, err)
		}
	})
}
