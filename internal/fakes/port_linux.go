package fakes

import (
	"fmt"
	"syscall"
)

// port is a TCP port on 127.0.0.1 that stays ours while nobody listens on it. A
// socket that is bound and never listens keeps the kernel from giving the port to
// another socket, connections to it are refused, and with SO_REUSEADDR on both
// (ip(7), socket(7)) our own listener can be bound beside it.
type port struct {
	addr string
	fd   int
}

// reserve takes a free port.
func reserve() (*port, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	p := &port{fd: fd}
	if err := p.bind(); err != nil {
		_ = p.release()
		return nil, err
	}
	return p, nil
}

func (p *port) bind() error {
	if err := syscall.SetsockoptInt(p.fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return err
	}
	if err := syscall.Bind(p.fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return err
	}
	name, err := syscall.Getsockname(p.fd)
	if err != nil {
		return err
	}
	inet, ok := name.(*syscall.SockaddrInet4)
	if !ok {
		return fmt.Errorf("address of type %T: expected IPv4", name)
	}
	p.addr = fmt.Sprintf("127.0.0.1:%d", inet.Port)
	return nil
}

func (p *port) release() error { return syscall.Close(p.fd) }
