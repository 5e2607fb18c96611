//go:build !linux

package netlink

import (
	"errors"
	"runtime"
)

func newNetlink(string, NetlinkConfig) (Collector, error) {
	return nil, errors.New("netlink is a part of Linux: there is none on " + runtime.GOOS)
}
