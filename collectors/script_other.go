//go:build !linux

package collectors

import (
	"context"
	"errors"
	"runtime"
)

// run needs to wait for a whole process group without losing its number, which is said
// differently on every system.
func (c *scriptCommand) run(context.Context) scriptRun {
	return scriptRun{err: &scriptError{scriptStart, errors.New("scripts are run on Linux only: not on " + runtime.GOOS)}}
}
