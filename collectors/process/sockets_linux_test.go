package process_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/process"
	"github.com/vitals-health/vitals/collectors/process/proctest"
)

// kernelSockets collects from the kernel's own proc(5) what this process holds. Connections
// in TIME_WAIT are left out: another process may have used the port.
func kernelSockets(t *testing.T, config string) string {
	t.Helper()
	c := collectortest.New(t, "p", fmt.Sprintf("pid: %d\n%s", os.Getpid(), config), &process.Config{})
	samples, err := collectortest.Collect(t, c)
	if err != nil {
		t.Fatalf("Collect() = %v, want no error", err)
	}
	seen, _ := socketsSeen(samples)
	return strings.Join(slices.DeleteFunc(seen, func(s string) bool { return strings.Contains(s, "time_wait") }), ", ")
}

// kernelWait waits until the kernel shows what a socket has become.
func kernelWait(t *testing.T, config, want string) {
	t.Helper()
	var got string
	defer func() {
		if got != want {
			t.Errorf("with %s: %s, want %s", config, got, want)
		}
	}()
	collectortest.Wait(t, strconv.Quote(want), func() bool { got = kernelSockets(t, config); return got == want })
}

// kernelListen listens with TCP until the test ends.
func kernelListen(t *testing.T, network, address string) (net.Listener, int) {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l, l.Addr().(*net.TCPAddr).Port
}

// kernelPair is a connection of this process with itself: the client end, and
// the one that was accepted.
func kernelPair(t *testing.T, network string, l net.Listener) (client, server net.Conn) {
	t.Helper()
	client, err := net.Dial(network, l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	if server, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	return client, server
}

// The states of real connections, none of which needs another host or rights.
func TestConnectionsForReal(t *testing.T) {
	for _, tt := range []struct{ name, network, address string }{
		{"E11 IPv4", "tcp4", "127.0.0.1:0"}, {"E17 IPv6", "tcp6", "[::1]:0"},
	} {
		t.Run(tt.name+" ESTABLISHED", func(t *testing.T) {
			l, port := kernelListen(t, tt.network, tt.address)
			config := fmt.Sprintf("connections: [%d]", port)
			kernelWait(t, config, "") // E20: it listens, and is not connected
			kernelPair(t, tt.network, l)
			kernelPair(t, tt.network, l)
			kernelWait(t, config, fmt.Sprintf("%d established 2", port))
		})
		t.Run(tt.name+" E13 CLOSE_WAIT", func(t *testing.T) {
			l, port := kernelListen(t, tt.network, tt.address)
			_, server := kernelPair(t, tt.network, l)
			if err := server.Close(); err != nil {
				t.Fatal(err)
			}
			kernelWait(t, fmt.Sprintf("connections: [%d]", port), fmt.Sprintf("%d close_wait", port))
		})
		t.Run(tt.name+" E14 TIME_WAIT", func(t *testing.T) {
			l, port := kernelListen(t, tt.network, tt.address)
			client, server := kernelPair(t, tt.network, l)
			if err := errors.Join(client.Close(), server.Close()); err != nil {
				t.Fatal(err)
			}
			config := fmt.Sprintf("connections: [%d]", port)
			kernelWait(t, config, "")
			c := collectortest.New(t, "p", "pid: "+strconv.Itoa(os.Getpid())+"\n"+config, &process.Config{})
			samples, err := collectortest.Collect(t, c)
			if n, _ := collectortest.Value(samples, fmt.Sprintf(`vitals_process_connections{port="%d",process="p",state="time_wait"}`, port)); n < 1 || err != nil {
				t.Errorf("Collect() = %v connections in TIME_WAIT, %v, want one at least", n, err)
			}
		})
	}
	t.Run("E17 IPv4 mapped into IPv6", func(t *testing.T) {
		_, port := kernelListen(t, "tcp4", "127.0.0.1:0")
		fd, err := syscall.Socket(syscall.AF_INET6, syscall.SOCK_STREAM, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer syscall.Close(fd)
		address := &syscall.SockaddrInet6{Port: port}
		copy(address.Addr[:], net.IPv4(127, 0, 0, 1).To16())
		if err := syscall.Connect(fd, address); err != nil {
			t.Fatal(err)
		}
		kernelWait(t, fmt.Sprintf("connections: [%d]", port), fmt.Sprintf("%d established", port))
	})
	t.Run("E16 local port that is equal", func(t *testing.T) {
		l, _ := kernelListen(t, "tcp4", "127.0.0.1:0")
		client, _ := kernelPair(t, "tcp4", l)
		port := client.LocalAddr().(*net.TCPAddr).Port
		// The accepted end found for its remote port, and the client itself has not.
		kernelWait(t, fmt.Sprintf("connections: [%d]", port), fmt.Sprintf("%d established", port))
		kernelWait(t, fmt.Sprintf("connections: [%d]\nlisten: [%d]", port, port), fmt.Sprintf("%d established", port))
	})
}

// A listener that accepts nothing and has no room left lets clients wait: the kernel
// drops connection requests beyond its backlog, see listen(2).
func TestSynSentForReal(t *testing.T) {
	for _, tt := range []struct {
		name   string
		family int
	}{{"E12 IPv4", syscall.AF_INET}, {"E12 E17 IPv6", syscall.AF_INET6}} {
		t.Run(tt.name, func(t *testing.T) {
			socket := func() int {
				fd, err := syscall.Socket(tt.family, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK, 0)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = syscall.Close(fd) })
				return fd
			}
			listener := socket()
			var loopback syscall.Sockaddr = &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}
			if tt.family == syscall.AF_INET6 {
				loopback = &syscall.SockaddrInet6{Addr: [16]byte{15: 1}}
			}
			if err := errors.Join(syscall.Bind(listener, loopback), syscall.Listen(listener, 0)); err != nil {
				t.Fatal(err)
			}
			address, err := syscall.Getsockname(listener)
			if err != nil {
				t.Fatal(err)
			}
			port := 0
			switch a := address.(type) {
			case *syscall.SockaddrInet4:
				port = a.Port
			case *syscall.SockaddrInet6:
				port = a.Port
			}
			connect := func() int {
				fd := socket()
				if err := syscall.Connect(fd, address); err != nil && !errors.Is(err, unix.EINPROGRESS) {
					t.Fatal(err)
				}
				return fd
			}
			config := fmt.Sprintf("connections: [%d]", port)
			first := connect() // fills the backlog, also once it has gone
			connect()
			connect()
			kernelWait(t, config, fmt.Sprintf("%d established, %d syn_sent 2", port, port))
			if err := syscall.Shutdown(first, syscall.SHUT_WR); err != nil {
				t.Fatal(err)
			}
			kernelWait(t, config, fmt.Sprintf("%d fin_wait2, %d syn_sent 2", port, port))
		})
	}
}

func TestListensForReal(t *testing.T) {
	for _, tt := range []struct{ name, network, address string }{
		{"E20 IPv4", "tcp4", "127.0.0.1:0"}, {"E20 IPv6", "tcp6", "[::1]:0"}, {"E20 both", "tcp", ":0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, port := kernelListen(t, tt.network, tt.address)
			config := fmt.Sprintf("listen: [%d]\nudp: [%d]", port, port)
			kernelWait(t, config, fmt.Sprintf("tcp %d", port))
			kernelPair(t, "tcp", l)
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			kernelWait(t, config, "")
		})
	}
}

func TestUDPForReal(t *testing.T) {
	for _, tt := range []struct{ name, network, address string }{
		{"E18 IPv4", "udp4", "127.0.0.1:0"}, {"E18 IPv6", "udp6", "[::1]:0"}, {"E18 both", "udp", ":0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bound, err := net.ListenPacket(tt.network, tt.address)
			if err != nil {
				t.Fatal(err)
			}
			defer bound.Close()
			port := bound.LocalAddr().(*net.UDPAddr).Port
			config := fmt.Sprintf("listen: [%d]\nudp: [%d]", port, port)
			kernelWait(t, config, fmt.Sprintf("udp %d", port))
			connected, err := net.Dial(tt.network, bound.LocalAddr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer connected.Close()
			if err := bound.Close(); err != nil {
				t.Fatal(err)
			}
			kernelWait(t, config, fmt.Sprintf("udp %d", port))
			if err := connected.Close(); err != nil {
				t.Fatal(err)
			}
			kernelWait(t, config, "")
		})
	}
}

// A path that another process has bound, or that is a file only, is not this one's.
func TestUnixSocketForReal(t *testing.T) {
	dir, other := collectortest.Dir(t), realPath(t)
	for _, tt := range []struct{ name, network, path string }{
		{"E21 stream", "unix", filepath.Join(dir, "s")}, {"E21 packets", "unixpacket", filepath.Join(dir, "p")}, {"E21 abstract", "unix", "@" + filepath.Base(dir)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			config := fmt.Sprintf("unix_sockets: [%q]", tt.path)
			kernelWait(t, config, "")
			l, err := net.Listen(tt.network, tt.path)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			kernelWait(t, config, tt.path)
			client, err := net.Dial(tt.network, tt.path)
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			server, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			kernelWait(t, config, "") // both ends of a connection are left
		})
	}
	t.Run("E21 datagrams", func(t *testing.T) {
		path := filepath.Join(dir, "d")
		c, err := net.ListenPacket("unixgram", path)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		kernelWait(t, fmt.Sprintf("unix_sockets: [%q]", path), path)
	})
	t.Run("E21 other process", func(t *testing.T) {
		path := filepath.Join(dir, "o")
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		p := startReal(t, other, "waits")
		c := collectortest.New(t, "p", fmt.Sprintf("pid: %d\nunix_sockets: [%q]", p.Pid, path), &process.Config{})
		samples, err := collectortest.Collect(t, c)
		if got, want := socketSeries(samples), "[] and 1 that are 0"; got != want || err != nil {
			t.Errorf("Collect() = %s, %v, want %s and no error", got, err, want)
		}
	})
}

// What the kernel refuses to show of one process makes the sockets of all unknown.
func TestSocketsAreForbidden(t *testing.T) {
	const prefix = "forbidden, up 1: "
	for closed, want := range map[string]string{
		"41/ns":       prefix + "read sockets of process 41: readlink /proc/41/ns/net: permission denied",
		"41/net":      "[5672 established] and 11 that are 0", // 40 is in the same namespace
		"40/net/tcp":  prefix + "find sockets in net:[1]: open /proc/40/net/tcp: permission denied",
		"40/net/tcp6": prefix + "find sockets in net:[1]: open /proc/40/net/tcp6: permission denied",
		"40/net/udp":  "[5672 established] and 11 that are 0", // no UDP is configured
		"40/net/unix": "[5672 established] and 11 that are 0",
	} {
		t.Run(strings.ReplaceAll(closed, "/", " "), func(t *testing.T) {
			first := proctest.Process{PID: 40, Comm: "x", Sockets: []int{1}, Net: map[string]string{"tcp": proctest.Inet(40000, 5672, established, 1)}}
			second := first
			second.PID, second.Start = 41, 1
			mount := proctest.ProcFS(t, first, second)
			proctest.OpenAll(t, mount)
			proctest.CloseFile(t, filepath.Join(mount, closed))
			c := collectortest.New(t, "p", "name: x\nconnections: [5672]\nprocfs: "+mount, &process.Config{})
			proctest.AsOther(t, func() {
				samples, err := c.Collect(t.Context())
				got := socketSeries(samples)
				if err != nil {
					got = strings.ReplaceAll(outcome(samples, err), mount, "/proc")
					if seen := socketSeries(samples); seen != "[] and 0 that are 0" {
						t.Errorf("Collect() has %s with an error, want no socket", seen)
					}
				}
				if got != want {
					t.Errorf("Collect() = %s, want %s", got, want)
				}
			})
		})
	}
}
