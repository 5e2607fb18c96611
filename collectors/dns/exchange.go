package dns

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

const (
	// udpSize is the largest response over UDP in bytes: what the DNS Flag Day 2020 found to
	// pass networks without fragments.
	udpSize = 1232
	// maxMessage is the largest response over TCP in bytes, with its length before it.
	maxMessage = 2 + 1<<16
	// maxStrays bounds how many datagrams that are no response to the query are read.
	maxStrays = 16
)

// query returns the message for a question. The AD bit of a query requests that of the response
// (RFC 6840 section 5.7).
func query(question dnsmessage.Question, recursion bool) (id uint16, message []byte, err error) {
	var random [2]byte
	_, _ = rand.Read(random[:]) // it never fails
	id = binary.BigEndian.Uint16(random[:])
	var edns dnsmessage.ResourceHeader
	if err := edns.SetEDNS0(udpSize, dnsmessage.RCodeSuccess, false); err != nil {
		return 0, nil, err
	}
	m := dnsmessage.Message{
		Header:      dnsmessage.Header{ID: id, RecursionDesired: recursion, AuthenticData: true},
		Questions:   []dnsmessage.Question{question},
		Additionals: []dnsmessage.Resource{{Header: edns, Body: &dnsmessage.OPTResource{}}},
	}
	message, err = m.Pack()
	return id, message, err
}

// exchange sends the query over a new connection and returns the response.
func (c *collector) exchange(ctx context.Context, network string, server netip.AddrPort) (*answer, error) {
	id, message, err := query(c.question, c.config.Recursion)
	if err != nil {
		return nil, fmt.Errorf("make query: %w", err)
	}
	conn, err := new(net.Dialer).DialContext(ctx, network, server.String())
	if err != nil {
		return nil, err
	}
	bound, stop := remote.Bound(ctx, conn, maxMessage)
	defer stop()
	defer bound.Close()
	if network == protocolTCP {
		return c.overTCP(bound, id, message)
	}
	return c.overUDP(bound, id, message)
}

// overUDP ignores datagrams that are no response, which anyone may send with the server's address.
// If nothing else arrives in time, they are the error.
func (c *collector) overUDP(conn net.Conn, id uint16, message []byte) (*answer, error) {
	if _, err := conn.Write(message); err != nil {
		return nil, fmt.Errorf("send query: %w", err)
	}
	var stray error
	datagram := make([]byte, udpSize)
	for range maxStrays {
		n, err := conn.Read(datagram)
		if err != nil && stray == nil {
			return nil, fmt.Errorf("read response: %w", err)
		}
		if err != nil {
			break
		}
		a, err := parseAnswer(datagram[:n], id, c.question)
		if err == nil {
			return a, nil
		}
		stray = err
	}
	return nil, collectors.Errorf(remote.ReasonProtocol, "read response: %w", stray)
}

// overTCP precedes each message with its length in two bytes (RFC 1035 section 4.2.2).
func (c *collector) overTCP(conn net.Conn, id uint16, message []byte) (*answer, error) {
	framed := append(binary.BigEndian.AppendUint16(nil, uint16(len(message))), message...)
	if _, err := conn.Write(framed); err != nil {
		return nil, fmt.Errorf("send query: %w", err)
	}
	var length [2]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return nil, fmt.Errorf("read length of response: %w", err)
	}
	response := make([]byte, binary.BigEndian.Uint16(length[:]))
	if _, err := io.ReadFull(conn, response); err != nil {
		return nil, fmt.Errorf("read response: %w", err)
	}
	a, err := parseAnswer(response, id, c.question)
	if err != nil {
		return nil, collectors.Errorf(remote.ReasonProtocol, "read response: %w", err)
	}
	return a, nil
}

// firstServer returns the first name server of a resolv.conf(5).
func firstServer(text string) (netip.AddrPort, error) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0] != "nameserver" {
			continue
		}
		addr, err := netip.ParseAddr(fields[1])
		if err != nil {
			return netip.AddrPort{}, fmt.Errorf("nameserver %q: expected an IP address", fields[1])
		}
		return netip.AddrPortFrom(addr, defaultPort), nil
	}
	return netip.AddrPort{}, errors.New("there is no nameserver")
}
