package collectortest

import (
	"net"
	"strings"
	"time"
)

// Played returns a connection that has all answers in advance, and accepts any request.
func Played(answers string) net.Conn { return &playedConn{answers: strings.NewReader(answers)} }

type playedConn struct{ answers *strings.Reader }

func (c *playedConn) Read(b []byte) (int, error)       { return c.answers.Read(b) }
func (c *playedConn) Write(b []byte) (int, error)      { return len(b), nil }
func (c *playedConn) Close() error                     { return nil }
func (c *playedConn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (c *playedConn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (c *playedConn) SetDeadline(time.Time) error      { return nil }
func (c *playedConn) SetReadDeadline(time.Time) error  { return nil }
func (c *playedConn) SetWriteDeadline(time.Time) error { return nil }
