// Package supervisorevents speaks the protocol in which supervisord tells a program
// that it runs as an event listener what happens to the others.
//
// The listener says READY, supervisord sends an event, the listener answers, and so on.
// Nothing else may ever be written: supervisord gives a listener up that does. The source
// is http://supervisord.org/events.html#event-listener-notification-protocol.
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
	// MaxPayload is the largest payload in bytes that is kept; a longer one is an error.
	MaxPayload = 1 << 20
	// maxLine bounds a header in bytes. supervisord's have about 120.
	maxLine = 8 << 10
)

// Event is something that happened.
type Event struct {
	// Name is one of supervisord's, such as PROCESS_STATE_EXITED.
	Name string
	// Payload is what the event says of it.
	Payload []byte
}

// Field returns a word of the payload's first line, such as that of processname. It is
// empty if there is none.
func (e Event) Field(name string) string {
	line, _, _ := bytes.Cut(e.Payload, []byte("\n"))
	return fields(string(line))[name]
}

// Counts are what a listener has seen.
type Counts struct {
	// Events were understood, Errors were not: headers without a length, garbage, payloads
	// that are too long.
	Events, Errors int
}

// Listener takes events one at a time.
type Listener struct {
	// Handle is called with each event. supervisord keeps further ones meanwhile.
	Handle func(Event)
	// Disturbed is called with the first of the errors that follow each other, and with
	// nil once an event is understood again.
	Disturbed func(error)

	in        *bufio.Reader
	out       io.Writer
	counts    Counts
	disturbed bool
	// remains is set when bytes of the last payload may follow it: supervisord counts a
	// payload's characters where the protocol has its bytes.
	remains bool
}

// Listen takes events until supervisord closes its end, in the middle of one or not; then
// the error is nil.
func (l *Listener) Listen(in io.Reader, out io.Writer) (Counts, error) {
	l.in, l.out, l.counts = bufio.NewReader(in), out, Counts{}
	l.disturbed, l.remains = false, false
	err := l.say("READY\n")
	for err == nil {
		err = l.next()
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.EPIPE) {
		err = nil
	}
	return l.counts, err
}

// next reads a line and, if it has a header, what follows it. A line without one is
// dropped: the next header is the first thing that can be understood again.
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
		l.disturb(errors.New("a line that is no header"))
		return nil
	case at > 0 && !l.remains && !l.disturbed:
		l.disturb(errors.New("something before a header"))
	}
	if err := l.event(h); err != nil {
		return err
	}
	if err := l.say("RESULT 2\nOK"); err != nil {
		return err
	}
	return l.say("READY\n")
}

// event reads the payload of a header and hands the event over. What is wrong with it is
// no reason to refuse it: supervisord would send it again, and again.
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

func (l *Listener) say(words string) error {
	_, err := io.WriteString(l.out, words)
	return err
}

// line reads up to the next newline. Of a line that is too long it returns the end,
// which is where a header may stand.
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

// header announces an event.
type header struct {
	name string
	// length is the payload's, in bytes; -1 if the header does not tell it.
	length int64
}

// findHeader returns the header at the end of a line and where it begins, which is not 0
// behind the remains of a payload: they do not end with a newline. Without a header it
// returns -1.
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

// fields reads words of the form key:value.
func fields(line string) map[string]string {
	words := map[string]string{}
	for _, word := range strings.Fields(line) {
		if key, value, ok := strings.Cut(word, ":"); ok {
			words[key] = value
		}
	}
	return words
}
