//go:build e2e

// Command init is the first program of the virtual machine in which end-to-end tests
// run. As process 1 it prepares the machine, runs the tests, and switches the machine
// off; started again with a verb, it is one of the processes that the tests check:
//
//	init as [KEY=VALUE...] -- COMMAND...   runs a command with another identity, see person
//	init hold [MIB]                        holds memory, and waits
//	init grow MIB SECONDS                  takes so much memory, evenly, in so long, and waits
//	init read FILE                         reads a file through the page cache, and waits
//	init zombies N                         has N zombie children, and waits
//	init load MODULE                       loads a module of the kernel
//	init netns FILE                        makes a network namespace
//	init links TYPE PREFIX N               makes links
//	init link NAME up|down|delete|churn    changes one; churn makes and deletes it over and over
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
)

func main() {
	// Namespaces and capabilities belong to a thread.
	runtime.LockOSThread()
	if os.Getpid() == 1 {
		boot(os.Stdout)
		return
	}
	if err := work(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "init:", err)
		os.Exit(1)
	}
}

// work is what process 1 does not do.
func work(args []string) error {
	verb, args := args[0], args[1:]
	number := func(i int) int {
		n, _ := strconv.Atoi(args[i]) // 0 for nonsense, which the test notices
		return n
	}
	switch {
	case verb == "as":
		return as(args)
	case verb == "hold" && len(args) == 0:
		return wait()
	case verb == "hold" && len(args) == 1:
		return grow(number(0), 0)
	case verb == "grow" && len(args) == 2:
		return grow(number(0), number(1))
	case verb == "read" && len(args) == 1:
		return read(args[0])
	case verb == "zombies" && len(args) == 1:
		return zombies(number(0))
	case verb == "load" && len(args) == 1:
		return load(args[0], "")
	case verb == "netns" && len(args) == 1:
		return netns(args[0])
	case verb == "links" && len(args) == 3:
		return addLinks(args[0], args[1], number(2))
	case verb == "link" && len(args) == 2:
		return changeLink(args[0], args[1])
	}
	return fmt.Errorf("%s %q: expected a verb of the package's comment with its arguments", verb, args)
}
