//go:build !linux

package components

import (
	"context"
	"os"
	"time"
)

// each calls poll at once, then every d until ctx ends.
func each(ctx context.Context, d time.Duration, poll func()) { eachTick(ctx, d, poll) }

// inMemory reports whether readMemory can be used.
func inMemory(*os.File) bool { return false }

// readMemory is not used.
func readMemory(file *os.File) (byte, error) { return readFirst(file) }
