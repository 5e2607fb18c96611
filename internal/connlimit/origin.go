package connlimit

import (
	"cmp"
	"net"
	"net/netip"
)

// origin is where a client comes from.
type origin struct {
	// network is the network of the address: /24, or /48 with IPv6.
	network netip.Prefix
	// address is the address of the client. A client with IPv6 usually has 64 bits of its own.
	// Any local process has all addresses of 127.0.0.0/8, so they are one.
	address netip.Prefix
}

// originOf returns the origin of a client. All clients of a Unix socket have the same one.
func originOf(a net.Addr) origin {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return origin{}
	}
	ip := tcp.AddrPort().Addr().Unmap().WithZone("")
	network, address := 48, 64
	switch {
	case ip.Is4() && ip.IsLoopback():
		network, address = 8, 8
	case ip.Is4():
		network, address = 24, 32
	}
	var o origin
	o.network, _ = ip.Prefix(network) // The address has as many bits.
	o.address, _ = ip.Prefix(address)
	return o
}

// load is the number of connections of a network, and of an address in it.
type load struct{ network, address int }

// compare orders loads by the network first.
func (l load) compare(other load) int {
	return cmp.Or(cmp.Compare(l.network, other.network), cmp.Compare(l.address, other.address))
}

// counts are the numbers of connections by network and by address.
type counts struct{ networks, addresses map[netip.Prefix]int }

func newCounts() counts {
	return counts{networks: map[netip.Prefix]int{}, addresses: map[netip.Prefix]int{}}
}

// of returns the load of an origin.
func (c counts) of(o origin) load { return load{c.networks[o.network], c.addresses[o.address]} }

// add counts n more connections of an origin.
func (c counts) add(o origin, n int) {
	add(c.networks, o.network, n)
	add(c.addresses, o.address, n)
}

func add(counts map[netip.Prefix]int, p netip.Prefix, n int) {
	if counts[p] += n; counts[p] == 0 {
		delete(counts, p)
	}
}
