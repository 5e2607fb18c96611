//go:build !linux

package script

import (
	"context"
	"errors"
	"runtime"

	"github.com/vitals-health/vitals/collectors"
)

// run needs to wait for a whole process group without losing its number, which is said
// differently on every system.
func (c *scriptCommand) run(context.Context) scriptRun {
	return scriptRun{err: &collectors.Error[reason]{scriptStart, errors.New("scripts are run on Linux only: not on " + runtime.GOOS)}}
}
