package dns_test

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/dns"
)

func TestExposition(t *testing.T) {
	server := serve(t, records(func(h *dnsmessage.Header) { h.AuthenticData, h.Authoritative = true, true },
		&dnsmessage.SOAResource{NS: name("ns1.example."), MBox: name("admin.example."), Serial: 2026112301, Refresh: 3600, Retry: 600, Expire: 86400, MinTTL: 300}))
	c := collectortest.New(t, "zone", "{name: example, server: '"+server+"', type: SOA, match: ^ns1, answers: ['ns1.example. admin.example. 2026112301 3600 600 86400 300', 'ns2.example. admin.example. 1 1 1 1 1']}", &dns.Config{})
	samples, err := collectortest.Collect(t, c)
	if err != nil {
		t.Fatalf("Collect() = %v, want no error", err)
	}
	for i, s := range samples {
		if s.Labels.Get(model.MetricNameLabel) == "vitals_dependency_latency_seconds" {
			if s.Value <= 0 || s.Value > collectortest.Patience.Seconds() {
				t.Errorf("latency = %v, want a plausible time", s.Value)
			}
			samples[i].Value = 0.001
		}
	}
	collectortest.Golden(t, "metrics.prom", collectortest.Exposition(samples, c.Describe()))
	want := "dns SOA example at " + server + " ns1.example. admin.example. 2026112301 3600 600 86400 300"
	if got := collectortest.Note(c); got != want {
		t.Errorf("Note() = %q, want %q", got, want)
	}
}

// The data of each type of record is that of dig +short, over both protocols.
func TestRecordTypes(t *testing.T) {
	for _, tt := range []struct{ record, answer, wrong string }{
		{"A", "192.0.2.7", "192.0.2.8"},
		{"AAAA", "2001:DB8:0::7", "2001:db8::8"},
		{"CNAME", "Other.example", "another.example."},
		{"MX", "10 mail.example.", "20 mail.example."},
		{"NS", "ns1.example.", "ns2.example."},
		{"PTR", "host.example", "x.host.example."},
		{"SRV", "1 2 5060 sip.example", "1 2 5061 sip.example"},
		{"TXT", "v=spf1 -all", "V=spf1 -all"},
	} {
		for _, protocol := range []string{"udp", "tcp"} {
			t.Run(tt.record+" "+protocol, func(t *testing.T) {
				bodies := map[string]dnsmessage.ResourceBody{
					"A": a(192, 0, 2, 7), "AAAA": &dnsmessage.AAAAResource{AAAA: netip.MustParseAddr("2001:db8::7").As16()},
					"CNAME": &dnsmessage.CNAMEResource{CNAME: name("other.EXAMPLE.")}, "MX": &dnsmessage.MXResource{Pref: 10, MX: name("mail.example.")},
					"NS": &dnsmessage.NSResource{NS: name("ns1.example.")}, "PTR": &dnsmessage.PTRResource{PTR: name("host.example.")},
					"SRV": &dnsmessage.SRVResource{Priority: 1, Weight: 2, Port: 5060, Target: name("sip.example.")},
					"TXT": &dnsmessage.TXTResource{TXT: []string{"v=spf1 ", "-all"}},
				}
				c := newCollector(t, serve(t, records(nil, bodies[tt.record])), ", type: "+tt.record+", protocol: "+protocol+", answers: ['"+tt.answer+"', '"+tt.wrong+"']")
				samples, err := collectortest.Collect(t, c)
				if err != nil {
					t.Fatalf("Collect() = %v, want no error", err)
				}
				for answer, want := range map[string]float64{tt.answer: 1, tt.wrong: 0} {
					if got, ok := value(t, samples, "dns_answer_present", `answer="`+answer+`",`); !ok || got != want {
						t.Errorf("vitals_dns_answer_present of %q = %v, %t, want %v", answer, got, ok, want)
					}
				}
			})
		}
	}
}

// Records of other types, such as the CNAME before an address, are no answers.
func TestCounts(t *testing.T) {
	server := serve(t, records(nil, &dnsmessage.CNAMEResource{CNAME: name("x.example.")}, a(192, 0, 2, 1), a(192, 0, 2, 2), a(198, 51, 100, 1)))
	c := newCollector(t, server, `, answers: [192.0.2.1, 192.0.2.9], match: '^192\.0\.2\.'`)
	samples, err := collectortest.Collect(t, c)
	if err != nil {
		t.Fatalf("Collect() = %v, want no error", err)
	}
	for _, tt := range []struct {
		metric, more string
		want         float64
	}{
		{"dependency_up", "", 1},
		{"dns_answers", "", 3},
		{"dns_answer_present", `answer="192.0.2.1",`, 1},
		{"dns_answer_present", `answer="192.0.2.9",`, 0},
		{"dns_unexpected_answers", "", 2},
		{"dns_matching_answers", "", 2},
		{"dns_ttl_seconds", "", 297},
		{"dns_authenticated", "", 0},
		{"dns_authoritative", "", 0},
	} {
		if got, ok := value(t, samples, tt.metric, tt.more); !ok || got != tt.want {
			t.Errorf("vitals_%s{%s} = %v, %t, want %v", tt.metric, tt.more, got, ok, tt.want)
		}
	}
	if got, want := collectortest.Note(c), "dns A keystone.example at "+server+" 192.0.2.1, 192.0.2.2, 198.51.100.1"; got != want {
		t.Errorf("Note() = %q, want %q", got, want)
	}
}

// A response without a usable record has its reason, its response code and a latency.
func TestResponseCodes(t *testing.T) {
	for _, tt := range []struct {
		name          string
		respond       response
		rcode, reason string
	}{
		{"no such name", failing(dnsmessage.RCodeNameError), "nxdomain", "not_found"},
		{"no record of the type", records(nil, &dnsmessage.CNAMEResource{CNAME: name("x.example.")}), "noerror", "not_found"},
		{"refused", failing(dnsmessage.RCodeRefused), "refused", "forbidden"},
		{"failed", failing(dnsmessage.RCodeServerFailure), "servfail", "server_error"},
		{"not implemented", failing(dnsmessage.RCodeNotImplemented), "notimp", "server_error"},
		{"cannot read the query", failing(dnsmessage.RCodeFormatError), "formerr", "client_error"},
		{"another code", failing(9), "other", "server_error"},
		{"without the question", func(t testing.TB, query dnsmessage.Message, _ string) [][]byte {
			m := reply(query, func(h *dnsmessage.Header) { h.RCode = dnsmessage.RCodeFormatError })
			m.Questions = nil
			return [][]byte{pack(t, m)}
		}, "formerr", "client_error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newCollector(t, serve(t, tt.respond), ", answers: [192.0.2.1]")
			samples, err := collectortest.Collect(t, c)
			if got := collectortest.Reason(samples); got != tt.reason || err == nil {
				t.Errorf("Collect() has the reason %q, error %v, want %q and an error", got, err, tt.reason)
			}
			ones := 0.0
			for _, s := range samples {
				if s.Labels.Get(model.MetricNameLabel) == "vitals_dns_rcode" {
					ones += s.Value
				}
			}
			if got, ok := collectortest.Value(samples, `vitals_dns_rcode{dependency="d",rcode="`+tt.rcode+`"}`); !ok || got != 1 || ones != 1 {
				t.Errorf("vitals_dns_rcode of %s = %v, %t among %v codes, want only this one", tt.rcode, got, ok, ones)
			}
			if _, ok := value(t, samples, "dependency_latency_seconds", ""); !ok {
				t.Error("there is no latency, want one of the response")
			}
			if got, ok := value(t, samples, "dns_answer_present", `answer="192.0.2.1",`); !ok || got != 0 {
				t.Errorf("vitals_dns_answer_present = %v, %t, want 0", got, ok)
			}
			if got, ok := value(t, samples, "dns_ttl_seconds", ""); ok {
				t.Errorf("vitals_dns_ttl_seconds = %v, want none without a record", got)
			}
		})
	}
}

// A response that is truncated over UDP is requested over TCP.
func TestTruncated(t *testing.T) {
	truncated := func(t testing.TB, query dnsmessage.Message, network string) [][]byte {
		if network == "tcp" {
			return [][]byte{pack(t, reply(query, nil, a(192, 0, 2, 1), a(192, 0, 2, 2)))}
		}
		cut := pack(t, reply(query, func(h *dnsmessage.Header) { h.Truncated = true }, a(192, 0, 2, 1)))
		return [][]byte{cut[:len(cut)-2]}
	}
	samples, err := collectortest.Collect(t, newCollector(t, serve(t, truncated), ""))
	if got, _ := value(t, samples, "dns_answers", ""); err != nil || got != 2 {
		t.Errorf("Collect() = %v with %v answers, want 2", err, got)
	}
	samples, err = collectortest.Collect(t, newCollector(t, serve(t, func(t testing.TB, query dnsmessage.Message, network string) [][]byte {
		if network == "tcp" {
			return nil
		}
		return truncated(t, query, network)
	}), ""))
	if got := collectortest.Reason(samples); got != "protocol" || err == nil || !strings.Contains(err.Error(), "over TCP after a truncated response") {
		t.Errorf("Collect() has the reason %q, error %v, want protocol because TCP does not work", got, err)
	}
}

// Without a server, the first one of resolv.conf is queried, which may change.
func TestQueryHasTheConfiguredBits(t *testing.T) {
	got := make(chan dnsmessage.Message, 1)
	server := serve(t, func(t testing.TB, query dnsmessage.Message, _ string) [][]byte {
		got <- query
		return [][]byte{pack(t, reply(query, nil, &dnsmessage.PTRResource{PTR: name("x.")}))}
	})
	for more, want := range map[string]bool{"": true, ", recursion: false": false} {
		c := collectortest.New(t, "d", "{name: '2001:db8::1', type: PTR, server: '"+server+"'"+more+"}", &dns.Config{})
		if _, err := collectortest.Collect(t, c); err != nil {
			t.Fatalf("Collect() = %v, want no error", err)
		}
		query := <-got
		const reverse = "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa."
		if query.RecursionDesired != want || !query.AuthenticData || query.Questions[0].Name.String() != reverse {
			t.Errorf("query = %+v, want recursion %t, the AD bit and the name %s", query.Header, want, reverse)
		}
		if len(query.Additionals) != 1 || query.Additionals[0].Header.Class != 1232 {
			t.Errorf("additional records = %v, want EDNS with 1232 bytes", query.Additionals)
		}
	}
}

func TestIsExternal(t *testing.T) {
	for block, want := range map[string]bool{
		"{name: a, server: 127.0.0.1, recursion: false}":  false,
		"{name: a, server: '[::1]:53', recursion: false}": false,
		"{name: a, server: 127.0.0.1}":                    true,
		"{name: a, server: 10.0.0.1, recursion: false}":   true,
		"{name: a, server: localhost, recursion: false}":  true,
		"{name: a, recursion: false}":                     true,
	} {
		var config dns.Config
		collectortest.Decode(t, block, &config)
		if got := config.External(); got != want || config.Uses() != nil {
			t.Errorf("External() of %s = %t, want %t", block, got, want)
		}
	}
}

func TestProblems(t *testing.T) {
	long := strings.Repeat("a", 64)
	for block, want := range map[string]string{
		"{}":                                         `name: name "": expected a domain name in ASCII, such as keystone.example`,
		"{name: 'a b'}":                              `name: name "a b": expected a domain name in ASCII, such as keystone.example`,
		"{name: ä.example}":                          `name: name "ä.example": expected a domain name in ASCII, such as keystone.example`,
		"{name: a..b}":                               `name: name "a..b": expected a domain name of labels with 1 to 63 characters`,
		"{name: " + long + "}":                       `name: name "` + long + `": expected a domain name of labels with 1 to 63 characters`,
		"{name: 192.0.2.1}":                          `name: name "192.0.2.1": expected a domain name: an address is for type PTR`,
		"{name: a, type: ANY}":                       `type: type "ANY": expected A, AAAA, CNAME, MX, NS, PTR, SOA, SRV or TXT`,
		"{name: a, server: ns.example}":              `server: server "ns.example": expected an IP address, with a port or without: 10.0.0.53, 10.0.0.53:5353, [2001:db8::53]:5353`,
		"{name: a, server: '10.0.0.1:0'}":            `server: server "10.0.0.1:0": expected an IP address, with a port or without: 10.0.0.53, 10.0.0.53:5353, [2001:db8::53]:5353`,
		"{name: a, protocol: tls}":                   `protocol: protocol "tls": expected udp or tcp`,
		"{name: a, match: '('}":                      "match: match \"(\": expected a regular expression: error parsing regexp: missing closing ): `(`",
		"{name: a, answers: [x]}":                    `answers[0]: answer "x": expected an address for this type of record`,
		"{name: a, answers: ['::1']}":                `answers[0]: answer "::1": expected an address for this type of record`,
		"{name: a, type: MX, answers: [m.example]}":  `answers[0]: answer "m.example": expected 2 fields, as dig +short prints them`,
		"{name: a, type: SOA, answers: ['1 2']}":     `answers[0]: answer "1 2": expected seven fields, as dig +short prints them`,
		"{name: a, type: TXT, answers: ['']}":        "",
		"{name: a, type: TXT, answers: [\"a\\nb\"]}": `answers[0]: answer "a\nb": expected text of at most 512 bytes on one line`,
		"{name: a, type: NS, answers: [b, B.]}":      `answers[1]: answer "B.": expected each answer once`,
		"{name: a, answers: [" + strings.Repeat("192.0.2.1,", 65) + "]}":               "answers: 65 answers: expected at most 64",
		"{name: ., type: NS, server: '2001:db8::53'}":                                  "",
		"{name: 192.0.2.1, type: PTR, server: '10.0.0.1:5353'}":                        "",
		"{name: _sip._udp.example., type: SRV, protocol: tcp, answers: ['1 2 3 a.b']}": "",
	} {
		got := collectortest.Problems(t, block, &dns.Config{})
		if lines := strings.Split(got, "\n"); strings.HasPrefix(want, "answers: 65") {
			got = lines[0]
		}
		if got != want {
			t.Errorf("Problems() of %s =\n%s\nwant\n%s", block, got, want)
		}
	}
}

// New fails for a configuration with problems.
func TestNewRejectsProblems(t *testing.T) {
	for _, block := range []string{"{}", "{name: a, match: '('}", "{name: a, answers: [x]}", "{name: a, server: x}"} {
		var config dns.Config
		collectortest.Decode(t, block, &config)
		if c, err := config.New(collectors.Env{Name: "d"}); err == nil {
			t.Errorf("New() of %s = %v, want an error", block, c)
		}
	}
}

// refusing returns an address that refuses a protocol until the end of the test. Over UDP, the
// kernel refuses what comes to a connected socket from elsewhere, and no other program can take its
// port.
func refusing(t *testing.T, protocol string) string {
	t.Helper()
	if protocol == "tcp" {
		return collectortest.Refusing(t)
	}
	conn, err := net.Dial("udp", "127.0.0.1:9")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn.LocalAddr().String()
}
