package tcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http/httptrace"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// address is where a server listens: a host and a port, or a Unix socket.
type address struct {
	host, port string
	// socket is the path of a Unix socket, "" for a host. One that begins with @ is
	// abstract; one with *, ? or [ is a pattern.
	socket string
}

// parseAddress reads host:port, [v6]:port, unix:/path or unix:@abstract.
func parseAddress(text string) (address, error) {
	if socket, ok := strings.CutPrefix(text, "unix:"); ok {
		return parseSocketAddress(socket)
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil || host == "" || strings.ContainsAny(host, "/@ ") {
		return address{}, fmt.Errorf("address %q: expected host:port, [address]:port, unix:/path or unix:@name", text)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return address{}, fmt.Errorf("address %q: expected a port from 1 to 65535", text)
	}
	return address{host: host, port: port}, nil
}

func parseSocketAddress(socket string) (address, error) {
	abstract := strings.HasPrefix(socket, "@")
	switch {
	case !abstract && !filepath.IsAbs(socket), socket == "@":
		return address{}, fmt.Errorf("socket %q: expected an absolute path, or @ and a name", socket)
	case len(socket) > remote.MaxSocketPath:
		return address{}, fmt.Errorf("socket has %d bytes: expected at most %d", len(socket), remote.MaxSocketPath)
	}
	if _, err := filepath.Match(socket, ""); err != nil && !abstract {
		return address{}, fmt.Errorf("socket %q: expected a path or a pattern: %v", socket, err)
	}
	return address{socket: socket}, nil
}

// local reports whether the server is on this host.
func (a address) local() bool { return a.socket != "" || remote.LocalHost(a.host) }

// pattern reports whether the socket is a pattern, which found resolves.
func (a address) pattern() bool {
	return strings.HasPrefix(a.socket, "/") && strings.ContainsAny(a.socket, "*?[")
}

// name returns the host for protocols that send one.
func (a address) name() string {
	if a.socket != "" {
		return "localhost"
	}
	return a.host
}

func (a address) String() string {
	if a.socket != "" {
		return "unix:" + a.socket
	}
	return net.JoinHostPort(a.host, a.port)
}

// found returns the address with the one match of its pattern.
func (a address) found() (address, error) {
	if !a.pattern() {
		return a, nil
	}
	matches, err := filepath.Glob(a.socket)
	if err != nil {
		return a, collectors.Errorf(remote.ReasonMissingEndpoint, "match %s: %w", a, err)
	}
	if len(matches) != 1 {
		return a, collectors.Errorf(remote.ReasonMissingEndpoint, "%d sockets match %s: expected exactly one", len(matches), a)
	}
	return address{socket: matches[0]}, nil
}

// dial connects. resolve is the duration of the name lookup, zero for an address that
// needs none; connect is the rest.
func (a address) dial(ctx context.Context, family string) (conn net.Conn, resolve, connect time.Duration, err error) {
	network, to := "tcp"+strings.TrimPrefix(family, anyFamily), net.JoinHostPort(a.host, a.port)
	if a.socket != "" {
		network, to = "unix", a.socket
	}
	var queried time.Time
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		DNSStart: func(httptrace.DNSStartInfo) { queried = time.Now() },
		DNSDone: func(done httptrace.DNSDoneInfo) {
			if done.Err == nil {
				resolve = time.Since(queried)
			}
		},
	})
	start := time.Now()
	conn, err = new(net.Dialer).DialContext(ctx, network, to)
	if _, ok := errors.AsType[*net.AddrError](err); ok {
		err = collectors.Errorf(remote.ReasonDNS, "no address of the family IPv%s: %w", family, err)
	}
	if err != nil {
		return nil, resolve, 0, err
	}
	return conn, resolve, time.Since(start) - resolve, nil
}

// ofFamily reports whether the address may be of the family: a name always may.
func (a address) ofFamily(family string) bool {
	addr, err := netip.ParseAddr(a.host)
	switch {
	case err != nil || family == anyFamily:
		return true
	case family == "4":
		return addr.Unmap().Is4()
	}
	return addr.Is6() && !addr.Is4In6()
}
