// Package resp has the commands and replies of RESP 2, the protocol of Redis, which all its
// versions and compatible servers support.
package resp

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/remote/lines"
)

// maxBulk is the size in bytes of the largest bulk string that is read.
const maxBulk = 256 << 10

// Command returns a command as an array of bulk strings. The source of the protocol is
// https://redis.io/docs/latest/develop/reference/protocol-spec/.
func Command(words ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		b.WriteString("$" + strconv.Itoa(len(w)) + "\r\n" + w + "\r\n")
	}
	return b.String()
}

// Auth returns the command that logs in as a user, or without a name by a password alone, as before
// version 6.
func Auth(username, password string) string {
	if username == "" {
		return Command("AUTH", password)
	}
	return Command("AUTH", username, password)
}

// Error is an error reply: a code in capitals, and a text for people.
type Error struct{ Command, Code, Text string }

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("answer to %s: %s %s", e.Command, e.Code, e.Text) }

// TooManyClients reports whether the server refuses the connection, because it has as many as it
// accepts. It answers so before any command.
func (e *Error) TooManyClients() bool {
	return e.Code == "ERR" && strings.HasPrefix(e.Text, "max number of clients")
}

// UnknownCommand reports whether the server does not have the command.
func (e *Error) UnknownCommand() bool {
	return e.Code == "ERR" && strings.HasPrefix(e.Text, "unknown command")
}

// errorReply ends before the first quote: Redis repeats arguments of a command in quotes.
var errorReply = regexp.MustCompile("^-([A-Z]{2,32})\\b([^'\"`]*)")

// ParseError reads the error reply to a command. ok is false for any other reply.
func ParseError(command, answer string) (reply *Error, ok bool) {
	found := errorReply.FindStringSubmatch(answer)
	if found == nil {
		return nil, false
	}
	return &Error{Command: command, Code: found[1], Text: strings.TrimSpace(found[2])}, true
}

// ReadBulk sends a command and calls each with the lines of its reply, which is a bulk string of
// lines. An error reply is an *Error.
func ReadBulk(c *lines.Conn, command, request string, each func(line string)) error {
	answer, err := c.Exchange(command, request)
	if err != nil {
		return err
	}
	if reply, ok := ParseError(command, answer); ok {
		return reply
	}
	size, ok := strings.CutPrefix(answer, "$")
	left, err := strconv.ParseUint(size, 10, 32)
	if !ok || err != nil {
		return collectors.Errorf(remote.ReasonProtocol, "expected a bulk string for %s, got %q", command, answer)
	}
	if left > maxBulk {
		return collectors.Errorf(remote.ReasonProtocol, "answer to %s has %d bytes: expected at most %s", command, left, collectors.Size(maxBulk))
	}
	for {
		line, err := c.Line(command)
		if err != nil {
			return err
		}
		length := uint64(len(line))
		switch {
		case left == 0 && line == "":
			return nil
		case length == left: // the last line has no end of its own
			each(line)
			return nil
		case length+2 > left:
			return collectors.Errorf(remote.ReasonProtocol, "answer to %s is longer than announced", command)
		}
		left -= length + 2
		each(line)
	}
}
