//go:build !linux

package icmp

import (
	"errors"
	"net/netip"
	"runtime"
)

func open(netip.Addr) (socket, error) {
	return socket{}, errors.New("the kind icmp needs Linux: it does not exist on " + runtime.GOOS)
}
