package lines_test

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/remote/lines"
)

func TestExchange(t *testing.T) {
	for _, c := range []struct{ name, answer, want, err string }{
		{"a line", "hello\r\nmore", "hello", ""},
		{"an empty line", "\r\n", "", ""},
		{"without CR", "hello\n", "", `expected CR LF in the answer to greeting, got "hello\n"`},
		{"cut off", "hello", "", "read answer to greeting: EOF"},
		{"a long line", strings.Repeat("a", 5000) + "\r\n", "", "answer to greeting is longer than 4KiB without a line's end"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := lines.New(collectortest.Played(c.answer)).Exchange("greeting", "hi\r\n")
			if got != c.want || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
				t.Errorf("Exchange() = %q, %v, want %q, %s", got, err, c.want, c.err)
			}
			if err != nil && remote.ReasonOf(err) != remote.ReasonProtocol {
				t.Errorf("Exchange() = %v, reason %q, want protocol", err, remote.ReasonOf(err))
			}
		})
	}
}

// closedConn is a connection that the server has closed for writes of the client.
type closedConn struct{ net.Conn }

func (closedConn) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// A server that is full answers and closes before it reads the request.
func TestAnswerBeforeTheRequest(t *testing.T) {
	answered := lines.New(closedConn{collectortest.Played("-ERR max number of clients reached\r\n")})
	if got, err := answered.Exchange("PING", "PING\r\n"); got != "-ERR max number of clients reached" || err != nil {
		t.Errorf("Exchange() = %q, %v, want the answer", got, err)
	}
	if got, err := lines.New(closedConn{collectortest.Played("")}).Exchange("PING", "PING\r\n"); err == nil || !strings.HasPrefix(err.Error(), "send PING: ") {
		t.Errorf("Exchange() = %q, %v, want the error of the request", got, err)
	}
}

// A connection that never answers ends with its deadline.
func TestDeadline(t *testing.T) {
	address := collectortest.ListenOn(t, "tcp", "127.0.0.1:0", nil, collectortest.Drain)
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := lines.New(conn).Exchange("PING", "PING\r\n"); remote.ReasonOf(err) != remote.ReasonTimeout {
		t.Errorf("Exchange() = %v, want a timeout", err)
	}
}
