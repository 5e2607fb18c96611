package tcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// The methods of the class connection, as class and method. The protocol is described at
// https://www.rabbitmq.com/resources/specs/amqp0-9-1.pdf, and what RabbitMQ adds at
// https://www.rabbitmq.com/docs/connections.
const (
	amqpStart   = 10<<16 | 10
	amqpStartOK = 10<<16 | 11
	amqpTune    = 10<<16 | 30
	amqpTuneOK  = 10<<16 | 31
	amqpOpen    = 10<<16 | 40
	amqpOpenOK  = 10<<16 | 41
	amqpClose   = 10<<16 | 50
	amqpCloseOK = 10<<16 | 51
)

const (
	amqpHeader    = "AMQP\x00\x00\x09\x01"
	amqpFrameEnd  = 0xce
	amqpMethod    = 1
	amqpHeartbeat = 8
	// amqpFrame is the largest payload in bytes that is read: RabbitMQ's default.
	amqpFrame = 128 << 10
)

// checkAMQP logs in, opens the virtual host and closes the connection, with AMQP 0-9-1.
// Without credentials the user is guest, which RabbitMQ accepts on loopback by default.
func checkAMQP(_ context.Context, peer *peer) (string, error) {
	login, host := peer.login, peer.database
	if login == nil {
		login = &credentials{Username: "guest", Password: "guest"}
	}
	if host == "" {
		host = "/"
	}
	a := amqp{conn: peer.conn, in: bufio.NewReader(peer.conn)}
	args, err := a.call("protocol header", amqpStart, []byte(amqpHeader))
	if err != nil {
		return "", err
	}
	server, err := parseAMQPStart(args)
	if err != nil {
		return "", err
	}
	response, err := server.login(login)
	if err != nil {
		return "", err
	}
	if args, err = a.call("login", amqpTune, response); err != nil {
		return "", err
	}
	limits, ok := bytes.Clone(args), len(args) == 8 // channels, frame size, heartbeat
	if !ok {
		return "", collectors.Errorf(remote.ReasonProtocol, "answer to login has limits of %d bytes: expected 8", len(args))
	}
	limits[6], limits[7] = 0, 0 // no heartbeat
	if _, err = a.call("opening of virtual host", amqpOpenOK, slices.Concat(
		amqpFrameOf(amqpTuneOK, limits), amqpFrameOf(amqpOpen, amqpShort(host), []byte{0, 0}))); err != nil {
		return "", err
	}
	_, err = a.call("goodbye", amqpCloseOK, amqpFrameOf(amqpClose, []byte{0, 200}, amqpShort("done"), make([]byte, 4)))
	return server.note(), err
}

// amqp is a connection.
type amqp struct {
	conn net.Conn
	in   *bufio.Reader
}

// call sends a request and returns the arguments of the method that answers it. what
// names the request in errors.
func (a *amqp) call(what string, want uint32, request []byte) (args []byte, err error) {
	if _, err := a.conn.Write(request); err != nil {
		return nil, fmt.Errorf("send %s: %w", what, err)
	}
	method, args, err := a.read()
	switch {
	case err != nil:
		return nil, fmt.Errorf("read answer to %s: %w", what, err)
	case method == want:
		return args, nil
	case method == amqpClose:
		_, _ = a.conn.Write(amqpFrameOf(amqpCloseOK)) // the server is closing; the check fails anyway
		return nil, fmt.Errorf("%s: %w", what, parseAMQPClose(args))
	}
	return nil, collectors.Errorf(remote.ReasonProtocol, "answer to %s is method %d.%d: expected %d.%d", what, method>>16, method&0xffff, want>>16, want&0xffff)
}

// read reads frames up to the first method.
func (a *amqp) read() (method uint32, args []byte, err error) {
	for {
		var header [7]byte
		if _, err := io.ReadFull(a.in, header[:]); err != nil {
			return 0, nil, err
		}
		if string(header[:4]) == "AMQP" { // the server requires another version
			return 0, nil, collectors.Errorf(remote.ReasonProtocol, "the server uses AMQP %d.%d: expected 0-9-1", header[5], header[6])
		}
		kind, channel, size := header[0], binary.BigEndian.Uint16(header[1:]), binary.BigEndian.Uint32(header[3:])
		if kind != amqpMethod && kind != amqpHeartbeat || channel != 0 || size > amqpFrame {
			return 0, nil, collectors.Errorf(remote.ReasonProtocol, "frame of type %d, channel %d and %d bytes: expected a method of the connection", kind, channel, size)
		}
		frame := make([]byte, size+1)
		if _, err := io.ReadFull(a.in, frame); err != nil {
			return 0, nil, err
		}
		if frame[size] != amqpFrameEnd || kind == amqpMethod && size < 4 {
			return 0, nil, collectors.Errorf(remote.ReasonProtocol, "frame of %d bytes ends with %#x: expected %#x", size, frame[size], amqpFrameEnd)
		}
		if kind == amqpMethod {
			return binary.BigEndian.Uint32(frame), frame[4:size], nil
		}
	}
}

// amqpServer is how a server describes itself.
type amqpServer struct {
	product, version string
	mechanisms       []string
}

func (s amqpServer) note() string {
	return strings.TrimSpace(s.product + " " + s.version)
}

// parseAMQPStart reads the arguments of connection.start.
func parseAMQPStart(args []byte) (s amqpServer, err error) {
	in := amqpArgumentsOf(args)
	in.take(2) // version
	properties := in.table()
	s.product, s.version = properties["product"], properties["version"]
	s.mechanisms = strings.Fields(in.text(4))
	in.text(4) // locales
	if in.short {
		return s, collectors.Errorf(remote.ReasonProtocol, "answer to protocol header ends too early")
	}
	return s, nil
}

// login makes connection.start-ok. With the capability
// authentication_failure_close, a server answers wrong credentials with a reason instead
// of closing the connection.
func (s amqpServer) login(login *credentials) ([]byte, error) {
	user, password := login.Username, login.Password.Value()
	var mechanism string
	var response []byte
	switch {
	case slices.Contains(s.mechanisms, "PLAIN"):
		mechanism, response = "PLAIN", []byte("\x00"+user+"\x00"+password)
	case slices.Contains(s.mechanisms, "AMQPLAIN"):
		mechanism, response = "AMQPLAIN", slices.Concat(amqpField("LOGIN", user), amqpField("PASSWORD", password))
	default:
		return nil, collectors.Errorf(remote.ReasonAuth, "the server accepts logins by %q: expected PLAIN or AMQPLAIN", strings.Join(s.mechanisms, " "))
	}
	capabilities := append(amqpShort("authentication_failure_close"), "t\x01"...)
	properties := slices.Concat(amqpField("product", "Vitals"), amqpField("connection_name", "Vitals health check"),
		amqpShort("capabilities"), []byte("F"), amqpLong(capabilities))
	return amqpFrameOf(amqpStartOK, amqpLong(properties), amqpShort(mechanism), amqpLong(response), amqpShort("en_US")), nil
}

// parseAMQPClose reads the arguments of connection.close. RabbitMQ has one code for a
// virtual host that does not exist, is not allowed, or has too many connections.
// Source of the texts: rabbitmq-server/deps/rabbit/src/rabbit_reader.erl
func parseAMQPClose(args []byte) error {
	in := amqpArgumentsOf(args)
	code, text := in.number(2), in.text(1)
	if in.short {
		return collectors.Errorf(remote.ReasonProtocol, "connection.close ends too early")
	}
	reason := remote.ReasonServerError
	switch {
	case code == 403:
		reason = remote.ReasonAuth
	case code == 402, code == 404, code == 530 && strings.HasSuffix(text, " not found"):
		reason = remote.ReasonNotFound
	case code == 530 && !strings.Contains(text, "connection limit ("):
		reason = remote.ReasonForbidden
	case code >= 501 && code <= 505, code == 540:
		reason = remote.ReasonProtocol
	}
	return collectors.Errorf(reason, "%d %s", code, text)
}

// amqpArguments are those of a method.
type amqpArguments struct{ message }

func amqpArgumentsOf(data []byte) *amqpArguments { return &amqpArguments{message{data: data}} }

// number takes an unsigned number of so many bytes, at most four.
func (a *amqpArguments) number(bytes uint64) (n uint32) {
	for _, b := range a.take(bytes) {
		n = n<<8 | uint32(b)
	}
	return n
}

// text takes a string with its length before it, in so many bytes.
func (a *amqpArguments) text(bytes uint64) string { return string(a.take(uint64(a.number(bytes)))) }

// table takes a table and returns those of its values that are strings. It ends at a
// value of an unknown type.
func (a *amqpArguments) table() map[string]string {
	sizes := map[string]uint64{"t": 1, "b": 1, "B": 1, "s": 2, "u": 2, "i": 4, "I": 4, "f": 4, "l": 8, "L": 8, "d": 8, "T": 8, "D": 5, "V": 0}
	strings := map[string]string{}
	in := amqpArgumentsOf(a.take(uint64(a.number(4))))
	for len(in.data) > 0 {
		name, kind := in.text(1), string(in.take(1))
		size, fixed := sizes[kind]
		switch {
		case fixed:
			in.take(size)
		case kind == "S":
			strings[name] = in.text(4)
		case kind == "F", kind == "A", kind == "x":
			in.text(4)
		default:
			return strings
		}
	}
	return strings
}

// amqpFrameOf is a method with its arguments.
func amqpFrameOf(method uint32, args ...[]byte) []byte {
	payload := append(binary.BigEndian.AppendUint32(nil, method), slices.Concat(args...)...)
	return slices.Concat([]byte{amqpMethod, 0, 0}, amqpLong(payload), []byte{amqpFrameEnd})
}

// amqpShort is a string of at most 255 bytes; a longer one is cut.
func amqpShort(text string) []byte {
	text = text[:min(len(text), 255)]
	return append([]byte{byte(len(text))}, text...)
}

func amqpLong(data []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), data...)
}

// amqpField is a string in a table.
func amqpField(name, value string) []byte {
	return slices.Concat(amqpShort(name), []byte("S"), amqpLong([]byte(value)))
}
