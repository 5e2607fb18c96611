package postgres

import (
	"bytes"
	"io"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// maxIterationDigits is the length of the largest number of iterations of SCRAM that a login
// computes, below a million. The default of PostgreSQL is 4096. The library computes ten million,
// which takes seconds that no deadline ends.
const maxIterationDigits = 6

// scramGuard reads what the server sends, and fails at a number of iterations that is too large.
type scramGuard struct {
	io.Reader
	// done ends the search after the login: rows may contain anything.
	done atomic.Bool
	// tail is the end of what was read: the number may come in pieces.
	tail []byte
}

// frontend implements pgconn.BuildFrontendFunc.
func (g *scramGuard) frontend(r io.Reader, w io.Writer) *pgproto3.Frontend {
	g.Reader = r
	return pgproto3.NewFrontend(g, w)
}

// Read implements io.Reader.
func (g *scramGuard) Read(b []byte) (int, error) {
	n, err := g.Reader.Read(b)
	if g.done.Load() {
		return n, err
	}
	text := append(g.tail, b[:n]...)
	if tooManyIterations(text) {
		return 0, collectors.Errorf(remote.ReasonProtocol, "the server requests more than 999999 iterations of SCRAM")
	}
	const longest = len(",i=") + maxIterationDigits
	g.tail = bytes.Clone(text[max(0, len(text)-longest):])
	return n, err
}

// tooManyIterations searches for the attribute i of the server's first message (RFC 5802).
func tooManyIterations(text []byte) bool {
	for {
		_, rest, found := bytes.Cut(text, []byte(",i="))
		if !found {
			return false
		}
		digits := len(rest) - len(bytes.TrimLeft(rest, "+0123456789"))
		if digits > maxIterationDigits {
			return true
		}
		text = rest
	}
}
