package dns_test

import (
	"net"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
)

// Every fault of a server has its reason and ends in time. Only a response has gauges.
func TestFaults(t *testing.T) {
	collectortest.NoLeaks(t)
	raw := func(messages ...string) response {
		return func(_ testing.TB, _ dnsmessage.Message, _ string) [][]byte {
			var all [][]byte
			for _, m := range messages {
				all = append(all, []byte(m))
			}
			return all
		}
	}
	otherID := records(func(h *dnsmessage.Header) { h.ID++ }, a(192, 0, 2, 1))
	otherName := func(t testing.TB, query dnsmessage.Message, _ string) [][]byte {
		m := reply(query, nil, a(192, 0, 2, 1))
		m.Questions = []dnsmessage.Question{{Name: name("evil.example."), Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET}}
		return [][]byte{pack(t, m)}
	}
	half := func(t testing.TB, query dnsmessage.Message, _ string) [][]byte {
		whole := pack(t, reply(query, nil, a(192, 0, 2, 1)))
		return [][]byte{whole[:len(whole)-3]}
	}
	flood := func(t testing.TB, query dnsmessage.Message, _ string) [][]byte {
		return slices.Repeat(otherID(t, query, ""), 40)
	}
	for _, tt := range []struct {
		name    string
		respond response
		// udp and tcp are the reasons and a part of the errors.
		udp, tcp [2]string
	}{
		{"silent", raw(), [2]string{"timeout", "i/o timeout"}, [2]string{"protocol", "EOF"}},
		{"an echo", func(t testing.TB, query dnsmessage.Message, _ string) [][]byte { return [][]byte{pack(t, query)} }, [2]string{"protocol", "no response to the query"}, [2]string{"protocol", "no response to the query"}},
		{"garbage", raw("SSH-2.0-OpenSSH_9.2\r\n"), [2]string{"protocol", "no response to the query"}, [2]string{"protocol", "no response to the query"}},
		{"an empty message", raw(""), [2]string{"protocol", "parse header"}, [2]string{"protocol", "parse header"}},
		{"half an answer", half, [2]string{"protocol", "parse answer"}, [2]string{"protocol", "parse answer"}},
		{"another ID", otherID, [2]string{"protocol", "no response to the query"}, [2]string{"protocol", "no response to the query"}},
		{"another question", otherName, [2]string{"protocol", "another question"}, [2]string{"protocol", "another question"}},
		{"a flood", flood, [2]string{"protocol", "no response to the query"}, [2]string{"protocol", "no response to the query"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := serve(t, tt.respond)
			fails(t, newCollector(t, server, ""), tt.udp[0], tt.udp[1])
			fails(t, newCollector(t, server, ", protocol: tcp"), tt.tcp[0], tt.tcp[1])
		})
	}
}

// The response follows datagrams that are none: anyone may send those.
func TestStraysBeforeTheResponse(t *testing.T) {
	server := serve(t, func(t testing.TB, query dnsmessage.Message, _ string) [][]byte {
		right := pack(t, reply(query, nil, a(192, 0, 2, 1)))
		wrong := slices.Clone(right)
		wrong[0]++
		return [][]byte{wrong, []byte("x"), {}, right}
	})
	samples, err := collectortest.Collect(t, newCollector(t, server, ""))
	if got, _ := value(t, samples, "dns_answers", ""); err != nil || got != 1 {
		t.Errorf("Collect() = %v with %v answers, want one", err, got)
	}
}

func TestNothingListens(t *testing.T) {
	for _, protocol := range []string{"udp", "tcp"} {
		fails(t, newCollector(t, refusing(t, protocol), ", protocol: "+protocol), "refused", "connection refused")
	}
}

// No stream of another protocol holds a collection: SSH, a mail server, a web server and text begin
// like a length of many bytes, which never come.
func TestHostileStreams(t *testing.T) {
	waits := map[string]string{}
	for _, name := range []string{"never answers", "a byte at a time", "an SSH server", "a mail server", "a web server", "garbage"} {
		waits[name] = "timeout"
	}
	collectortest.Hostile().Run(t, "protocol", waits, func(t *testing.T, address, reason string) {
		fails(t, newCollector(t, address, ", protocol: tcp"), reason, "")
	})
}

// Streams that are slow, endless or cut end in time, with a bounded read and the place in the error.
func TestStreamFaults(t *testing.T) {
	collectortest.NoLeaks(t)
	for _, tt := range []struct {
		name         string
		serve        func(net.Conn)
		reason, text string
	}{
		{"half a length", collectortest.Closing("\x00"), "protocol", ""},
		{"half a message", collectortest.Closing("\x00\x28\x01\x02"), "protocol", ""},
		{"a length of zero", collectortest.Closing("\x00\x00"), "protocol", ""},
		{"waits for ever", collectortest.Drain, "timeout", "read length of response"},
		{"begins and waits", collectortest.Once("\x01\x00\x01"), "timeout", "read response"},
		{"endless bytes", collectortest.Forever("\xff"), "protocol", "no response to the query"},
		{"endless zeros", collectortest.Forever("\x00"), "protocol", "parse header"},
		{"endless HTTP", collectortest.Forever("HTTP/1.1 400 Bad Request\r\n\r\n"), "protocol", "no response to the query"},
		{"a byte at a time", collectortest.Slowly(strings.Repeat("\xff", 10_000)), "timeout", "read response"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fails(t, newCollector(t, collectortest.Listen(t, tt.serve), ", protocol: tcp"), tt.reason, tt.text)
		})
	}
}

// fails checks a fault of the collector d, which has no gauges of a response.
func fails(t *testing.T, c collectors.Collector, reason, text string) {
	t.Helper()
	samples := collectortest.Fails(t, c, reason, text)
	for _, metric := range []string{"dns_answers", "dns_authenticated"} {
		if got, ok := value(t, samples, metric, ""); ok {
			t.Errorf("vitals_%s = %v, want none without a response", metric, got)
		}
	}
}
