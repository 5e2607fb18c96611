//go:build !linux

package fakes

import (
	"context"
	"net"
)

// port is a TCP port on 127.0.0.1 that was free when it was chosen.
type port struct {
	addr string
}

// reserve finds a free port. Another program may bind it while no server listens.
func reserve() (*port, error) {
	ln, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return &port{addr: ln.Addr().String()}, ln.Close()
}

func (*port) release() error { return nil }
