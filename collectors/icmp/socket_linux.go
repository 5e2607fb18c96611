package icmp

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"strings"

	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
	"golang.org/x/sys/unix"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// open opens a socket to the peer: an unprivileged one (ping sockets, see icmp(7)), or else a raw
// one.
func open(peer netip.Addr) (socket, error) {
	conn, err := dial(peer, unix.SOCK_DGRAM)
	denied := &deniedError{}
	if errors.As(err, &denied) {
		unprivileged := denied.err
		if conn, err = dial(peer, unix.SOCK_RAW); errors.As(err, &denied) {
			return socket{}, permissionError(unprivileged, denied.err)
		}
	}
	if err != nil {
		return socket{}, err
	}
	s := socket{Conn: conn, peer: peer, id: uint16(rand.Uint32())}
	if local, ok := conn.LocalAddr().(*net.UDPAddr); ok {
		s.id = uint16(local.Port) // the identifier that the kernel sets
	}
	if s.receive, err = receiver(conn, peer); err != nil {
		_ = conn.Close()
		return socket{}, err
	}
	return s, nil
}

// deniedError means that no socket of a type can be created.
type deniedError struct{ err error }

// Error implements error.
func (e *deniedError) Error() string { return e.err.Error() }

// permissionError returns the error for a process that may open neither socket.
func permissionError(unprivileged, raw error) error {
	missing, cure := "no group of this process is in net.ipv4.ping_group_range", "add its group there, or add NET_RAW"
	if !errors.Is(unprivileged, unix.EACCES) {
		missing, cure = fmt.Sprintf("the kernel has no unprivileged ICMP (%v)", unprivileged), "add NET_RAW"
	}
	if errors.Is(raw, unix.EPERM) || errors.Is(raw, unix.EACCES) {
		return collectors.Errorf(reasonPermission, "%s, and it has no capability NET_RAW: %s", missing, cure)
	}
	return collectors.Errorf(reasonPermission, "%s, and there is no raw ICMP (%v): %s", missing, raw, cure)
}

// dial creates a socket of a type that is connected to the peer, so that it receives the errors of
// the network for its requests (IP_RECVERR in ip(7)).
func dial(peer netip.Addr, kind int) (net.Conn, error) {
	family, protocol, level, option := unix.AF_INET, unix.IPPROTO_ICMP, unix.IPPROTO_IP, unix.IP_RECVERR
	if peer.Is6() {
		family, protocol, level, option = unix.AF_INET6, unix.IPPROTO_ICMPV6, unix.IPPROTO_IPV6, unix.IPV6_RECVERR
	}
	fd, err := unix.Socket(family, kind|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, protocol)
	switch {
	case errors.Is(err, unix.EAFNOSUPPORT):
		return nil, collectors.Errorf(remote.ReasonRefused, "the kernel has no IPv6: %w", err)
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM), errors.Is(err, unix.EPROTONOSUPPORT), errors.Is(err, unix.ESOCKTNOSUPPORT):
		return nil, &deniedError{err}
	case err != nil:
		return nil, os.NewSyscallError("socket", err)
	}
	f := os.NewFile(uintptr(fd), "icmp")
	defer f.Close() // the connection has a descriptor of its own
	if err := unix.SetsockoptInt(fd, level, option, 1); err != nil {
		return nil, os.NewSyscallError("setsockopt", err)
	}
	to, err := sockaddr(peer)
	if err != nil {
		return nil, err
	}
	switch err := unix.Connect(fd, to); {
	case errors.Is(err, unix.EINVAL):
		return nil, collectors.Errorf(remote.ReasonRefused, "the route to %s is a blackhole", peer)
	case err != nil:
		return nil, os.NewSyscallError("connect", err)
	}
	conn, err := net.FileConn(f)
	if err != nil {
		return nil, fmt.Errorf("open socket: %w", err)
	}
	return conn, nil
}

func sockaddr(peer netip.Addr) (unix.Sockaddr, error) {
	if peer.Is4() {
		return &unix.SockaddrInet4{Addr: peer.As4()}, nil
	}
	to := &unix.SockaddrInet6{Addr: peer.As16()}
	if peer.Zone() != "" {
		link, err := net.InterfaceByName(peer.Zone())
		if err != nil {
			return nil, collectors.Errorf(remote.ReasonRefused, "interface %s: %w", strings.ToValidUTF8(peer.Zone(), ""), err)
		}
		to.ZoneId = uint32(link.Index)
	}
	return to, nil
}

// receiver returns the function that reads from conn.
func receiver(conn net.Conn, peer netip.Addr) (func([]byte) (int, int, net.Addr, error), error) {
	packets, ok := conn.(net.PacketConn)
	if !ok {
		return nil, fmt.Errorf("open socket: unexpected type %T", conn)
	}
	if peer.Is6() {
		p := ipv6.NewPacketConn(packets)
		return func(b []byte) (int, int, net.Addr, error) {
			n, control, from, err := p.ReadFrom(b)
			if control == nil {
				return n, 0, from, err
			}
			return n, control.HopLimit, from, err
		}, p.SetControlMessage(ipv6.FlagHopLimit, true)
	}
	p := ipv4.NewPacketConn(packets)
	return func(b []byte) (int, int, net.Addr, error) {
		n, control, from, err := p.ReadFrom(b)
		if control == nil {
			return n, 0, from, err
		}
		return n, control.TTL, from, err
	}, p.SetControlMessage(ipv4.FlagTTL, true)
}
