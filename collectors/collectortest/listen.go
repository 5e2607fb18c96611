package collectortest

import (
	"crypto/tls"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// Listen runs a server on a port of loopback, and returns its address. handle gets each connection
// in a goroutine of its own; the connection is closed when handle returns. The server ends with
// the test.
func Listen(t testing.TB, handle func(net.Conn)) string {
	t.Helper()
	return ListenOn(t, "tcp", "127.0.0.1:0", nil, handle)
}

// ListenOn is Listen on another address, as in "unix:/run/x.sock" for the network unix. Connections
// are TLS if there are settings; the handshake comes with the first read or write.
func ListenOn(t testing.TB, network, address string, settings *tls.Config, handle func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if settings != nil {
				conn = tls.Server(conn, settings)
			}
			wg.Go(func() {
				defer conn.Close()
				handle(conn)
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		wg.Wait()
	})
	if network == "unix" {
		return "unix:" + address
	}
	return l.Addr().String()
}

// Refusing returns an address that refuses connections over TCP until the end of the test: its
// port belongs to a socket that does not listen, so that no other program can take it.
func Refusing(t testing.TB) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	bound, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	inet := bound.(*syscall.SockaddrInet4)
	return (&net.TCPAddr{IP: inet.Addr[:], Port: inet.Port}).String()
}

// NoLeaks checks at the end of the test that it leaves no goroutine. Call it before anything
// that starts one.
func NoLeaks(t testing.TB) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
}

// Drain reads until the client leaves.
func Drain(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

// draining reads in the background until the client leaves, which closes the channel.
func draining(conn net.Conn) <-chan struct{} {
	left := make(chan struct{})
	go func() {
		defer close(left)
		Drain(conn)
	}()
	return left
}

// Once returns a server that sends a text, and then nothing until the client leaves.
func Once(text string) func(net.Conn) {
	return func(conn net.Conn) {
		left := draining(conn)
		_, _ = io.WriteString(conn, text)
		<-left
	}
}

// Closing returns a server that sends a text and closes the connection. It reads meanwhile, so that
// the client receives the text before the end.
func Closing(text string) func(net.Conn) {
	return func(conn net.Conn) {
		go Drain(conn)
		_, _ = io.WriteString(conn, text)
	}
}

// Forever returns a server that sends a text until the client leaves: more than 10 GB to one
// that does not.
func Forever(text string) func(net.Conn) {
	return func(conn net.Conn) {
		go Drain(conn)
		for again := strings.Repeat(text, 1+4096/len(text)); ; {
			if _, err := io.WriteString(conn, again); err != nil {
				return
			}
		}
	}
}

// Slowly returns a server that sends a text one byte at a time, and waits in between: too slow for
// any deadline, and never silent for long.
func Slowly(text string) func(net.Conn) {
	return func(conn net.Conn) {
		left := draining(conn)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for i := range len(text) {
			if _, err := io.WriteString(conn, text[i:i+1]); err != nil {
				return
			}
			select {
			case <-tick.C:
			case <-left:
				return
			}
		}
		<-left
	}
}
