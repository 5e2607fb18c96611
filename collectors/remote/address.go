package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http/httptrace"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vitals-health/vitals/collectors"
)

// AnyFamily is the value of the key ip_family for the choice of the resolver.
const AnyFamily = "any"

// Address is where a server listens: a host and a port, or a Unix socket.
type Address struct {
	Host, Port string
	// Socket is the path of a Unix socket, "" for a host. One that begins with @ is
	// abstract; one with *, ? or [ is a pattern.
	Socket string
}

// ParseAddress reads host:port, [v6]:port, unix:/path or unix:@abstract.
func ParseAddress(text string) (Address, error) {
	if socket, ok := strings.CutPrefix(text, "unix:"); ok {
		return parseSocketAddress(socket)
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil || host == "" || strings.ContainsAny(host, "/@ ") {
		return Address{}, fmt.Errorf("address %q: expected host:port, [address]:port, unix:/path or unix:@name", text)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return Address{}, fmt.Errorf("address %q: expected a port from 1 to 65535", text)
	}
	return Address{Host: host, Port: port}, nil
}

func parseSocketAddress(socket string) (Address, error) {
	abstract := strings.HasPrefix(socket, "@")
	switch {
	case !abstract && !filepath.IsAbs(socket), socket == "@":
		return Address{}, fmt.Errorf("socket %q: expected an absolute path, or @ and a name", socket)
	case len(socket) > MaxSocketPath:
		return Address{}, fmt.Errorf("socket has %d bytes: expected at most %d", len(socket), MaxSocketPath)
	}
	if _, err := filepath.Match(socket, ""); err != nil && !abstract {
		return Address{}, fmt.Errorf("socket %q: expected a path or a pattern: %v", socket, err)
	}
	return Address{Socket: socket}, nil
}

// Local reports whether the server is on this host.
func (a Address) Local() bool { return a.Socket != "" || LocalHost(a.Host) }

// pattern reports whether the socket is a pattern, which Found resolves.
func (a Address) pattern() bool {
	return strings.HasPrefix(a.Socket, "/") && strings.ContainsAny(a.Socket, "*?[")
}

// Name returns the host for protocols that send one.
func (a Address) Name() string {
	if a.Socket != "" {
		return "localhost"
	}
	return a.Host
}

// String returns the address as ParseAddress reads it.
func (a Address) String() string {
	if a.Socket != "" {
		return "unix:" + a.Socket
	}
	return net.JoinHostPort(a.Host, a.Port)
}

// Found returns the address with the one match of its pattern.
func (a Address) Found() (Address, error) {
	if !a.pattern() {
		return a, nil
	}
	matches, err := filepath.Glob(a.Socket)
	if err != nil {
		return a, collectors.Errorf(ReasonMissingEndpoint, "match %s: %w", a, err)
	}
	if len(matches) != 1 {
		return a, collectors.Errorf(ReasonMissingEndpoint, "%d sockets match %s: expected exactly one", len(matches), a)
	}
	return Address{Socket: matches[0]}, nil
}

// Dial connects. resolve is the duration of the name lookup, zero for an address that
// needs none; connect is the rest.
func (a Address) Dial(ctx context.Context, family string) (conn net.Conn, resolve, connect time.Duration, err error) {
	network, to := "tcp"+strings.TrimPrefix(family, AnyFamily), net.JoinHostPort(a.Host, a.Port)
	if a.Socket != "" {
		network, to = "unix", a.Socket
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
		err = collectors.Errorf(ReasonDNS, "no address of the family IPv%s: %w", family, err)
	}
	if err != nil {
		return nil, resolve, 0, err
	}
	return conn, resolve, time.Since(start) - resolve, nil
}

// OfFamily reports whether the address may be of the family: a name always may.
func (a Address) OfFamily(family string) bool {
	addr, err := netip.ParseAddr(a.Host)
	switch {
	case err != nil || family == AnyFamily:
		return true
	case family == "4":
		return addr.Unmap().Is4()
	}
	return addr.Is6() && !addr.Is4In6()
}

// AddressProblems returns the address of the key address, and the mistakes of address and ip_family.
func AddressProblems(text, family string) (Address, []collectors.Problem) {
	address, err := ParseAddress(text)
	switch {
	case err != nil:
		return address, []collectors.Problem{{Path: "address", Text: err.Error()}}
	case !slices.Contains([]string{AnyFamily, "4", "6"}, family):
		return address, []collectors.Problem{{Path: "ip_family", Text: fmt.Sprintf("ip_family %q: expected any, 4 or 6", family)}}
	case !address.OfFamily(family):
		return address, []collectors.Problem{{Path: "ip_family", Text: fmt.Sprintf("ip_family %s: expected an address of that family, not %s", family, address.Host)}}
	}
	return address, nil
}
