package netlink

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/mdlayher/socket"
	"github.com/vitals-health/vitals/collectors"
	"golang.org/x/sys/unix"
)

// kernel opens sockets in one network namespace.
type kernel interface {
	// namespace says which namespace is meant now.
	namespace() (netnsID, error)
	open() (conn, error)
}

// netnsID is the identity of a network namespace: the device and the inode of its file,
// see namespaces(7). Zero is the own one.
type netnsID struct{ device, inode uint64 }

// netlinkPath is the path of the namespace; empty is the own one.
type netlinkPath string

func (p netlinkPath) namespace() (netnsID, error) {
	if p == "" {
		return netnsID{}, nil
	}
	var stat unix.Stat_t
	if err := unix.Stat(string(p), &stat); err != nil {
		return netnsID{}, p.fault("look at", err)
	}
	// What is opened may be something else by then; then setns(2) refuses it.
	if stat.Mode&unix.S_IFMT != unix.S_IFREG {
		return netnsID{}, p.fault("look at", errors.New("it is no network namespace"))
	}
	return identity(stat), nil
}

func identity(stat unix.Stat_t) netnsID { return netnsID{uint64(stat.Dev), stat.Ino} }

// open implements kernel. A thread of its own enters the namespace to open the
// socket; one that cannot come back from there ends.
func (p netlinkPath) open() (conn, error) {
	if p == "" {
		return openNetlink(netnsID{}, 0)
	}
	if _, err := p.namespace(); err != nil {
		return nil, err
	}
	fd, err := unix.Open(string(p), unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, p.fault("open", err)
	}
	defer unix.Close(fd)
	var meant, own unix.Stat_t
	if err := unix.Fstat(fd, &meant); err != nil {
		return nil, p.fault("look at", err)
	}
	// Nothing is entered, and no permission needed, where one is already.
	if unix.Stat("/proc/thread-self/ns/net", &own) == nil && identity(own) == identity(meant) {
		return openNetlink(identity(meant), 0)
	}
	conn, err := openNetlink(identity(meant), fd)
	if err != nil {
		return nil, p.fault("enter", err)
	}
	return conn, nil
}

// fault says what could not be done with the namespace.
func (p netlinkPath) fault(what string, err error) error {
	reason := reasonOfNetlink(err)
	if reason == protocol {
		reason = namespace
	}
	return collectors.Errorf(reason, "%s network namespace %s: %w", what, string(p), err)
}

// netlinkSocket is a socket of the kernel.
type netlinkSocket struct {
	conn    *socket.Conn
	in      netnsID
	address uint32
}

// openNetlink opens a socket in the namespace of a file, or in the own one if there is
// none (0).
func openNetlink(in netnsID, file int) (conn, error) {
	conn, err := socket.Socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE, "netlink", &socket.Config{NetNS: file})
	if err != nil {
		return nil, fmt.Errorf("open netlink socket: %w", err)
	}
	s := &netlinkSocket{conn: conn, in: in}
	if err := s.bind(); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return s, nil
}

// bind lets the kernel give the socket an address.
func (s *netlinkSocket) bind() error {
	if err := s.conn.Bind(&unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return fmt.Errorf("bind netlink socket: %w", err)
	}
	name, err := s.conn.Getsockname()
	if err != nil {
		return fmt.Errorf("address of netlink socket: %w", err)
	}
	address, ok := name.(*unix.SockaddrNetlink)
	if !ok {
		return errors.New("address of netlink socket: it is none of netlink")
	}
	s.address = address.Pid
	return nil
}

func (s *netlinkSocket) namespace() netnsID { return s.in }

func (s *netlinkSocket) port() uint32 { return s.address }

func (s *netlinkSocket) Close() error { return s.conn.Close() }

func (s *netlinkSocket) send(ctx context.Context, message []byte) error {
	return s.conn.Sendto(ctx, message, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK})
}

func (s *netlinkSocket) receive(ctx context.Context, buf []byte) (int, uint32, error) {
	n, from, err := s.conn.Recvfrom(ctx, buf, unix.MSG_TRUNC)
	if err != nil {
		return 0, 0, err
	}
	address, ok := from.(*unix.SockaddrNetlink)
	if !ok {
		return 0, 0, os.NewSyscallError("recvfrom", unix.EPROTO)
	}
	return n, address.Pid, nil
}
