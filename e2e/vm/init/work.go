//go:build e2e

package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// mib is in bytes.
const mib = 1 << 20

// wait lasts until a signal ends the process.
func wait() error {
	fmt.Println("waiting")
	for {
		_ = unix.Pause() // it returns after a signal that does nothing
	}
}

// grow takes anonymous memory in steps of a MiB, spread over so many seconds, and holds it.
func grow(size, seconds int) error {
	pause := time.Duration(seconds) * time.Second / time.Duration(max(size, 1))
	for range size {
		step, err := unix.Mmap(-1, 0, mib, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
		if err != nil {
			return fmt.Errorf("take memory: %w", err)
		}
		for i := 0; i < len(step); i += os.Getpagesize() {
			step[i] = 1
		}
		if pause > 0 {
			<-time.After(pause)
		}
	}
	return wait()
}

// read leaves the file in the page cache, charged to the cgroup of this process.
func read(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := io.Copy(io.Discard, f); err != nil {
		return err
	}
	return wait()
}

// zombies starts children that end at once.
func zombies(n int) error {
	for range n {
		if _, err := os.StartProcess("/proc/self/exe", []string{"init", "nothing"}, &os.ProcAttr{}); err != nil {
			return fmt.Errorf("start child: %w", err)
		}
	}
	return wait()
}
