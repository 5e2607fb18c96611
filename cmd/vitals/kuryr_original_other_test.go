//go:build !linux

package main

import (
	"net"
	"testing"
)

// reservedAddress returns an address of 127.0.0.1 that was free when it was chosen. Another program
// may bind it while no server listens.
func reservedAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
