//go:build e2e

// Command pause waits for the end. As the first process of a PID namespace it also lets
// go of those that have ended, and whose parents have.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	end, child := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM, syscall.SIGINT)
	signal.Notify(child, syscall.SIGCHLD)
	for {
		select {
		case <-end:
			return
		case <-child:
			for pid := 1; pid > 0; {
				pid, _ = syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
			}
		}
	}
}
