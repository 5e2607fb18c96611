package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// serveConn listens and serves every connection with a function, until close is called
// or the test ends.
func serveConn(t *testing.T, network, address string, serve func(io.ReadWriter)) (listens net.Addr, shut func()) {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				if !errors.Is(err, net.ErrClosed) {
					t.Errorf("Accept() = %v, want connections", err)
				}
				return
			}
			all.Go(func() {
				defer conn.Close()
				serve(conn)
			})
		}
	})
	shut = sync.OnceFunc(func() {
		_ = l.Close()
		all.Wait()
	})
	t.Cleanup(shut)
	return l.Addr(), shut
}

// lineServer answers line by line.
func lineServer(answer func(line string) string) func(io.ReadWriter) {
	return func(conn io.ReadWriter) {
		in := bufio.NewReader(conn)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			if _, err := io.WriteString(conn, answer(strings.TrimSpace(line))); err != nil {
				return
			}
		}
	}
}

// redisServer requires a password.
func redisServer(password string) func(io.ReadWriter) {
	return func(conn io.ReadWriter) {
		known := false
		lineServer(func(line string) string {
			switch {
			case line == password:
				known = true
				return "+OK\r\n"
			case line == "PING" && known:
				return "+PONG\r\n"
			case line == "PING":
				return "-NOAUTH Authentication required.\r\n"
			case strings.HasPrefix(line, "*"), strings.HasPrefix(line, "$"), line == "AUTH":
				return ""
			}
			return "-WRONGPASS invalid username-password pair or user is disabled.\r\n"
		})(conn)
	}
}

func memcachedServer() func(io.ReadWriter) {
	return lineServer(func(line string) string {
		if line == "version" {
			return "VERSION 1.6.18\r\n"
		}
		return ""
	})
}

// collectdServer answers as collectd's plugin unixsock.
func collectdServer() func(io.ReadWriter) {
	return lineServer(func(line string) string {
		if line == "LISTVAL" {
			return "2 Values found\n1700000000.000 host/cpu-0/cpu-idle\n1700000000.000 host/load/load\n"
		}
		return "-1 Unknown command\n"
	})
}

// promptServer answers a request of so many bytes.
func promptServer(request int, answer string) func(io.ReadWriter) {
	return func(conn io.ReadWriter) {
		if _, err := io.ReadFull(conn, make([]byte, request)); err == nil {
			_, _ = io.WriteString(conn, answer)
			_, _ = io.Copy(io.Discard, conn)
		}
	}
}

// northdServer answers as a daemon of Open vSwitch on its control socket.
func northdServer() func(io.ReadWriter) {
	return promptServer(len(`{"id":0,"method":"version","params":[]}`), `{"error":null,"id":0,"result":"ovn-northd 22.03.0\nOpen vSwitch Library 2.17.0"}`)
}

// multipathServer answers as multipathd: a length and a text.
func multipathServer() func(io.ReadWriter) {
	const status = "path checker states:\nup                  2\n\x00"
	return promptServer(20, string(binary.LittleEndian.AppendUint64(nil, uint64(len(status))))+status)
}

// routerServer answers as a router of AMQP 1.0: its header and its mechanisms.
func routerServer() func(io.ReadWriter) {
	return promptServer(8, "AMQP\x03\x01\x00\x00\x00\x00\x00\x1c\x02\x01\x00\x00\x00S@\xc0\x0f\x01\xe0\x0c\x01\xa3\x09ANONYMOUS")
}

func etcdServer(t *testing.T) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/health" {
			t.Errorf("the server got a request for %s, want /health", r.URL.Path)
		}
		_, _ = io.WriteString(w, `{"health":"true","reason":""}`)
	})
}

// rabbitServer opens a connection for one user, as RabbitMQ does.
func rabbitServer(password string) func(io.ReadWriter) {
	frame := func(class, method uint16, args string) string {
		payload := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, class), method)
		payload = append(payload, args...)
		head := binary.BigEndian.AppendUint32([]byte{1, 0, 0}, uint32(len(payload)))
		return string(head) + string(payload) + "\xce"
	}
	return func(conn io.ReadWriter) {
		in := bufio.NewReader(conn)
		send := func(text string) bool {
			_, err := io.WriteString(conn, text)
			return err == nil
		}
		if _, err := io.ReadFull(in, make([]byte, 8)); err != nil || !send(frame(10, 10, "\x00\x09\x00\x00\x00\x00\x00\x00\x00\x05PLAIN\x00\x00\x00\x05en_US")) {
			return
		}
		for {
			method, args, err := rabbitFrame(in)
			switch {
			case err != nil:
				return
			case method == 11 && !bytes.Contains(args, []byte("\x00"+password)):
				send(frame(10, 50, "\x01\x93\x22ACCESS_REFUSED - Login was refused\x00\x00\x00\x00"))
			case method == 11:
				send(frame(10, 30, "\x07\xff\x00\x02\x00\x00\x00\x3c"))
			case method == 40:
				send(frame(10, 41, "\x00"))
			case method == 50:
				send(frame(10, 51, ""))
			}
		}
	}
}

// rabbitFrame reads a method of the connection.
func rabbitFrame(in *bufio.Reader) (method uint16, args []byte, err error) {
	head := make([]byte, 7)
	if _, err := io.ReadFull(in, head); err != nil {
		return 0, nil, err
	}
	payload := make([]byte, binary.BigEndian.Uint32(head[3:])+1)
	if _, err := io.ReadFull(in, payload); err != nil {
		return 0, nil, err
	}
	return binary.BigEndian.Uint16(payload[2:]), payload[4:], nil
}

// mysqlServer accepts every login and answers every query with a 1 and a version.
// Source of the protocol: https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html
func mysqlServer() func(io.ReadWriter) {
	const (
		greeting = "\x0a10.11.0-MariaDB\x00\x01\x00\x00\x0001234567\x00\x08\x82\x21\x02\x00\x08\x00\x15\x00\x00\x00\x00\x00\x00\x00\x00\x00\x0089abcdefghij\x00mysql_native_password\x00"
		column   = "\x03def\x00\x00\x00\x01c\x00\x0c\x21\x00\x40\x00\x00\x00\xfd\x00\x00\x00\x00\x00" // of type VAR_STRING
		end      = "\xfe\x00\x00\x02\x00"
	)
	return func(conn io.ReadWriter) {
		in := bufio.NewReader(conn)
		sequence := byte(0)
		send := func(packets ...string) {
			for _, p := range packets {
				_, _ = io.WriteString(conn, string([]byte{byte(len(p)), 0, 0, sequence})+p) // the client may have left
				sequence++
			}
		}
		receive := func() []byte {
			head := make([]byte, 4)
			if _, err := io.ReadFull(in, head); err != nil {
				return nil
			}
			packet := make([]byte, head[0])
			_, err := io.ReadFull(in, packet)
			if sequence = head[3] + 1; err != nil {
				return nil
			}
			return packet
		}
		send(greeting)
		if receive() == nil {
			return
		}
		send("\x00\x00\x00\x02\x00\x00\x00")
		for {
			command := receive()
			if len(command) == 0 || command[0] != 3 { // COM_QUERY
				return
			}
			send("\x02", column, column, end, "\x011\x0410.1", end)
		}
	}
}
