// Package supervisorevents implements supervisord's protocol for event listeners:
// supervisord starts the listener and sends it the state changes of other programs.
//
// The listener writes READY, supervisord sends an event, the listener writes a result, and
// so on. Any other output makes supervisord stop sending. The source is
// http://supervisord.org/events.html#event-listener-notification-protocol.
package supervisorevents

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"
)

const (
	// MaxPayload is the largest payload, in bytes; a longer one is an error.
	MaxPayload = 1 << 20
	// maxLine bounds a header, in bytes. supervisord's have about 120.
	maxLine = 8 << 10
)

// Event is an event of supervisord.
type Event struct {
	// Name is the type, such as PROCESS_STATE_EXITED.
	Name string
	// Payload is the body; its first line has fields of the form key:value.
	Payload []byte
}

// Field returns a field of the payload's first line, such as processname, or "" if there is
// none.
func (e Event) Field(name string) string {
	line, _, _ := bytes.Cut(e.Payload, []byte("\n"))
	return fields(string(line))[name]
}

// Counts are the numbers of events and errors of a listener.
type Counts struct {
	// Events were parsed. Errors were not: headers without a length, other input, payloads
	// that are too long.
	Events, Errors int
}

// Listener handles events one at a time.
type Listener struct {
	// Handle is called with each event. supervisord queues further events until it returns.
	Handle func(Event)
	// Disturbed is called with the first of consecutive errors, and with nil for the next
	// event that is parsed.
	Disturbed func(error)

	in        *bufio.Reader
	out       io.Writer
	counts    Counts
	disturbed bool
	// remains is set if bytes of the last payload may follow it: supervisord sends a length
	// in characters, where the protocol requires bytes.
	remains bool
}

// Listen handles events until supervisord closes its end, even within an event; then the
// error is nil.
func (l *Listener) Listen(in io.Reader, out io.Writer) (Counts, error) {
	l.in, l.out, l.counts = bufio.NewReader(in), out, Counts{}
	l.disturbed, l.remains = false, false
	err := l.write("READY\n")
	for err == nil {
		err = l.next()
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.EPIPE) {
		err = nil
	}
	return l.counts, err
}

// next reads a line and, if it has a header, the payload. A line without a header is
// dropped: parsing resumes at the next header.
func (l *Listener) next() error {
	line, err := l.line()
	if err != nil {
		return err
	}
	h, at := findHeader(line)
	switch {
	case at < 0 && l.remains:
		return nil
	case at < 0:
		l.disturb(errors.New("a line that is not a header"))
		return nil
	case at > 0 && !l.remains && !l.disturbed:
		l.disturb(errors.New("unexpected bytes before a header"))
	}
	if err := l.event(h); err != nil {
		return err
	}
	if err := l.write("RESULT 2\nOK"); err != nil {
		return err
	}
	return l.write("READY\n")
}

// event reads the payload of a header and handles the event. An invalid event is
// acknowledged, too: supervisord would send a rejected one again without end.
func (l *Listener) event(h header) error {
	l.remains = false
	switch {
	case h.length < 0:
		l.disturb(errors.New("a header without a length"))
		return nil
	case h.length > MaxPayload:
		l.disturb(fmt.Errorf("a payload of %d bytes: expected at most %d", h.length, MaxPayload))
		_, err := io.CopyN(io.Discard, l.in, h.length)
		return err
	}
	payload := make([]byte, h.length)
	if _, err := io.ReadFull(l.in, payload); err != nil {
		return err
	}
	l.remains = bytes.ContainsFunc(payload, func(r rune) bool { return r >= utf8.RuneSelf })
	l.counts.Events++
	if l.disturbed {
		l.disturbed = false
		l.Disturbed(nil)
	}
	l.Handle(Event{h.name, payload})
	return nil
}

func (l *Listener) disturb(err error) {
	l.counts.Errors++
	if !l.disturbed {
		l.disturbed = true
		l.Disturbed(err)
	}
}

func (l *Listener) write(text string) error {
	_, err := io.WriteString(l.out, text)
	return err
}

// line reads a line. It returns only the end of one that is too long, where a header may
// be.
func (l *Listener) line() (string, error) {
	var line []byte
	for {
		part, err := l.in.ReadSlice('\n')
		line = append(line, part...)
		if over := len(line) - maxLine; over > 0 {
			line = append(line[:0], line[over:]...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return string(line), err
		}
	}
}

// header is the line before an event's payload.
type header struct {
	name string
	// length is the payload's, in bytes; -1 if the header has none.
	length int64
}

// findHeader returns the header at the end of a line and its offset, or -1 without a
// header. The offset is above 0 after the rest of a payload, which has no newline.
func findHeader(line string) (header, int) {
	end := len(line)
	for range 4 { // "ver:" is in a header twice, the second time in "server:"
		at := strings.LastIndex(line[:end], "ver:")
		if at < 0 {
			break
		}
		end = at
		words := fields(line[at:])
		if words["ver"] == "" || words["server"] == "" || words["eventname"] == "" {
			continue
		}
		length, err := strconv.ParseUint(words["len"], 10, 31)
		if err != nil {
			return header{words["eventname"], -1}, at
		}
		return header{words["eventname"], int64(length)}, at
	}
	return header{}, -1
}

// fields parses words of the form key:value.
func fields(line string) map[string]string {
	words := map[string]string{}
	for _, word := range strings.Fields(line) {
		if key, value, ok := strings.Cut(word, ":"); ok {
			words[key] = value
		}
	}
	return words
}
