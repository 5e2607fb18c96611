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
	// maxDialogueBytes is how much a server may say in a whole dialogue.
	maxDialogueBytes = 64 << 10
	// maxDialogueSearch bounds how many bytes are searched, over and over again, for what
	// is expected of an answer that comes in many pieces.
	maxDialogueSearch = 8 << 20
)

// step is a step of a dialogue; expect is nil for one that expects nothing.
type step struct {
	expect   *regexp.Regexp
	send     string
	startTLS bool
}

// dialogue is a dialogue under way.
type dialogue struct {
	conn   net.Conn
	secure func(net.Conn) (net.Conn, error)

	// received is what came after the last match.
	received []byte
	// said counts all bytes that came, and searched those that were searched.
	said, searched int
	// note is the line of the last match.
	note string
}

// run goes through the steps. The note is the line in which the last match began.
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
	// What came before the handshake could be anybody's, and would look as if it had come
	// behind it (RFC 3207, section 6).
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
		case d.said >= maxDialogueBytes:
			return d.unexpected(expect, collectors.Errorf(remote.ReasonProtocol, "answer is larger than %s", collectors.Size(maxDialogueBytes)))
		case d.searched > maxDialogueSearch:
			return d.unexpected(expect, collectors.Errorf(remote.ReasonProtocol, "answer comes in too many pieces"))
		}
		n, err := d.conn.Read(piece[:min(len(piece), maxDialogueBytes-d.said)])
		d.said += n
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

// unexpected says what came instead of what was expected. A server that has said
// something else has failed the protocol, even if the time ran out over it.
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

// expectText is the expression as the configuration is shown.
func expectText(expect *regexp.Regexp) string {
	return redact.Setting(expect.String()[len(expectFlags):])
}

// lineAt is the line of text around a place.
func lineAt(text []byte, at int) string {
	begin := bytes.LastIndexByte(text[:at], '\n') + 1
	line, _, _ := bytes.Cut(text[begin:], []byte("\n"))
	return string(line)
}
