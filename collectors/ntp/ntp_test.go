package ntp_test

import (
	"encoding/binary"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"go.uber.org/goleak"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/ntp"
)

// The offsets of fields in a message of NTP (RFC 5905 section 7.3).
const (
	flagsAt, stratumAt, pollAt, rootDelayAt, referenceIDAt, referenceAt, originAt, receiveAt, transmitAt, messageSize = 0, 1, 2, 4, 12, 16, 24, 32, 40, 48
)

// flags returns the first byte of a response of version 4.
func flags(leap byte) byte { return leap<<6 | 4<<3 | 4 }

// moment writes a time in seconds since 1900 with a fraction of 32 bits.
func moment(message []byte, at int, t time.Time) {
	const from1900to1970 = 2_208_988_800
	binary.BigEndian.PutUint32(message[at:], uint32(t.Unix()+from1900to1970))
	binary.BigEndian.PutUint32(message[at+4:], uint32(uint64(t.Nanosecond())<<32/1e9))
}

// answer returns the response of a server whose clock is ahead.
func answer(query []byte, ahead time.Duration) []byte {
	message := make([]byte, messageSize)
	message[flagsAt], message[stratumAt] = flags(0), 2
	now := time.Now().Add(ahead)
	binary.BigEndian.PutUint32(message[rootDelayAt:], 1<<16/100)
	moment(message, referenceAt, now.Add(-time.Minute))
	copy(message[originAt:], query[transmitAt:])
	moment(message, receiveAt, now)
	moment(message, transmitAt, now)
	return message
}

// serve runs a server on UDP, and returns its address.
func serve(t testing.TB, respond func(query []byte) [][]byte) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buffer := make([]byte, 1024)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			if n < messageSize {
				t.Errorf("the query has %d bytes, want %d", n, messageSize)
				continue
			}
			for _, message := range respond(buffer[:n]) {
				_, _ = conn.WriteTo(message, from)
			}
		}
	}()
	t.Cleanup(func() { _ = conn.Close(); <-done })
	return conn.LocalAddr().String()
}

func newCollector(t testing.TB, server string) collectors.Collector {
	t.Helper()
	return collectortest.New(t, "clock", "{server: '"+server+"'}", &ntp.Config{})
}

func value(samples []collectors.Sample, metric string) (float64, bool) {
	return collectortest.Value(samples, "vitals_"+metric+`{dependency="clock"}`)
}

func TestExposition(t *testing.T) {
	c := newCollector(t, serve(t, func(query []byte) [][]byte { return [][]byte{answer(query, time.Hour)} }))
	begin := time.Now()
	samples, err := collectortest.Collect(t, c)
	took := time.Since(begin).Seconds()
	if err != nil {
		t.Fatalf("Collect() = %v, want no error", err)
	}
	// What lies between the measured moments is at most the time of the collection.
	for i, s := range samples {
		name := s.Labels.Get(model.MetricNameLabel)
		fixed := map[string][2]float64{
			"vitals_ntp_offset_seconds": {3600, took}, "vitals_ntp_round_trip_seconds": {0, took}, "vitals_dependency_latency_seconds": {0, took},
			"vitals_ntp_root_distance_seconds": {0, took + 0.1}, "vitals_ntp_reference_timestamp_seconds": {float64(begin.Add(59 * time.Minute).Unix()), took + 1},
		}
		if want, ok := fixed[name]; ok {
			if s.Value < want[0]-want[1] || s.Value > want[0]+want[1] {
				t.Errorf("%s = %v, want %v within %v", name, s.Value, want[0], want[1])
			}
			samples[i].Value = want[0]
			if name == "vitals_ntp_reference_timestamp_seconds" {
				samples[i].Value = 86400
			}
		}
	}
	collectortest.Golden(t, "metrics.prom", collectortest.Exposition(samples, c.Describe()))
	if note := collectortest.Note(c); !strings.Contains(note, " offset 1h0m0") && !strings.Contains(note, " offset 59m59.") || !strings.HasSuffix(note, ", stratum 2") {
		t.Errorf("Note() = %q, want the offset and the stratum", note)
	}
}

// A response whose time cannot be used has its reason, its stratum and its leap state.
func TestUnusableTimes(t *testing.T) {
	for _, tt := range []struct {
		name         string
		change       func(message []byte)
		reason, leap string
		text         string
	}{
		{"a leap second is inserted", func(m []byte) { m[flagsAt] = flags(1) }, "", "insert", ""},
		{"a leap second is deleted", func(m []byte) { m[flagsAt] = flags(2) }, "", "delete", ""},
		{"not synchronized", func(m []byte) { m[flagsAt] = flags(3) }, "server_error", "unsynchronized", "not synchronized"},
		{"stratum 16", func(m []byte) { m[stratumAt] = 16 }, "server_error", "none", "stratum"},
		{"a refusal", func(m []byte) { m[stratumAt] = 0; copy(m[referenceIDAt:], "RATE") }, "forbidden", "none", "refuses the query (RATE)"},
		{"another kiss", func(m []byte) { m[stratumAt] = 0; copy(m[referenceIDAt:], "INIT") }, "server_error", "none", "kiss of death"},
		{"a large root delay", func(m []byte) { m[rootDelayAt] = 1 }, "server_error", "none", "dispersion"},
		{"corrected days ago", func(m []byte) { moment(m, referenceAt, time.Now().Add(-72*time.Hour)) }, "server_error", "none", "fresh"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			samples, err := collectortest.Collect(t, newCollector(t, serve(t, func(query []byte) [][]byte {
				message := answer(query, 0)
				tt.change(message)
				return [][]byte{message}
			})))
			if got := collectortest.Reason(samples); got != tt.reason || (err == nil) != (tt.reason == "") {
				t.Errorf("Collect() has the reason %q, error %v, want %q", got, err, tt.reason)
			}
			if err != nil && !strings.Contains(err.Error(), tt.text) {
				t.Errorf("Collect() = %v, want %q in it", err, tt.text)
			}
			if got := collectortest.One(samples, "vitals_ntp_leap", "leap"); got != tt.leap {
				t.Errorf("leap = %q, want %q", got, tt.leap)
			}
			if _, ok := value(samples, "ntp_offset_seconds"); ok != (tt.reason == "") {
				t.Errorf("there is an offset: %t, want one of a usable time only", ok)
			}
			if _, ok := value(samples, "dependency_latency_seconds"); !ok {
				t.Error("there is no latency, want one of the response")
			}
		})
	}
}

// Every fault of a server ends in time with its reason and without gauges of a response.
func TestFaults(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	whole := func(change func(message []byte) []byte) func([]byte) [][]byte {
		return func(query []byte) [][]byte { return [][]byte{change(answer(query, 0))} }
	}
	for _, tt := range []struct {
		name    string
		respond func(query []byte) [][]byte
		reason  string
	}{
		{"silent", func([]byte) [][]byte { return nil }, "timeout"},
		{"an echo", func(query []byte) [][]byte { return [][]byte{query} }, "protocol"},
		{"an empty datagram", func([]byte) [][]byte { return [][]byte{{}} }, "protocol"},
		{"half an answer", whole(func(m []byte) []byte { return m[:40] }), "protocol"},
		{"garbage", func([]byte) [][]byte { return [][]byte{[]byte(strings.Repeat("SSH-2.0-OpenSSH\r\n", 5))} }, "protocol"},
		{"the answer to another query", whole(func(m []byte) []byte { m[originAt]++; return m }), "protocol"},
		{"no time", whole(func(m []byte) []byte { clear(m[transmitAt:]); return m }), "protocol"},
		{"a time before the query arrived", whole(func(m []byte) []byte { moment(m, transmitAt, time.Now().Add(-time.Hour)); return m }), "protocol"},
		{"a poll interval of which the library panics", whole(func(m []byte) []byte { m[pollAt] = 0x80; return m }), "protocol"},
		{"a flood", func([]byte) [][]byte { return [][]byte{[]byte("x"), []byte("x"), make([]byte, 60_000), []byte("x")} }, "protocol"},
	} {
		t.Run(tt.name, func(t *testing.T) { checkFault(t, newCollector(t, serve(t, tt.respond)), tt.reason) })
	}
	// The kernel refuses what comes to a connected socket from elsewhere, and no other program can
	// take its port.
	elsewhere, err := net.Dial("udp", "127.0.0.1:9")
	if err != nil {
		t.Fatal(err)
	}
	defer elsewhere.Close()
	t.Run("nothing listens", func(t *testing.T) { checkFault(t, newCollector(t, elsewhere.LocalAddr().String()), "refused") })
	t.Run("no such host", func(t *testing.T) { checkFault(t, newCollector(t, "no..such"), "dns") })
}

func checkFault(t *testing.T, c collectors.Collector, want string) {
	t.Helper()
	samples, err := collectortest.Outlast(t, c, func(samples []collectors.Sample, _ error) bool { return collectortest.Reason(samples) == want })
	if got := collectortest.Reason(samples); got != want || err == nil {
		t.Errorf("Collect() has the reason %q and the error %v, want %q", got, err, want)
	}
	for _, metric := range []string{"dependency_latency_seconds", "ntp_offset_seconds", "ntp_stratum"} {
		if got, ok := value(samples, metric); ok {
			t.Errorf("vitals_%s = %v, want none without a response", metric, got)
		}
	}
	if note := collectortest.Note(c); !strings.Contains(note, " "+want+": ") || len(note) > collectors.MaxNote {
		t.Errorf("Note() = %q, want the reason %s", note, want)
	}
}

func TestConfig(t *testing.T) {
	const want = ": expected a host, with a port or without: ntp.example, 10.0.0.1:123, [2001:db8::1]:123"
	for server, problem := range map[string]bool{
		"": true, "a:0": true, "a:x": true, ":123": true, "a b": true, "ntp://a": true, "a:b:c": true, "[::1]": true,
		"ntp.example": false, "10.0.0.1": false, "10.0.0.1:1123": false, "2001:db8::1": false, "[2001:db8::1]:123": false,
	} {
		got := collectortest.Problems(t, "{server: '"+server+"'}", &ntp.Config{})
		if problem && got != `server: server "`+server+`"`+want || !problem && got != "" {
			t.Errorf("Problems() of %q = %q, want a problem: %t", server, got, problem)
		}
		config := ntp.Config{Server: server}
		if _, err := config.New(collectors.Env{Name: "clock"}); (err != nil) != problem {
			t.Errorf("New() of %q = %v, want an error: %t", server, err, problem)
		}
	}
	for server, want := range map[string]bool{"localhost": false, "127.0.0.1:1123": false, "::1": false, "10.0.0.1": true, "ntp.example": true, "": true} {
		config := ntp.Config{Server: server}
		if got := config.External(); got != want || config.Uses() != nil {
			t.Errorf("External() of %q = %t, want %t", server, got, want)
		}
	}
}
