//go:build !linux

package script

import (
	"context"
	"errors"
	"runtime"

	"github.com/vitals-health/vitals/collectors"
)

// run is only implemented on Linux: it must wait for a whole process group without losing its
// number.
func (c *command) run(context.Context) run {
	return run{err: &collectors.Error[reason]{Reason: start, Err: errors.New("scripts run on Linux only, not on " + runtime.GOOS)}}
}
