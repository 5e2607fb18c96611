package tcp

import (
	"bufio"
	"bytes"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/collectors/remote"
)

// amqpStartOf is connection.start of a server with these mechanisms.
func amqpStartOf(mechanisms string) []byte {
	capabilities := append(amqpShort("authentication_failure_close"), "t\x01"...)
	properties := slices.Concat(amqpShort("capabilities"), []byte("F"), amqpLong(capabilities),
		amqpField("product", "RabbitMQ"), amqpField("version", "3.10.8"))
	return amqpFrameOf(amqpStart, []byte{0, 9}, amqpLong(properties), amqpLong([]byte(mechanisms)), amqpLong([]byte("en_US")))
}

// amqpCloseOf is connection.close.
func amqpCloseOf(code uint16, text string) []byte {
	return amqpFrameOf(amqpClose, []byte{byte(code >> 8), byte(code)}, amqpShort(text), make([]byte, 4))
}

// amqpDialogue is the requests and answers of a check that succeeds, in turn, as with RabbitMQ 3.10.
func amqpDialogue(mechanisms, mechanism, response, host string) []string {
	const properties = "\x00\x00\x00\x6c" + // 108 bytes
		"\x07productS\x00\x00\x00\x06Vitals" +
		"\x0fconnection_nameS\x00\x00\x00\x13Vitals health check" +
		"\x0ccapabilitiesF\x00\x00\x00\x1f\x1cauthentication_failure_closet\x01"
	limits := "\x07\xff\x00\x02\x00\x00"
	return []string{
		"AMQP\x00\x00\x09\x01", string(amqpStartOf(mechanisms)),
		string(amqpFrameOf(amqpStartOK, []byte(properties), amqpShort(mechanism), amqpLong([]byte(response)), amqpShort("en_US"))),
		string(amqpFrameOf(amqpTune, []byte(limits+"\x00\x3c"))),
		string(amqpFrameOf(amqpTuneOK, []byte(limits+"\x00\x00"))) + string(amqpFrameOf(amqpOpen, amqpShort(host), []byte{0, 0})),
		string(amqpFrameOf(amqpOpenOK, []byte{0})),
		"\x01\x00\x00\x00\x00\x00\x0f\x00\x0a\x00\x32\x00\xc8\x04done\x00\x00\x00\x00\xce",
		string(amqpFrameOf(amqpCloseOK)),
	}
}

func TestAMQPCheck(t *testing.T) {
	const beat = "\x08\x00\x00\x00\x00\x00\x00\xce"
	guest := amqpDialogue("AMQPLAIN PLAIN", "PLAIN", "\x00guest\x00guest", "/")
	heartbeats := slices.Clone(guest)
	heartbeats[1], heartbeats[7] = beat+heartbeats[1], beat+beat+heartbeats[7]
	for _, c := range []struct {
		name     string
		login    *credentials
		database string
		script   []string
	}{
		{"guest", nil, "", guest},
		{"user and virtual host", &credentials{"u", "p"}, "nova", amqpDialogue("PLAIN", "PLAIN", "\x00u\x00p", "nova")},
		{"AMQPLAIN alone", &credentials{"u", "p"}, "", amqpDialogue("AMQPLAIN", "AMQPLAIN", "\x05LOGINS\x00\x00\x00\x01u\x08PASSWORDS\x00\x00\x00\x01p", "/")},
		{"heartbeats between", nil, "", heartbeats},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, conn := serveOnce(t, patience, scripted(t, c.script...))
			note, err := checkAMQP(ctx, &peer{conn: conn, login: c.login, database: c.database})
			if note != "RabbitMQ 3.10.8" || err != nil {
				t.Errorf("checkAMQP() = %q, %v, want the product", note, err)
			}
		})
	}
}

// A dialogue that goes wrong at one step.
func TestAMQPFailures(t *testing.T) {
	closed := func(code uint16, text string) string { return string(amqpCloseOf(code, text)) }
	for _, c := range []struct {
		name string
		// step is the answer that is replaced: start, tune, open-ok, close-ok.
		step   int
		answer string
		reason remote.Reason
		text   string
	}{
		{"wrong password", 1, closed(403, "ACCESS_REFUSED - Login was refused"), remote.ReasonAuth, "login: 403 ACCESS_REFUSED - Login was refused"},
		{"no such virtual host", 2, closed(530, "NOT_ALLOWED - vhost nova not found"), remote.ReasonNotFound, "opening of virtual host: 530 NOT_ALLOWED - vhost nova not found"},
		{"virtual host of others", 2, closed(530, "NOT_ALLOWED - access to vhost 'limit' refused for user 'limited'"), remote.ReasonForbidden, ""},
		{"too many connections", 2, closed(530, "NOT_ALLOWED - access to vhost '/' refused for user 'u': connection limit (5) is reached"), remote.ReasonServerError, ""},
		{"virtual host is down", 2, closed(541, "INTERNAL_ERROR - access to vhost '/' refused for user 'u': vhost '/' is down"), remote.ReasonServerError, ""},
		{"shuts down", 2, closed(320, "CONNECTION_FORCED - broker forced connection closure with reason 'shutdown'"), remote.ReasonServerError, ""},
		{"frame error", 2, closed(501, "FRAME_ERROR"), remote.ReasonProtocol, ""},
		{"unknown method", 2, closed(540, "NOT_IMPLEMENTED"), remote.ReasonProtocol, ""},
		{"closes while it is closed", 3, closed(320, "CONNECTION_FORCED"), remote.ReasonServerError, "goodbye: 320 CONNECTION_FORCED"},
		{"close is cut", 1, string(amqpFrameOf(amqpClose, []byte{1})), remote.ReasonProtocol, "login: connection.close ends too early"},
		{"AMQP 1.0 alone", 0, "AMQP\x00\x01\x00\x00", remote.ReasonProtocol, "read answer to protocol header: the server uses AMQP 1.0: expected 0-9-1"},
		{"AMQP 1.0 with SASL alone", 0, "AMQP\x03\x01\x00\x00", remote.ReasonProtocol, ""},
		{"no supported login", 0, string(amqpStartOf("EXTERNAL")), remote.ReasonAuth, `the server accepts logins by "EXTERNAL": expected PLAIN or AMQPLAIN`},
		{"start is cut", 0, string(amqpFrameOf(amqpStart, []byte{0, 9, 0, 0, 0, 99})), remote.ReasonProtocol, "answer to protocol header ends too early"},
		{"requests a dialogue", 1, "\x01\x00\x00\x00\x00\x00\x08\x00\x0a\x00\x14\x00\x00\x00\x00\xce", remote.ReasonProtocol, "answer to login is method 10.20: expected 10.30"},
		{"limits are cut", 1, string(amqpFrameOf(amqpTune, []byte{1})), remote.ReasonProtocol, "answer to login has limits of 1 bytes: expected 8"},
		{"another channel", 2, "\x01\x00\x01\x00\x00\x00\x05\x00\x0a\x00\x29\x00\xce", remote.ReasonProtocol, ""},
		{"frame without its end", 2, "\x01\x00\x00\x00\x00\x00\x05\x00\x0a\x00\x29\x00\x00", remote.ReasonProtocol, "read answer to opening of virtual host: frame of 5 bytes ends with 0x0: expected 0xce"},
		{"method without its number", 2, "\x01\x00\x00\x00\x00\x00\x01\x00\xce", remote.ReasonProtocol, ""},
		{"frame of a gigabyte", 2, "\x01\x00\x00\x40\x00\x00\x00\x00", remote.ReasonProtocol, ""},
		{"closes after the login", 1, "", remote.ReasonProtocol, "read answer to login: EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			script := amqpDialogue("PLAIN", "PLAIN", "\x00u\x00hunter2", "nova")[:2*c.step+2]
			script[2*c.step+1] = c.answer
			ctx, conn := serveOnce(t, patience, scripted(t, script...))
			note, err := checkAMQP(ctx, &peer{conn: conn, login: &credentials{"u", "hunter2"}, database: "nova"})
			if got := reasonOf(err); got != c.reason || c.text != "" && err.Error() != c.text {
				t.Errorf("checkAMQP() = %q, reason %q, %v, want reason %q, %s", note, got, err, c.reason, c.text)
			}
		})
	}
}

func TestAMQPHostile(t *testing.T) { hostile(t, checkAMQP) }

// The table has all types of RabbitMQ.
func TestAMQPTable(t *testing.T) {
	table := slices.Concat(
		amqpField("product", "RabbitMQ"), []byte("\x01at\x01\x01bb\xff\x01cB\xff\x01ss\x00\x01\x01uu\x00\x01\x01iI\x00\x00\x00\x01\x01fi\x00\x00\x00\x01"),
		[]byte("\x01gf\x00\x00\x00\x00\x01ll\x00\x00\x00\x00\x00\x00\x00\x01\x01dd\x00\x00\x00\x00\x00\x00\x00\x01\x01TT\x00\x00\x00\x00\x00\x00\x00\x01\x01DD\x00\x00\x00\x00\x01\x01VV"),
		[]byte("\x01FF\x00\x00\x00\x04\x01at\x01\x01AA\x00\x00\x00\x02t\x01\x01xx\x00\x00\x00\x01y"), amqpField("version", "3.10.8"))
	in := amqpArgumentsOf(append(amqpLong(table), 7))
	got := in.table()
	if diff := cmp.Diff(map[string]string{"product": "RabbitMQ", "version": "3.10.8"}, got); diff != "" || in.short || in.number(1) != 7 {
		t.Errorf("table() (-want +got), %t:\n%s", in.short, diff)
	}
	in = amqpArgumentsOf(amqpLong(slices.Concat(amqpField("product", "RabbitMQ"), []byte("\x01z?"), amqpField("version", "3.10.8"))))
	if diff := cmp.Diff(map[string]string{"product": "RabbitMQ"}, in.table()); diff != "" {
		t.Errorf("table() with an unknown type (-want +got):\n%s", diff)
	}
}

func FuzzAMQPAnswer(f *testing.F) {
	f.Add(amqpStartOf("PLAIN AMQPLAIN"))
	f.Add(amqpCloseOf(403, "ACCESS_REFUSED"))
	f.Add([]byte("AMQP\x00\x01\x00\x00"))
	f.Add([]byte("\x08\x00\x00\x00\x00\x00\x00\xce"))
	f.Fuzz(func(t *testing.T, data []byte) {
		a := amqp{in: bufio.NewReader(iotest.OneByteReader(bytes.NewReader(data)))}
		for {
			method, args, err := a.read()
			if err != nil {
				return
			}
			if len(args) > amqpFrame {
				t.Fatalf("read() = %d bytes, want at most %d", len(args), amqpFrame)
			}
			if err := parseAMQPClose(args); err == nil || method == amqpClose && strings.Contains(err.Error(), "%!") {
				t.Fatalf("parseAMQPClose(%q) = %v, want an error", args, err)
			}
			if s, err := parseAMQPStart(args); err == nil && len(s.product)+len(s.version) > len(args) {
				t.Fatalf("parseAMQPStart(%q) = %+v, want no more than was sent", args, s)
			}
		}
	})
}
