//go:build !linux

package reaper

import "context"

// Run returns at once: reaping is implemented for Linux only.
func (r *Reaper) Run(context.Context) {}
