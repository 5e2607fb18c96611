//go:build !linux

package disk

import (
	"errors"
	"runtime"
)

func stat(string) result {
	return result{err: errors.New("the kind disk needs Linux, this is " + runtime.GOOS)}
}
