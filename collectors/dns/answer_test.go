package dns

import (
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/remote"
)

// Without a server, each collection reads resolv.conf again.
func TestServerOfResolvConf(t *testing.T) {
	var config Config
	collectortest.Decode(t, "{name: keystone.example}", &config)
	made, err := config.New(collectors.Env{Name: "d"})
	if err != nil {
		t.Fatal(err)
	}
	c := made.(*collector)
	if c.resolvConf != "/etc/resolv.conf" {
		t.Errorf("resolvConf = %s, want the one of the system", c.resolvConf)
	}
	c.resolvConf = filepath.Join(t.TempDir(), "resolv.conf")
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"search example\n# nameserver 192.0.2.9\n", ""},
		{"nameserver\nnameserver ns.example\n", ""},
		{"options edns0\nnameserver 127.9.9.9\nnameserver 192.0.2.2", "127.9.9.9:53"},
		{"nameserver ::1\n", "[::1]:53"},
	} {
		collectortest.Write(t, c.resolvConf, tt.text)
		got, err := firstServer(tt.text)
		if (err == nil) != (tt.want != "") || err == nil && got.String() != tt.want {
			t.Errorf("firstServer(%q) = %s, %v, want %q", tt.text, got, err, tt.want)
		}
		if tt.want != "" {
			continue
		}
		_, err = collectortest.Collect(t, c)
		if c.note == "" || err == nil || remoteReason(t, c) != remote.ReasonMissingEndpoint {
			t.Errorf("Collect() with %q = %v, want missing_endpoint", tt.text, err)
		}
	}
}

// remoteReason returns the reason for which no server is found.
func remoteReason(t *testing.T, c *collector) remote.Reason {
	t.Helper()
	_, _, err := c.resolve(t.Context())
	return remote.ReasonUntil(t.Context(), err)
}

// A message is a response to the question or an error, and its records have text.
func FuzzParseAnswer(f *testing.F) {
	question := dnsmessage.Question{Name: dnsmessage.MustNewName("a.example."), Type: dnsmessage.TypeSOA, Class: dnsmessage.ClassINET}
	header := dnsmessage.ResourceHeader{Name: question.Name, Class: dnsmessage.ClassINET, TTL: 60}
	soa := dnsmessage.Message{
		Header: dnsmessage.Header{ID: 7, Response: true}, Questions: []dnsmessage.Question{question},
		Answers: []dnsmessage.Resource{{Header: header, Body: &dnsmessage.SOAResource{NS: question.Name, MBox: question.Name, Serial: 1}}},
	}
	seed, err := soa.Pack()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed, uint16(dnsmessage.TypeSOA))
	f.Add(seed[:len(seed)-4], uint16(dnsmessage.TypeSOA))
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n"), uint16(dnsmessage.TypeA))
	f.Fuzz(func(t *testing.T, message []byte, record uint16) {
		question.Type = dnsmessage.Type(record)
		a, err := parseAnswer(message, 7, question)
		if err != nil {
			if a != nil {
				t.Fatalf("parseAnswer() = %+v with %v, want one of them", a, err)
			}
			return
		}
		if !a.header.Response || a.header.ID != 7 || !slices.Contains(rcodes(), a.rcode()) {
			t.Fatalf("parseAnswer() = %+v, want a response with the ID", a.header)
		}
		if up := a.failure() == nil; up != (len(a.data) > 0 && a.rcode() == rcodeSuccess) {
			t.Fatalf("failure() = %v with %q", a.failure(), a.data)
		}
	})
}

func FuzzFirstServer(f *testing.F) {
	f.Add("nameserver 10.0.0.53\n")
	f.Add("search a\nnameserver ::1%lo\n")
	f.Fuzz(func(t *testing.T, text string) {
		if server, err := firstServer(text); err == nil && (!server.IsValid() || server.Port() != defaultPort) {
			t.Fatalf("firstServer(%q) = %s, want an address with the port of DNS", text, server)
		}
	})
}
