package dns_test

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/dns"
)

// response makes the messages that a server sends for a query.
type response func(t testing.TB, query dnsmessage.Message, network string) [][]byte

// pack returns the wire format of a message.
func pack(t testing.TB, m dnsmessage.Message) []byte {
	t.Helper()
	data, err := m.Pack()
	if err != nil {
		t.Errorf("Pack() = %v", err)
	}
	return data
}

// records answers with these records, which get the name and class of the question.
func records(change func(*dnsmessage.Header), bodies ...dnsmessage.ResourceBody) response {
	return func(t testing.TB, query dnsmessage.Message, _ string) [][]byte {
		return [][]byte{pack(t, reply(query, change, bodies...))}
	}
}

func reply(query dnsmessage.Message, change func(*dnsmessage.Header), bodies ...dnsmessage.ResourceBody) dnsmessage.Message {
	m := dnsmessage.Message{Header: dnsmessage.Header{ID: query.ID, Response: true, RecursionAvailable: true}, Questions: query.Questions}
	for i, body := range bodies {
		m.Answers = append(m.Answers, dnsmessage.Resource{
			Header: dnsmessage.ResourceHeader{Name: query.Questions[0].Name, Class: dnsmessage.ClassINET, TTL: uint32(300 - i)}, Body: body,
		})
	}
	if change != nil {
		change(&m.Header)
	}
	return m
}

func failing(code dnsmessage.RCode) response {
	return records(func(h *dnsmessage.Header) { h.RCode = code })
}

// serve runs a DNS server on UDP and TCP of one port, and returns its address.
func serve(t testing.TB, respond response) string {
	t.Helper()
	packets, listener := listenBoth(t)
	var wg sync.WaitGroup
	wg.Go(func() {
		buffer := make([]byte, 4096)
		for {
			n, from, err := packets.ReadFrom(buffer)
			if err != nil {
				return
			}
			for _, message := range respond(t, unpack(t, buffer[:n]), "udp") {
				_, _ = packets.WriteTo(message, from)
			}
		}
	})
	wg.Go(func() { accept(t, listener, &wg, respond) })
	t.Cleanup(func() {
		_, _ = packets.Close(), listener.Close()
		wg.Wait()
	})
	return packets.LocalAddr().String()
}

// listenBoth returns sockets for UDP and TCP with the same port, which another program may take.
func listenBoth(t testing.TB) (net.PacketConn, net.Listener) {
	t.Helper()
	for range 20 {
		packets, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if listener, err := net.Listen("tcp", packets.LocalAddr().String()); err == nil {
			return packets, listener
		}
		_ = packets.Close()
	}
	t.Fatal("no port is free for UDP and TCP")
	return nil, nil
}

func unpack(t testing.TB, data []byte) dnsmessage.Message {
	t.Helper()
	var m dnsmessage.Message
	if err := m.Unpack(data); err != nil {
		t.Errorf("Unpack() of the query = %v", err)
	}
	return m
}

// accept answers one query a connection, then closes it.
func accept(t testing.TB, listener net.Listener, wg *sync.WaitGroup, respond response) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		wg.Go(func() {
			defer conn.Close()
			var length [2]byte
			if _, err := io.ReadFull(conn, length[:]); err != nil {
				return
			}
			query := make([]byte, binary.BigEndian.Uint16(length[:]))
			if _, err := io.ReadFull(conn, query); err != nil {
				return
			}
			for _, message := range respond(t, unpack(t, query), "tcp") {
				_, _ = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(message))), message...))
			}
		})
	}
}

// newCollector makes a collector named d of a server and more keys.
func newCollector(t testing.TB, server, more string) collectors.Collector {
	t.Helper()
	return collectortest.New(t, "d", "{name: keystone.example, server: '"+server+"'"+more+"}", &dns.Config{})
}

// value returns the value of a series of the collector d, by its metric and more labels, as in
// dns_rcode and `,rcode="noerror"`.
func value(t testing.TB, samples []collectors.Sample, metric, more string) (float64, bool) {
	t.Helper()
	return collectortest.Value(samples, "vitals_"+metric+"{"+more+`dependency="d"}`)
}

// a returns an A record.
func a(octets ...byte) *dnsmessage.AResource { return &dnsmessage.AResource{A: [4]byte(octets)} }

func name(text string) dnsmessage.Name { return dnsmessage.MustNewName(text) }
