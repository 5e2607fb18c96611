package icmp

import (
	"bytes"
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/net/icmp"
	"golang.org/x/net/ipv4"
)

// A message is a reply only if it has the data of a request, and it cannot make more replies than
// there were requests.
func FuzzReply(f *testing.F) {
	data := bytes.Repeat([]byte{7}, tokenSize)
	for _, kind := range []ipv4.ICMPType{ipv4.ICMPTypeEchoReply, ipv4.ICMPTypeEcho, ipv4.ICMPTypeDestinationUnreachable} {
		for _, id := range []int{fakeID, 1} {
			message, err := (&icmp.Message{Type: kind, Body: &icmp.Echo{ID: id, Seq: 1, Data: data}}).Marshal(nil)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(message, false)
		}
	}
	f.Add(append([]byte{129, 0, 0, 0, 0x12, 0x67, 0, 1}, data...), true)
	f.Add([]byte("SSH-2.0-OpenSSH_9.2\r\n"), false)
	f.Fuzz(func(t *testing.T, message []byte, v6 bool) {
		peer := netip.MustParseAddr("192.0.2.1")
		if v6 {
			peer = netip.MustParseAddr("2001:db8::1")
		}
		remaining := 3
		e := &exchange{payload: data, buffer: make([]byte, headerSize+len(data)+1), begun: map[uint16]time.Time{1: time.Now()}}
		conn := newFake(peer.String())
		e.socket = socket{Conn: conn, peer: peer, id: fakeID, receive: func(b []byte) (int, int, net.Addr, error) {
			if remaining--; remaining < 0 {
				return 0, 0, nil, net.ErrClosed
			}
			return copy(b, message), 0, &net.IPAddr{IP: peer.AsSlice()}, nil
		}}
		e.receiveUntil(t.Context(), time.Time{}, func() bool { return false })
		if len(e.trips) > 1 {
			t.Fatalf("%d replies to one request", len(e.trips))
		}
		if len(e.trips) == 1 && !bytes.HasSuffix(message, data) {
			t.Fatalf("%x is a reply without the data of the request", message)
		}
	})
}
