package icmp

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/netip"
	"os"
	"time"

	"golang.org/x/net/icmp"
	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
)

const (
	// headerSize is the size of the header of an echo message in bytes.
	headerSize = 8
	// maxStrays bounds how many messages are read that are no reply. A raw socket on loopback
	// also receives the requests.
	maxStrays = 1000
	// The numbers of the protocols (RFC 792, RFC 4443).
	protocolICMP, protocolICMPv6 = 1, 58
)

// socket is a connected socket for ICMP messages.
type socket struct {
	net.Conn
	// receive reads a message without the header of IP. ttl is 0 if it is unknown.
	receive func(buffer []byte) (n, ttl int, from net.Addr, err error)
	peer    netip.Addr
	// id is the identifier of the requests. The kernel sets it on an unprivileged socket.
	id uint16
}

// outcome is the result of the requests of one collection.
type outcome struct {
	sent int
	// trips has the time from each answered request to its reply.
	trips []time.Duration
	// ttl is that of the last reply, 0 if it is unknown.
	ttl int
	// err is the last error of the socket, nil if there was none.
	err error
}

// exchange is a running exchange.
type exchange struct {
	socket
	outcome
	payload, buffer []byte
	// begun has the time of each request that has no reply.
	begun map[uint16]time.Time
	// faults are the requests without a reply for which the socket had an error, and strays the
	// messages that are no reply.
	faults, strays int
}

// ping sends count requests, one for each interval, and receives replies until each request has
// its reply or an error, or ctx ends. Requests that would take more than half of the time are sent
// closer together.
func ping(ctx context.Context, s socket, count int, interval time.Duration, size int) outcome {
	e := &exchange{socket: s, payload: payload(size), buffer: make([]byte, headerSize+size+1), begun: map[uint16]time.Time{}}
	until, limited := ctx.Deadline()
	if limited {
		interval = max(0, min(interval, time.Until(until)/time.Duration(2*count)))
	}
	for i := range count {
		began := time.Now()
		e.send(uint16(i + 1))
		if i < count-1 {
			e.receiveUntil(ctx, began.Add(interval), func() bool { return false })
		}
	}
	e.receiveUntil(ctx, until, func() bool { return len(e.begun) <= e.faults })
	return e.outcome
}

// payload returns data that begins with a random number, by which a reply is recognized.
func payload(size int) []byte {
	data := make([]byte, size)
	_, _ = rand.Read(data[:tokenSize]) // it never fails
	for i := tokenSize; i < size; i++ {
		data[i] = byte(i)
	}
	return data
}

// send sends one request. An error of the socket may be about an earlier request, so there is a
// second attempt.
func (e *exchange) send(sequence uint16) {
	message := icmp.Message{Type: ipv4.ICMPTypeEcho, Body: &icmp.Echo{ID: int(e.id), Seq: int(sequence), Data: e.payload}}
	if e.peer.Is6() {
		message.Type = ipv6.ICMPTypeEchoRequest
	}
	packet, err := message.Marshal(nil)
	if err != nil {
		e.fault(err)
		return
	}
	began := time.Now()
	if _, err = e.Write(packet); err != nil {
		e.fault(err)
		began = time.Now()
		_, err = e.Write(packet)
	}
	if err != nil {
		e.err = err
		return
	}
	e.begun[sequence] = began
	e.sent++
}

// fault keeps an error. It stands for the reply to a request that has none.
func (e *exchange) fault(err error) {
	e.err = err
	if e.faults < len(e.begun) {
		e.faults++
	}
}

// receiveUntil receives until a time, zero for none, or until done returns true.
func (e *exchange) receiveUntil(ctx context.Context, until time.Time, done func() bool) {
	_ = e.SetReadDeadline(until)
	for !done() && ctx.Err() == nil && e.strays < maxStrays {
		n, ttl, from, err := e.receive(e.buffer)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			e.strays++
			e.fault(err)
			continue
		}
		sequence, ok := e.match(e.buffer[:n], from)
		began, waiting := e.begun[sequence]
		if !ok || !waiting {
			e.strays++
			continue
		}
		delete(e.begun, sequence)
		e.trips, e.ttl = append(e.trips, time.Since(began)), ttl
	}
}

// match returns the sequence number of a reply to a request of this exchange: it is from the peer,
// and has the identifier and the data of the request.
func (e *exchange) match(message []byte, from net.Addr) (sequence uint16, ok bool) {
	protocol := protocolICMP
	if e.peer.Is6() {
		protocol = protocolICMPv6
	}
	m, err := icmp.ParseMessage(protocol, message)
	if err != nil || m.Type != ipv4.ICMPTypeEchoReply && m.Type != ipv6.ICMPTypeEchoReply {
		return 0, false
	}
	echo, ok := m.Body.(*icmp.Echo)
	if !ok || echo.ID != int(e.id) || !bytes.Equal(echo.Data, e.payload) || addr(from) != e.peer.WithZone("") {
		return 0, false
	}
	return uint16(echo.Seq), true
}

// addr returns the IP address of a, without a zone.
func addr(a net.Addr) netip.Addr {
	var ip net.IP
	switch a := a.(type) {
	case *net.UDPAddr:
		ip = a.IP
	case *net.IPAddr:
		ip = a.IP
	}
	found, _ := netip.AddrFromSlice(ip)
	return found.Unmap()
}
