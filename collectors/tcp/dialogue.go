package tcp

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"regexp"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/redact"
)

const (
	// maxDialogueBytes bounds what a server may send in a whole dialogue.
	maxDialogueBytes = 64 << 10
	// maxDialogueSearch bounds how many bytes are searched, because an answer in many pieces
	// is searched again with each piece.
	maxDialogueSearch = 8 << 20
)

// step is a step of a dialogue; expect is nil in a step that expects nothing.
type step struct {
	expect   *regexp.Regexp
	send     string
	startTLS bool
}

// dialogue is the state of a dialogue.
type dialogue struct {
	conn   net.Conn
	secure func(net.Conn) (net.Conn, error)

	// received is what was read after the last match.
	received []byte
	// read counts all bytes that were read, searched those that were searched.
	read, searched int
	// note is the line of the last match.
	note string
}

// run runs the steps. The note is the line in which the last match began.
func (d *dialogue) run(steps []step) (note string, err error) {
	for i, s := range steps {
		if err := d.step(s); err != nil {
			return "", fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return d.note, nil
}

func (d *dialogue) step(s step) error {
	if s.expect != nil {
		if err := d.await(s.expect); err != nil {
			return err
		}
	}
	if s.send != "" {
		if _, err := io.WriteString(d.conn, s.send); err != nil {
			return fmt.Errorf("send: %w", err)
		}
	}
	if !s.startTLS {
		return nil
	}
	// Anyone could have sent text before the handshake, and it would count as received behind
	// TLS (RFC 3207, section 6).
	if len(d.received) > 0 {
		return collectors.Errorf(remote.ReasonProtocol, "expected nothing before the TLS handshake beyond the match, got %q", d.received)
	}
	conn, err := d.secure(d.conn)
	if err != nil {
		return err
	}
	d.conn = conn
	return nil
}

// await reads until the expression matches what was received.
func (d *dialogue) await(expect *regexp.Regexp) error {
	piece := make([]byte, 4<<10)
	for {
		if at := d.search(expect); at != nil {
			d.note = lineAt(d.received, at[0])
			d.received = d.received[at[1]:]
			return nil
		}
		switch {
		case d.read >= maxDialogueBytes:
			return d.unexpected(expect, collectors.Errorf(remote.ReasonProtocol, "answer is larger than %s", collectors.Size(maxDialogueBytes)))
		case d.searched > maxDialogueSearch:
			return d.unexpected(expect, collectors.Errorf(remote.ReasonProtocol, "answer comes in too many pieces"))
		}
		n, err := d.conn.Read(piece[:min(len(piece), maxDialogueBytes-d.read)])
		d.read += n
		d.received = append(d.received, piece[:n]...)
		if err != nil && n == 0 {
			return d.unexpected(expect, err)
		}
	}
}

func (d *dialogue) search(expect *regexp.Regexp) []int {
	if len(d.received) == 0 {
		return nil
	}
	d.searched += len(d.received)
	return expect.FindIndex(d.received)
}

// unexpected returns the error of an answer that does not match. If a server sent something
// else, the reason is protocol, even if the time ran out.
func (d *dialogue) unexpected(expect *regexp.Regexp, err error) error {
	if len(d.received) == 0 {
		return fmt.Errorf("expected %q: %w", expectText(expect), err)
	}
	err = fmt.Errorf("expected %q: %w; got %q", expectText(expect), err, d.received)
	if remote.ReasonOfTransport(err) == remote.ReasonTimeout {
		return collectors.Errorf(remote.ReasonProtocol, "%w", err)
	}
	return err
}

// expectText returns the expression, redacted as in the configuration.
func expectText(expect *regexp.Regexp) string {
	return redact.Setting(expect.String()[len(expectFlags):])
}

// lineAt returns the line of text around an offset.
func lineAt(text []byte, at int) string {
	begin := bytes.LastIndexByte(text[:at], '\n') + 1
	line, _, _ := bytes.Cut(text[begin:], []byte("\n"))
	return string(line)
}
