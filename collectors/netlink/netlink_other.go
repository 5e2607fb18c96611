//go:build !linux

package netlink

import (
	"errors"
	"runtime"

	"github.com/vitals-health/vitals/collectors"
)

func newCollector(string, Config) (collectors.Collector, error) {
	return nil, errors.New("netlink is a part of Linux: it does not exist on " + runtime.GOOS)
}
