package fakes

import (
	"fmt"
	"syscall"
)

// port is a TCP port on 127.0.0.1 that stays reserved while no server listens on it. A
// bound socket that never listens keeps the kernel from assigning the port to another
// socket, and connections to it are refused. With SO_REUSEADDR on both sockets (ip(7),
// socket(7)) the server can bind the same port.
type port struct {
	addr string
	fd   int
}

// reserve reserves a free port.
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
