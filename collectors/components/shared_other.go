//go:build !linux

package components

import (
	"context"
	"os"
	"time"
)

// each calls look at once, then every d until ctx ends.
func each(ctx context.Context, d time.Duration, look func()) { eachTick(ctx, d, look) }

// inMemory says whether readMemory can be used.
func inMemory(*os.File) bool { return false }

// readMemory is not used.
func readMemory(file *os.File) (byte, error) { return readFirst(file) }
