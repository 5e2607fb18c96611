package netlink

import (
	"errors"
	"fmt"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/vitals-health/vitals/collectors"
)

// maxDatagram is the longest datagram that the kernel sends for a list, in bytes:
// netlink_recvmsg in net/netlink/af_netlink.c. It sends a longer one only for a link
// that needs more.
const maxDatagram = 32 << 10

// kernel opens sockets in one network namespace.
type kernel interface {
	// namespace returns the identity of the namespace to which the path leads now.
	namespace() (netnsID, error)
	open() (*conn, error)
}

// conn is a socket and the network namespace in which it was opened.
type conn struct {
	*netlink.Conn
	namespace netnsID
}

// netnsID is the identity of a network namespace: the device and the inode of its file,
// see namespaces(7). The zero value is the namespace of this process.
type netnsID struct{ device, inode uint64 }

// netnsPath is the path of a network namespace; empty for that of this process.
type netnsPath string

func (p netnsPath) namespace() (netnsID, error) {
	if p == "" {
		return netnsID{}, nil
	}
	var stat unix.Stat_t
	if err := unix.Stat(string(p), &stat); err != nil {
		return netnsID{}, p.fault("check", err)
	}
	// The path can change before it is opened. Then setns(2) refuses the file.
	if stat.Mode&unix.S_IFMT != unix.S_IFREG {
		return netnsID{}, p.fault("check", errors.New("not a network namespace"))
	}
	return identity(stat), nil
}

func identity(stat unix.Stat_t) netnsID { return netnsID{uint64(stat.Dev), stat.Ino} }

// open implements kernel. A separate thread enters the namespace to open the socket.
// The thread ends if it cannot return.
func (p netnsPath) open() (*conn, error) {
	if p == "" {
		return openSocket(netnsID{}, 0)
	}
	if _, err := p.namespace(); err != nil {
		return nil, err
	}
	fd, err := unix.Open(string(p), unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, p.fault("open", err)
	}
	defer unix.Close(fd)
	var target, own unix.Stat_t
	if err := unix.Fstat(fd, &target); err != nil {
		return nil, p.fault("check", err)
	}
	// To open a socket in the current namespace needs no permission.
	if unix.Stat("/proc/thread-self/ns/net", &own) == nil && identity(own) == identity(target) {
		return openSocket(identity(target), 0)
	}
	c, err := openSocket(identity(target), fd)
	if err != nil {
		return nil, p.fault("enter", err)
	}
	return c, nil
}

// fault returns the error of an operation on the namespace.
func (p netnsPath) fault(operation string, err error) error {
	reason := reasonOf(err)
	if reason == protocol {
		reason = namespace
	}
	return collectors.Errorf(reason, "%s network namespace %s: %w", operation, string(p), err)
}

// openSocket opens a socket in the namespace of a file, or in that of this process if
// file is 0.
func openSocket(in netnsID, file int) (*conn, error) {
	c, err := netlink.Dial(unix.NETLINK_ROUTE, &netlink.Config{NetNS: file, MessageBufferSize: maxDatagram})
	if err != nil {
		return nil, fmt.Errorf("open netlink socket: %w", err)
	}
	return &conn{c, in}, nil
}
