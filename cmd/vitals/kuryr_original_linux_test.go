package main

import (
	"fmt"
	"syscall"
	"testing"
)

// reservedAddress returns an address of 127.0.0.1 whose port stays reserved until the test ends,
// also while no server listens on it: connections are then refused. A bound socket that never
// listens keeps the kernel from assigning the port to another socket. With SO_REUSEADDR on both
// sockets (ip(7), socket(7)) a server can bind the same port.
func reservedAddress(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	inet, ok := name.(*syscall.SockaddrInet4)
	if err != nil || !ok {
		t.Fatalf("getsockname: %v, %v, want an IPv4 address", name, err)
	}
	return fmt.Sprintf("127.0.0.1:%d", inet.Port)
}
